package store

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"backstop/audit"
)

// maxRetryDelay bounds the wait between two attempts, so that a call spends
// its time on trying.
const maxRetryDelay = 4 * time.Second

// A query is one question to S3, for messages and checks.
type query struct {
	op      string // as in Error.Op
	object  string // as in Error.Object
	action  string // the IAM action that it needs
	root    string // the root element of a right answer; empty for an object's body
	missing string // the code of a 404 that means: there is none
	// ours says that the document is read by us and kept from the SDK, which
	// would take most of an audit's time for it.
	ours bool
}

// call asks until there is an answer, the attempts are used up, or the time
// is. The time limit covers what do does, so do must read the body.
func call[T any](ctx context.Context, s *S3, q query, do func(context.Context, *answer, func(*s3.Options)) (T, error)) (T, error) {
	var none T
	moved := false
	for attempt, left := 1, s.timeout; ; attempt++ {
		if e := s.turn(ctx, q); e != nil {
			e.Attempts = attempt - 1
			return none, e
		}
		began := time.Now()
		limited, cancel := context.WithTimeout(ctx, left)
		region := s.where()
		var a answer
		out, err := do(limited, &a, func(o *s3.Options) {
			o.Region = region
			o.APIOptions = append(o.APIOptions, s.watch(&a, q))
		})
		if err == nil {
			cancel()
			return out, nil
		}
		e := q.judge(ctx, limited, &a, err)
		e.Attempts = attempt
		s.countError(e)
		to := ""
		if !moved {
			to = s.elsewhere(ctx, limited, &a, e)
		}
		switch {
		case to != "":
			moved = true
			s.move(region, to)
			attempt-- // it was asked at the wrong place
		case attempt >= s.attempts || !retryable(e, &a) || !s.pause(limited, attempt):
			cancel()
			return none, e
		}
		cancel()
		left -= time.Since(began)
	}
}

// pause waits before the next attempt. It reports false where the time limit
// would come first.
func (l *link) pause(ctx context.Context, attempt int) bool {
	most := min(l.delay<<min(attempt-1, 10), maxRetryDelay)
	t := time.NewTimer(rand.N(most + 1))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// where gives the region to ask.
func (l *link) where() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.region
}

// move sends further requests to another region, unless another call has
// found the way already.
func (l *link) move(from, to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.region == from {
		l.region = to
	}
}

// elsewhere gives the region to ask instead after a refusal; empty when there
// is none. Where AWS redirects without a word of where to, HeadBucket tells.
func (s *S3) elsewhere(ctx, limited context.Context, a *answer, e *Error) string {
	if to := a.elsewhere(); to != "" || e.Cause != audit.CauseRedirect || !s.onAWS {
		return to
	}
	if s.turn(ctx, query{}) != nil {
		return ""
	}
	var head answer
	// Asked in a wrong region it fails too, with the header that is wanted.
	_, _ = s.client.HeadBucket(limited, &s3.HeadBucketInput{Bucket: &s.bucket}, func(o *s3.Options) {
		o.Region = a.asked
		o.APIOptions = append(o.APIOptions, s.watch(&head, query{}))
	})
	return head.elsewhere()
}

// learn takes from an answer what it says of the bucket's region and of the
// time.
func (s *S3) learn(a *answer, sent, received time.Time) {
	s.link.mu.Lock()
	defer s.link.mu.Unlock()
	switch to := a.header.Get(regionHeader); {
	case to != "":
		s.lives = to
	case s.onAWS && a.status == http.StatusOK:
		s.lives = a.asked // AWS answers in the bucket's region only
	}
	// An answer with an age comes from a cache, with the time it went in.
	if date, err := http.ParseTime(a.header.Get("Date")); err == nil && a.header.Get("Age") == "" {
		s.offset = audit.Is(date.Sub(sent.Add(received.Sub(sent) / 2)))
	}
}

// count adds to what the handle has cost.
func (s *S3) count(change func(*audit.Usage)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.usage)
}

// countError counts an attempt that failed. An answer that there is no such
// thing, or that it is to be asked elsewhere, is none.
func (s *S3) countError(e *Error) {
	if !errors.Is(e.Err, ErrMissing) && e.Cause != audit.CauseRedirect {
		s.count(func(u *audit.Usage) { u.Add(audit.Usage{Errors: map[string]int{string(e.Cause): 1}}) })
	}
}

// countRequest counts one request.
func (s *S3) countRequest(operation string) {
	s.count(func(u *audit.Usage) { u.Add(audit.Usage{Requests: map[string]int{operation: 1}}) })
}

// Usage counts the HTTP requests by operation, retries included, the bytes of the
// bodies that came, and how often the answer was to slow down.
func (s *S3) Usage() audit.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.usage
	u.Requests, u.Errors = maps.Clone(u.Requests), maps.Clone(u.Errors)
	return u
}

// ClockOffset gives the Date header of the last answer less the clock half-way
// through its request. HTTP dates have whole seconds.
func (s *S3) ClockOffset() audit.Fact[time.Duration] {
	s.link.mu.Lock()
	defer s.link.mu.Unlock()
	return s.offset
}
