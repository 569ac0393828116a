package rgwtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// ClientAt starts one more gateway on the same store, whose clock is off by an
// offset, and gives its client: what it writes is that much older or younger.
// It skips the test where libfaketime is not installed.
func (g *RGW) ClientAt(tb testing.TB, offset time.Duration) *Client {
	tb.Helper()
	env := moved(tb, fmt.Sprintf("%+ds", int(offset.Seconds())))
	ports, err := freePorts(1)
	if err != nil {
		tb.Fatal(err)
	}
	name := fmt.Sprintf("client.rgw%d", len(g.daemons))
	start := g.daemonIn(env, "radosgw", "-f", "-n", name, fmt.Sprintf("--rgw-frontends=beast endpoint=127.0.0.1:%d", ports[0]))
	if err := start(); err != nil {
		tb.Fatal(err)
	}
	c := ClientOf(fmt.Sprintf("http://127.0.0.1:%d", ports[0]), g.AccessKey, g.SecretKey)
	c.S3 = s3.New(c.S3.Options(), func(o *s3.Options) { o.HTTPSignerV4 = movedSigner{v4.NewSigner(), offset} })
	ctx, cancel := context.WithTimeout(tb.Context(), startLimit)
	defer cancel()
	if err := until(ctx, "the gateway of another time answers", func() bool { return answers(c.endpoint) }); err != nil {
		tb.Fatalf("%v%s", err, g.lastWords())
	}
	return c
}

// RunLifecycle gives a bucket lifecycle rules, executes them as of an instant,
// and takes them away again. One call of Ceph's program takes the first bucket
// of a list, so no other bucket of the gateway may have rules meanwhile, and
// there must be [OneList].
func (c *Client) RunLifecycle(tb testing.TB, g *RGW, bucket string, doc []byte, at time.Time) {
	tb.Helper()
	c.SetLifecycle(tb, bucket, doc)
	// The list of buckets with rules is written after the answer.
	for calls := 0; !g.ranLifecycle(tb, bucket, at); calls++ {
		if calls == 10 {
			tb.Fatalf("lifecycle of %s as of %s: not executed in %d calls: %s", bucket, at, calls, g.Admin(tb, "lc", "list"))
		}
		g.AdminAt(tb, fmt.Sprintf("%+ds", int(time.Until(at).Seconds())), "lc", "process")
	}
	c.ClearLifecycle(tb, bucket)
}

// ranLifecycle reports whether a bucket's rules were executed since an instant,
// to the end.
func (g *RGW) ranLifecycle(tb testing.TB, bucket string, at time.Time) bool {
	tb.Helper()
	var entries []struct{ Bucket, Started, Status string }
	if err := json.Unmarshal([]byte(g.Admin(tb, "lc", "list")), &entries); err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		started, err := time.Parse(time.RFC1123, e.Started)
		if err != nil {
			tb.Fatal(err)
		}
		if strings.HasPrefix(e.Bucket, ":"+bucket+":") && e.Status == "COMPLETE" && started.After(at.Add(-time.Minute)) {
			return true
		}
	}
	return false
}

// answers reports whether a gateway takes anonymous requests.
func answers(endpoint string) bool {
	resp, err := http.Get(endpoint)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// moved is the environment in which a program of Ceph's lives at another time.
// The monotonic clock stays: Ceph's timers hang without it.
func moved(tb testing.TB, offset string) []string {
	tb.Helper()
	libs, _ := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	if len(libs) == 0 {
		missing(tb, "libfaketime", "skipped real part: lifecycle at another time (apt-get install faketime)")
	}
	return append(os.Environ(), "LD_PRELOAD="+libs[0], "FAKETIME="+offset, "DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_FAKE_MONOTONIC=1")
}

// movedSigner signs as of another time. It does not take the SDK's word for the
// time, which the SDK corrects by the answers' Date.
type movedSigner struct {
	*v4.Signer
	offset time.Duration
}

func (s movedSigner) SignHTTP(ctx context.Context, c aws.Credentials, r *http.Request, hash, service, region string, _ time.Time, opts ...func(*v4.SignerOptions)) error {
	return s.Signer.SignHTTP(ctx, c, r, hash, service, region, time.Now().Add(s.offset), opts...)
}
