package rules

import (
	"math/rand/v2"
	"testing"
	"time"

	"backstop/audit"
)

// Whatever the store and the rules, read or garbage, there is a timeline that does not
// contradict itself, and every rule of the audit comes to an end.
func FuzzForecast(f *testing.F) {
	for i := range uint64(16) {
		f.Add(i, i*i+3, uint16(i*97), "")
	}
	for _, body := range []string{"{", "<LifecycleConfiguration/>", `{"Rules":[{"ID":"a","Status":"Enabled","Filter":{},"Expiration":{"Days":1}}]}`,
		`<LifecycleConfiguration><Rule><ID>a</ID><Status>Enabled</Status><Prefix/><Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration><NoncurrentVersionExpiration><NewerNoncurrentVersions>3</NewerNoncurrentVersions><NoncurrentDays>9</NoncurrentDays></NoncurrentVersionExpiration></Rule></LifecycleConfiguration>`} {
		f.Add(uint64(1), uint64(2), uint16(700), body)
	}
	f.Fuzz(func(t *testing.T, a, b uint64, days uint16, body string) {
		o := healthy()
		randomStore(rand.New(rand.NewPCG(a, b)), o)
		if body != "" {
			o.Bucket.Lifecycle.Value.Body = []byte(body)
		}
		p := audit.DefaultPolicy()
		p.HorizonWarning = 20 * 365 * audit.Day
		tl := Forecast(o, p, noon, audit.Day+time.Duration(days)*audit.Day, nil)
		if why := fault(tl); why != "" {
			t.Fatalf("%s; rules %s", why, o.Bucket.Lifecycle.Value.Body)
		}
		for _, r := range All {
			r.Check(o, p.For(o), noon)
		}
	})
}
