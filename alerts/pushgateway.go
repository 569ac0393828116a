package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"
	dto "github.com/prometheus/client_model/go"

	"backstop/alerts/deliver"
)

// A Pushgateway keeps the metrics of jobs that do not live long enough to be
// scraped. Each store has a group of its own there, keyed by job and store; what
// belongs to no store is in the group of the job.
type Pushgateway struct {
	url                *url.URL // without credentials
	username, password string
	job                string
	client             *deliver.Client
}

// NewPushgateway gives the Pushgateway of a URL, which may hold user and
// password. They stand in no error, and neither does the rest of what is secret.
func NewPushgateway(address, job string, client *deliver.Client) (*Pushgateway, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("it is not the URL of a Pushgateway; want one such as http://pushgateway:9091")
	}
	if job == "" {
		return nil, errors.New("the name of its job is empty")
	}
	g := &Pushgateway{job: job, client: client, username: u.User.Username()}
	g.password, _ = u.User.Password()
	u.User = nil
	g.url = u
	return g, nil
}

// Push puts the metrics of results in place of the ones that are there, and
// removes the groups of stores that have vanished since.
func (g *Pushgateway) Push(ctx context.Context, b Build, r Results, scope Scope) error {
	from, err := gatherer(b, r)
	if err != nil {
		return fmt.Errorf("make metrics: %w", err)
	}
	families, err := from.Gather()
	if err != nil {
		return fmt.Errorf("make metrics: %w", err)
	}
	byStore := groups(families)
	for _, store := range sorted(byStore) {
		if e := g.pusher(ctx, store).Gatherer(gathered(byStore[store])).PushContext(ctx); e != nil {
			return fmt.Errorf("push the metrics of %s: %s", nameOf(store), oneLine(e))
		}
	}
	there, err := g.stores(ctx)
	if err != nil {
		return err
	}
	for _, store := range there {
		if byStore[store] == nil && scope.Holds(store) {
			if e := g.pusher(ctx, store).Delete(); e != nil {
				err = errors.Join(err, fmt.Errorf("delete the metrics of %s: %s", store, oneLine(e)))
			}
		}
	}
	return err
}

// oneLine gives an error's text, in which the library quotes what came back.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func nameOf(store string) string {
	if store == "" {
		return "the run"
	}
	return store
}

// pusher writes to one group; an empty store means the job's.
func (g *Pushgateway) pusher(ctx context.Context, store string) *push.Pusher {
	p := push.New(g.url.String(), g.job).Client(within{ctx, g.client})
	if store != "" {
		p = p.Grouping(LabelStore, store)
	}
	if g.username != "" || g.password != "" {
		p = p.BasicAuth(g.username, g.password)
	}
	return p
}

// within ends requests with a context: deleting knows none.
type within struct {
	ctx context.Context
	*deliver.Client
}

// Do implements push.HTTPDoer.
func (w within) Do(r *http.Request) (*http.Response, error) {
	return w.Client.Do(r.WithContext(w.ctx))
}

// gathered are metrics that were gathered before.
type gathered []*dto.MetricFamily

// Gather implements prometheus.Gatherer.
func (g gathered) Gather() ([]*dto.MetricFamily, error) { return g, nil }

var _ prometheus.Gatherer = gathered(nil)

// groups sorts metrics by their store. The label itself goes: the Pushgateway
// adds it to all that is in a group.
func groups(families []*dto.MetricFamily) map[string][]*dto.MetricFamily {
	out := map[string][]*dto.MetricFamily{}
	for _, f := range families {
		part := map[string]*dto.MetricFamily{}
		for _, m := range f.Metric {
			store := ""
			var rest []*dto.LabelPair
			for _, l := range m.Label {
				if l.GetName() == LabelStore {
					store = l.GetValue()
				} else {
					rest = append(rest, l)
				}
			}
			if part[store] == nil {
				part[store] = &dto.MetricFamily{Name: f.Name, Help: f.Help, Type: f.Type}
				out[store] = append(out[store], part[store])
			}
			part[store].Metric = append(part[store].Metric, &dto.Metric{Label: rest, Gauge: m.Gauge, Counter: m.Counter})
		}
	}
	return out
}

func sorted(m map[string][]*dto.MetricFamily) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// stores are those of which the Pushgateway has a group of the job.
func (g *Pushgateway) stores(ctx context.Context) ([]string, error) {
	list := g.url.JoinPath("api", "v1", "metrics").String()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, list, nil)
	if err != nil {
		return nil, fmt.Errorf("list the groups of the Pushgateway: %w", err)
	}
	if g.username != "" || g.password != "" {
		req.SetBasicAuth(g.username, g.password)
	}
	resp, err := g.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("list the groups of the Pushgateway: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or is given up
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("list the groups of the Pushgateway: %s: HTTP %d", list, resp.StatusCode)
	}
	var answer struct {
		Data []struct {
			Labels map[string]string `json:"labels"`
		} `json:"data"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("list the groups of the Pushgateway: %s: %w", list, err)
	}
	var all []string
	for _, d := range answer.Data {
		if store := d.Labels[LabelStore]; d.Labels["job"] == g.job && store != "" {
			all = append(all, store)
		}
	}
	return all, nil
}
