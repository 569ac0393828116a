package report

import (
	"encoding/json"
	"io"

	"backstop/audit"
)

// JSON writes the report as one JSON document, as docs/report.schema.json has
// it. Durations are nanoseconds, times RFC 3339 in UTC.
func JSON(w io.Writer, r audit.Report, _ Options) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
