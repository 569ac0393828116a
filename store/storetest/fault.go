package storetest

import (
	"encoding/xml"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"time"
)

// A FaultKind is a way in which an S3 fails.
type FaultKind string

// The ways to fail. Each happens to the answer that would have been right.
const (
	// Refused answers with Status, Code and Message of the Fault.
	Refused FaultKind = "refused"
	// Bare answers with Status and a body that is no XML, as a proxy does.
	Bare FaultKind = "bare"
	// Stalled sends nothing until the client gives up.
	Stalled FaultKind = "stalled"
	// StalledBody sends the header and half of the body, and no more.
	StalledBody FaultKind = "stalled-body"
	// Reset resets the connection before the header.
	Reset FaultKind = "reset"
	// ResetBody resets the connection in the middle of the body.
	ResetBody FaultKind = "reset-body"
	// Truncated ends the connection in the middle of the body, in good order.
	Truncated FaultKind = "truncated"
	// Shortened sends half of the body, and a Content-Length that agrees.
	Shortened FaultKind = "shortened"
	// Endless sends half of the body without a Content-Length, so that only
	// the end of the connection ends it.
	Endless FaultKind = "endless"
	// Empty answers 200 without a body.
	Empty FaultKind = "empty"
	// Malformed answers 200 with something in the body that is not XML.
	Malformed FaultKind = "malformed"
	// Foreign answers 200 with Body or, without one, with a listing of the
	// bucket: what a server does that ignores a sub-resource.
	Foreign FaultKind = "foreign"
	// Redirected sends the client to Region with Status 301 (if none is
	// given), 307 or 400. Without a Region it does not say where.
	Redirected FaultKind = "redirected"
	// Repeated answers every page of a listing with the first one and the same
	// token or markers, as a server does that ignores them.
	Repeated FaultKind = "repeated"
	// Restless is Repeated with a token or markers that are new each time.
	Restless FaultKind = "restless"
	// EmptyPages answers a listing with pages without entries, each of which
	// says that there is more, with a new token or markers.
	EmptyPages FaultKind = "empty-pages"
	// Tokenless answers a listing as truncated, without a token or markers.
	Tokenless FaultKind = "tokenless"
	// Late answers rightly, after Delay, and with Status if one is given.
	Late FaultKind = "late"
	// Chunked answers rightly, without saying beforehand how long the answer is.
	Chunked FaultKind = "chunked"
)

// A Fault says how to fail one request.
type Fault struct {
	Kind    FaultKind
	Status  int
	Code    string
	Message string
	Region  string
	Body    []byte
	Header  http.Header   // added to the answer
	Delay   time.Duration // before the answer, of any kind
}

// spoil changes the right answer c. It is called with the fake locked.
func (f *Fault) spoil(c *call) {
	switch f.Kind {
	case Refused:
		c.fail(refuse(f.Status, f.Code, f.Message))
	case Bare:
		c.status, c.body = f.Status, []byte("<html><body><h1>Try again<br></body></html>")
		c.header.Set("Content-Type", "text/html")
	case Redirected:
		status := f.Status
		if status == 0 {
			status = http.StatusMovedPermanently
		}
		c.header.Del("X-Amz-Bucket-Region")
		c.fail(wrongRegion(status, f.Region))
	case Late:
		if f.Status != 0 {
			c.status = f.Status
		}
	case Shortened:
		c.body = c.body[:len(c.body)/2]
	case Empty:
		c.status, c.body = http.StatusOK, nil
	case Malformed:
		c.status = http.StatusOK
		c.body = slices.Insert(slices.Clone(c.body), len(c.body)/2, []byte("<&>")...)
	case Foreign:
		f.foreign(c)
	case Repeated:
		f.page(c, "c3RpbGwgdGhlcmU=")
	case Restless, EmptyPages:
		f.page(c, fmt.Sprintf("%08d", len(c.fake.requests)))
	case Tokenless:
		f.page(c, "")
	}
	for k, v := range f.Header {
		c.header[k] = v
	}
}

func (f *Fault) foreign(c *call) {
	c.status = http.StatusOK
	switch {
	case f.Body != nil:
		c.body = f.Body
	case c.req.Operation == "ListObjectsV2":
		c.xml(struct {
			XMLName xml.Name `xml:"ListAllMyBucketsResult"`
		}{})
	default:
		c.req.Query = map[string][]string{"list-type": {"2"}}
		_ = c.listObjects() // it has no parameter to be wrong
	}
}

var (
	nextElements = regexp.MustCompile(`<Next(ContinuationToken|KeyMarker|VersionIdMarker)>[^<]*</[^>]*>`)
	truncated    = regexp.MustCompile(`<IsTruncated>[^<]*</IsTruncated>`)
)

// page makes the answer to a listing a first page with the given token, and
// says that there is more.
func (f *Fault) page(c *call, token string) {
	for _, p := range []string{"continuation-token", "key-marker", "version-id-marker"} {
		c.req.Query.Del(p)
	}
	if f.Kind == EmptyPages {
		c.req.Query.Set("max-keys", "0")
	}
	c.status = http.StatusOK
	next := ""
	switch c.req.Operation {
	case "ListObjectsV2":
		_ = c.listObjects() // what could be wrong is gone
		next = "<NextContinuationToken>" + token + "</NextContinuationToken>"
	case "ListObjectVersions":
		_ = c.listVersions()
		next = "<NextKeyMarker>" + token + "</NextKeyMarker><NextVersionIdMarker>" + token + "</NextVersionIdMarker>"
	default:
		return
	}
	if token == "" {
		next = ""
	}
	c.body = nextElements.ReplaceAll(c.body, nil)
	c.body = truncated.ReplaceAll(c.body, []byte("<IsTruncated>true</IsTruncated>"+next))
}

// send puts the answer on the wire, with the faults that happen there.
func (f *Fake) send(w http.ResponseWriter, r *http.Request, c *call, fault *Fault) {
	if fault == nil {
		fault = &Fault{}
	}
	if delay := c.latency + fault.Delay; delay > 0 {
		t := time.NewTimer(delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
		case <-f.closed:
		}
	}
	half := c.body[:len(c.body)/2]
	switch fault.Kind {
	case Stalled:
		f.hang(r)
	case Reset:
		reset(w)
		return
	case Endless:
		endless(w, c, half)
		return
	}
	for k, v := range c.header {
		w.Header()[k] = v
	}
	if w.Header().Get("Content-Length") == "" && fault.Kind != Chunked {
		w.Header().Set("Content-Length", fmt.Sprint(len(c.body)))
	}
	w.WriteHeader(c.status)
	switch fault.Kind {
	case Chunked:
		_ = http.NewResponseController(w).Flush() // or net/http counts the bytes
	case StalledBody, ResetBody, Truncated:
		_, _ = w.Write(half) // the client may be gone
		_ = http.NewResponseController(w).Flush()
		switch fault.Kind {
		case StalledBody:
			f.hang(r)
		case ResetBody:
			reset(w)
			return
		}
		panic(http.ErrAbortHandler) // net/http closes the connection
	}
	_, _ = w.Write(c.body)
}

// hang waits until the client has given up, or the fake is stopped.
func (f *Fake) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-f.closed:
	}
	panic(http.ErrAbortHandler)
}

// reset breaks the connection so that the client's kernel is told.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // else it is closed in good order
	}
	_ = conn.Close()
}

// endless answers as servers did before HTTP had lengths.
func endless(w http.ResponseWriter, c *call, body []byte) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = conn.Close() }()
	fmt.Fprintf(conn, "HTTP/1.0 %d %s\r\n", c.status, http.StatusText(c.status))
	_ = c.header.Write(conn)
	fmt.Fprintf(conn, "Connection: close\r\n\r\n%s", body)
}
