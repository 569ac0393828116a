package store

import (
	"context"
	"fmt"

	"golang.org/x/time/rate"

	"backstop/audit"
)

// DefaultPerSecond is how many requests a second a run makes at most, unless
// somebody says otherwise. It lies below the lowest limit that is known of a
// provider (150 listings a second and Space, of DigitalOcean Spaces made before
// 2021; AWS serves 5,500 reads a second and prefix), so that etcd-manager and kops
// have their share of the bucket, and above what eight stores at a time ask of most
// servers.
const DefaultPerSecond = 100

// A Pace says when the next request may be made. All buckets of a run share one.
type Pace interface {
	// Wait returns when a request may be made, or the context has ended.
	Wait(ctx context.Context) error
}

// PerSecond gives a Pace of so many requests a second, of which a tenth may come at
// once; nil, which is no limit, for 0.
func PerSecond(n float64) Pace {
	if n <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(n), max(1, int(n/10)))
}

// turn waits until the next request may be made. It is the one place that every
// request to S3 passes, retries as well, and stands before the time limit of a call
// begins: who waits for his own turn does not wait for S3.
func (s *S3) turn(ctx context.Context, q query) *Error {
	if s.pace == nil {
		return nil
	}
	err := s.pace.Wait(ctx)
	if err == nil {
		return nil
	}
	e := q.judge(ctx, ctx, &answer{}, err)
	if ctx.Err() == nil {
		e.Cause, e.Err = audit.CauseTimeout, fmt.Errorf("the limit of requests per second leaves no time: %w", err)
	}
	return e
}
