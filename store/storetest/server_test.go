package storetest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"backstop/store/storetest"
)

// Each server answers its own way what it answers otherwise than AWS, and the
// rest as AWS does. The words are of docs/providers.md.
func TestServers(t *testing.T) {
	const (
		unknown = "501 NotImplemented"
		none    = "404 "
	)
	for _, c := range []struct {
		server storetest.Server
		want   map[string]string // by query: status and code, or words of the body
	}{
		{storetest.RGW, map[string]string{"versioning": "Enabled", "lifecycle": none + "NoSuchLifecycleConfiguration", "encryption": "<ListBucketResult",
			"publicAccessBlock": "<BlockPublicAccessBlockConfiguration>", "policyStatus": "FALSE", "object-lock": none + "ObjectLockConfigurationNotFoundError", "versions": "<ListVersionsResult"}},
		{storetest.MinIO, map[string]string{"versioning": "Enabled", "lifecycle": none + "NoSuchLifecycleConfiguration", "publicAccessBlock": unknown, "policyStatus": "FALSE",
			"encryption": none + "ServerSideEncryptionConfigurationNotFoundError"}},
		{storetest.Versitygw, map[string]string{"versioning": "Enabled", "lifecycle": unknown, "publicAccessBlock": unknown, "encryption": unknown, "policyStatus": none + "NoSuchBucketPolicy"}},
		{storetest.R2, map[string]string{"versioning": unknown, "versions": unknown, "object-lock": unknown, "publicAccessBlock": unknown, "policyStatus": unknown,
			"lifecycle": none + "NoSuchLifecycleConfiguration", "encryption": "AES256"}},
		{storetest.Spaces, map[string]string{"versioning": "Enabled", "lifecycle": none + "NoSuchLifecycleConfiguration", "object-lock": unknown, "publicAccessBlock": unknown, "encryption": unknown}},
	} {
		t.Run(c.server.Name, func(t *testing.T) {
			f, endpoint := newFake(t)
			f.CreateBucket("b").SetVersioning("Enabled")
			f.Be(c.server)
			for query, want := range c.want {
				status, code, _, body := ask(t, http.MethodGet, endpoint+"/b?"+query)
				got := body
				if status != http.StatusOK {
					got = fmt.Sprintf("%d %s", status, code)
				}
				if !strings.Contains(got, want) {
					t.Errorf("%s: %q, want %q", query, got, want)
				}
			}
		})
	}
}

// None of them says what happens to small objects.
func TestServersKnowNoTransitionSizeDefault(t *testing.T) {
	f, endpoint := newFake(t)
	b := f.CreateBucket("b")
	b.SetLifecycle([]byte("<LifecycleConfiguration><Rule/></LifecycleConfiguration>"))
	const header = "X-Amz-Transition-Default-Minimum-Object-Size"
	if _, _, h, _ := ask(t, http.MethodGet, endpoint+"/b?lifecycle"); h.Get(header) == "" {
		t.Error("AWS does not say it")
	}
	f.Be(storetest.MinIO)
	if _, _, h, _ := ask(t, http.MethodGet, endpoint+"/b?lifecycle"); h.Get(header) != "" {
		t.Errorf("MinIO says %q", h.Get(header))
	}
}

// A request that is signed for another time than S3's is refused, where time is
// checked.
func TestCheckTime(t *testing.T) {
	f, endpoint := newFake(t)
	f.CreateBucket("b")
	at := func(d time.Duration) string { return noon.Add(d).Format("20060102T150405Z") }
	if status, _, _, _ := ask(t, http.MethodGet, endpoint+"/b?versioning", "X-Amz-Date", at(24*time.Hour)); status != http.StatusOK {
		t.Errorf("unchecked: %d", status)
	}
	f.CheckTime()
	for d, want := range map[time.Duration]string{0: "", 15 * time.Minute: "", -15 * time.Minute: "", 15*time.Minute + time.Second: "RequestTimeTooSkewed", -24 * time.Hour: "RequestTimeTooSkewed"} {
		if _, code, _, _ := ask(t, http.MethodGet, endpoint+"/b?versioning", "X-Amz-Date", at(d)); code != want {
			t.Errorf("%v off: code %q, want %q", d, code, want)
		}
	}
}

// A listing tells the size that an object was given.
func TestWithSize(t *testing.T) {
	f, endpoint := newFake(t)
	f.CreateBucket("b").Put("k", []byte("x"), storetest.WithSize(5<<30))
	if _, _, _, body := ask(t, http.MethodGet, endpoint+"/b?list-type=2"); !strings.Contains(body, "<Size>5368709120</Size>") {
		t.Error(body)
	}
}

// A bucket's history makes it again.
func TestBucketIsMadeAgain(t *testing.T) {
	f, _ := newFake(t)
	b := f.CreateBucket("b")
	b.SetVersioning("Enabled")
	at := func(n int) storetest.Option { return storetest.WithTime(noon.Add(time.Duration(n) * time.Minute)) }
	b.Put("k", []byte("1"), at(1), storetest.WithVersionID("one"))
	b.Put("j", []byte("2"), at(2), storetest.WithTags(map[string]string{"a": "b"}))
	b.Delete("k", at(3), storetest.WithVersionID("three"))
	b.Put("k", []byte("4"), at(4), storetest.WithClass("GLACIER"))
	again := f.CreateBucket("again")
	again.SetVersioning("Enabled")
	for _, o := range b.History() {
		again.Add(o)
	}
	if got, want := strings.TrimPrefix(again.Dump(), "again"), strings.TrimPrefix(b.Dump(), "b"); got != want {
		t.Errorf("made again:\n%s\nwant\n%s", got, want)
	}
	if b.Name() != "b" {
		t.Errorf("its name is %q", b.Name())
	}
}
