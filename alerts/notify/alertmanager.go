package notify

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"backstop/alerts"
	"backstop/alerts/deliver"
)

// An amAlert is an alert as Alertmanager's API v2 takes it: POST /api/v2/alerts,
// prometheus/alertmanager, api/v2/openapi.yaml, postableAlert.
type amAlert struct {
	Labels      map[string]string  `json:"labels"`
	Annotations alerts.Annotations `json:"annotations"`
	StartsAt    time.Time          `json:"startsAt"`
	EndsAt      time.Time          `json:"endsAt"`
}

// sendAlertmanager tells every replica everything that is so, each time: it is for
// the one who tells to repeat it. What is over is told once more, with its end.
func (c Channel) sendAlertmanager(ctx context.Context, client *deliver.Client, k keys, b Batch, done func(Alert)) error {
	until := b.Now.Add(c.EndsAfter)
	if c.EndsAfter == 0 {
		until = b.Now.Add(endsAfter)
	}
	batch := []amAlert{}
	for _, a := range b.Open {
		batch = append(batch, toAlertmanager(a, until))
	}
	// Another severity is another alert there; the one before is over.
	for _, a := range append(b.Changed[:len(b.Changed):len(b.Changed)], b.Over...) {
		batch = append(batch, toAlertmanager(a, b.Now))
	}
	if len(batch) == 0 {
		return nil
	}
	body, err := json.Marshal(batch)
	if err != nil {
		return err
	}
	for _, replica := range k.urls {
		url := strings.TrimSuffix(replica, "/") + "/api/v2/alerts"
		err = errors.Join(err, client.Send(ctx, k.message(url, "application/json", body)))
	}
	if err != nil {
		return err // whoever was told is told again the next time
	}
	for _, a := range append(b.Open[:len(b.Open):len(b.Open)], b.Over...) {
		done(a)
	}
	return nil
}

// toAlertmanager gives an alert the labels that it would have from Prometheus, so
// that routes and silences do for both.
func toAlertmanager(a Alert, until time.Time) amAlert {
	labels := map[string]string{"alertname": a.Name, "severity": a.Severity, "verdict": a.Verdict}
	for name, value := range map[string]string{alerts.LabelStore: a.Store, alerts.LabelCluster: a.Cluster, alerts.LabelEtcd: a.Etcd, alerts.LabelRule: a.Rule} {
		if value != "" { // an empty label is none
			labels[name] = value
		}
	}
	says := a.Message
	if len(a.Do) > 0 {
		says += "\n\n" + strings.Join(a.Do, "\n")
	}
	return amAlert{
		Labels: labels, StartsAt: a.Since.UTC(), EndsAt: until.UTC(),
		Annotations: alerts.Annotations{Summary: a.Summary, Description: says, RunbookURL: a.RunbookURL},
	}
}
