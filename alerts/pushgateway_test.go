package alerts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/alerts/deliver"
	"backstop/alerts/promtest"
	"backstop/audit"
)

func impatient() *deliver.Client { return &deliver.Client{Delay: time.Millisecond, Tries: 3} }

func pushgateway(t *testing.T, address, job string) *Pushgateway {
	t.Helper()
	g, err := NewPushgateway(address, job, impatient())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// has reads what a real Pushgateway would tell Prometheus: the labels and values
// of each metric by its name, without the metrics of its own.
func has(t *testing.T, url string) map[string][]string {
	t.Helper()
	resp, err := http.Get(url + "/api/v1/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Data []map[string]json.RawMessage
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, group := range answer.Data {
		for name, raw := range group {
			var family struct {
				Metrics []struct {
					Labels map[string]string
					Value  string
				}
			}
			if !strings.HasPrefix(name, "backstop_") || json.Unmarshal(raw, &family) != nil {
				continue
			}
			for _, m := range family.Metrics {
				all[name] = append(all[name], fmt.Sprint(m.Labels["job"], " ", m.Labels["store"], " ", m.Labels["rule"], " ", m.Value))
			}
		}
	}
	return all
}

// Against a real Pushgateway: every store has its group, a finding that went away
// is gone, a store that vanished is gone, and what was not looked at stays.
func TestPushgateway(t *testing.T) {
	url := promtest.Pushgateway(t, "")
	push := func(job string, below []string, problems []audit.Problem, stores ...audit.StoreReport) {
		t.Helper()
		r := audit.NewReport(noon, stores, problems)
		if err := pushgateway(t, url, job).Push(t.Context(), built, Of(r), ScopeOf(below, r)); err != nil {
			t.Fatal(err)
		}
	}
	const mainStore, events, other = "s3://kops/prod.example.com/backups/etcd/main", "s3://kops/prod.example.com/backups/etcd/events", "s3://other/x at https://s3.example.org"
	stores := func(want ...string) {
		t.Helper()
		got := has(t, url)[NameAudit]
		for i := range got {
			got[i] = strings.TrimSuffix(got[i], "  1.79604e+09")
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("stores %q, want %q", got, want)
		}
	}
	push("backstop", nil, nil, bucketWide(healthy(), "m"), armed(), refused())
	push("another", nil, nil, healthy())
	stores("backstop "+mainStore, "backstop "+events, "backstop "+other, "another "+mainStore)
	if got := has(t, url)[NameFindings]; !slices.Contains(got, "backstop "+events+" control/reset-armed 1") || !slices.Contains(got, "backstop s3://kops bucket/unversioned 1") {
		t.Errorf("findings %q", got)
	}
	if got := has(t, url)[NameBuild]; !slices.Contains(got, "backstop   1") {
		t.Errorf("build %q", got)
	}

	quiet := refused() // and seen
	quiet.Unseen = nil
	mended := healthy()
	mended.Store = armed().Store
	push("backstop", nil, nil, bucketWide(healthy(), "m"), mended, refused())
	if got := has(t, url)[NameFindings]; len(got) != 1 || got[0] != "backstop s3://kops bucket/unversioned 1" {
		t.Errorf("after the repair there are the findings %q", got)
	}

	// A run that looked at one place says nothing of the others.
	push("backstop", []string{"s3://kops/prod.example.com/backups/etcd/events/"}, nil, mended)
	stores("backstop "+mainStore, "backstop "+events, "backstop "+other, "another "+mainStore)
	// What could not be looked at has not vanished; what was, has.
	push("backstop", nil, []audit.Problem{{Target: "s3://kops", Cause: audit.CauseNoBucket}}, quiet)
	stores("backstop "+mainStore, "backstop "+events, "backstop "+other, "another "+mainStore)
	push("backstop", nil, []audit.Problem{{Target: "s3://elsewhere", Cause: audit.CauseDenied}}, quiet)
	stores("backstop "+mainStore, "backstop "+events, "backstop "+other, "another "+mainStore)
	push("backstop", nil, nil, refused()) // its listing was not seen: it may have led to the others
	stores("backstop "+mainStore, "backstop "+events, "backstop "+other, "another "+mainStore)
	push("backstop", nil, nil, quiet)
	stores("backstop "+other, "another "+mainStore)
	if got := has(t, url)[NameUnaudited]; len(got) != 0 {
		t.Errorf("places not audited: %q", got)
	}
	push("backstop", []string{"s3://oth", "s3://kops/prod"}, nil)
	stores("backstop "+other, "another "+mainStore)
	push("backstop", []string{"s3://other/x"}, nil)
	stores("another " + mainStore)
}

// A real Pushgateway that wants a password gets it, and no error tells it.
func TestPushgatewayPassword(t *testing.T) {
	// "hunter2", by bcrypt at its least cost.
	url := promtest.Pushgateway(t, "basic_auth_users:\n  joe: $2b$04$abcdefghijklmnopqrstuuV3duMsC0HpUex6N9qapiuOHHWkwRXVm\n")
	with := func(userinfo string) error {
		return pushgateway(t, strings.Replace(url, "://", "://"+userinfo+"@", 1), "backstop").Push(t.Context(), built, everything(), Scope{})
	}
	if err := with("joe:hunter2"); err != nil {
		t.Error(err)
	}
	if err := with("joe:wrong-secret"); err == nil || !strings.Contains(err.Error(), "401") || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "wrong-secret") {
		t.Errorf("got %v", err)
	}
}

// What goes wrong is said, with what was being done, and without the password.
func TestPushgatewayErrors(t *testing.T) {
	answer := func(failing string, status int) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == failing:
				http.Error(w, "no", status)
			case r.Method == http.MethodGet:
				fmt.Fprint(w, `{"data":[{"labels":{"job":"backstop","store":"s3://gone"}},{"labels":{"job":"backstop"}}]}`)
			case r.Method == http.MethodDelete:
				w.WriteHeader(http.StatusAccepted)
			}
		}))
	}
	for failing, want := range map[string]string{
		"PUT": "push the metrics of the run: ", "GET": "list the groups of the Pushgateway: ", "DELETE": "delete the metrics of s3://gone: ",
	} {
		for _, status := range []int{400, 503} {
			s := answer(failing, status)
			err := pushgateway(t, strings.Replace(s.URL, "://", "://joe:hunter2@", 1), "backstop").Push(t.Context(), built, Results{}, Scope{})
			if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprint(status)) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s %d: %v", failing, status, err)
			}
			s.Close()
			if failing == "PUT" && status == 503 {
				err = pushgateway(t, strings.Replace(s.URL, "://", "://joe:hunter2@", 1), "backstop").Push(t.Context(), built, Results{}, Scope{})
				if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "refused") {
					t.Errorf("nobody there: %v", err)
				}
			}
		}
	}
	garbage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>") }))
	defer garbage.Close()
	if err := pushgateway(t, garbage.URL, "backstop").Push(t.Context(), built, Results{}, Scope{}); err == nil || !strings.Contains(err.Error(), "list the groups") {
		t.Errorf("got %v", err)
	}
}

func TestNewPushgateway(t *testing.T) {
	for _, address := range []string{"", "pushgateway:9091", "ftp://x", "http://", "http://joe:hunter2@x/?a=b", "http://joe:hunter2@x/%zz", "http://x/#f"} {
		if _, err := NewPushgateway(address, "backstop", impatient()); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := NewPushgateway("http://x", "", impatient()); err == nil {
		t.Error("a job without a name")
	}
	if _, err := NewPushgateway("https://joe:hunter2@x:9091/base/", "backstop", impatient()); err != nil {
		t.Error(err)
	}
}
