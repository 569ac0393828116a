package storetest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// A call is one request and the answer to it.
type call struct {
	fake   *Fake
	req    Request
	bucket *Bucket
	header http.Header
	status int
	body   []byte
	// latency is how much later the answer is sent.
	latency time.Duration
}

// ServeHTTP answers one request.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, fault := f.answer(r)
	if c.req.Method == http.MethodHead {
		c.header.Set("Content-Length", strconv.Itoa(len(c.body)))
		c.body = nil
	}
	f.send(w, r, c, fault)
}

// answer makes the right answer to a request, and asks the fault hook what to
// do to it.
func (f *Fake) answer(r *http.Request) (*call, *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &call{fake: f, header: http.Header{}, status: http.StatusOK, latency: f.latency}
	op, err := c.route(r)
	c.header.Set("Date", f.clock().UTC().Format(http.TimeFormat))
	c.header.Set("X-Amz-Request-Id", fmt.Sprintf("%016X", len(f.requests)+1))
	f.asked[r.Method+r.RequestURI]++
	c.req.Attempt = f.asked[r.Method+r.RequestURI]
	logged := c.req
	logged.Query = maps.Clone(c.req.Query) // faults change it
	f.requests = append(f.requests, logged)
	if err == nil {
		err = c.admit(r, op)
	}
	if err == nil {
		err = op.do(c)
	}
	if err != nil {
		c.fail(err)
	}
	var fault *Fault
	if f.fault != nil {
		// The hook may call the fake, so it must not hold the lock.
		hook, req := f.fault, logged
		f.mu.Unlock()
		fault = hook(req)
		f.mu.Lock()
	}
	if fault != nil {
		fault.spoil(c)
	}
	return c, fault
}

// fail makes an error answer.
func (c *call) fail(err error) {
	var e *apiError
	if !errors.As(err, &e) {
		e = &apiError{status: http.StatusInternalServerError, code: "InternalError", message: err.Error()}
	}
	type body struct {
		XMLName      xml.Name `xml:"Error"`
		Code         string
		Message      string
		Region       string `xml:",omitempty"`
		StorageClass string `xml:",omitempty"`
		Resource     string
		RequestId    string
	}
	out := body{Code: e.code, Message: e.message, StorageClass: e.class, Resource: "/" + c.req.Bucket, RequestId: c.header.Get("X-Amz-Request-Id")}
	if e.region != "" {
		// S3 names it in the header, and in the body of this error alone.
		c.header.Set("X-Amz-Bucket-Region", e.region)
		if e.code == "AuthorizationHeaderMalformed" {
			out.Region = e.region
		}
	}
	c.xml(out)
	c.status = e.status
	if c.req.Method == http.MethodHead {
		c.body = nil // S3 says nothing more than the status
	}
}

// xml makes an XML answer.
func (c *call) xml(v any) {
	body, err := xml.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("storetest: %v", err)) // the documents are ours
	}
	// Elements named at run time are put outside of the document's namespace.
	body = bytes.ReplaceAll(body, []byte(` xmlns=""`), nil)
	c.header.Set("Content-Type", "application/xml")
	c.body = append([]byte(xml.Header), body...)
}

// Fault sets what decides, for each request, how to fail it; nil lets it
// succeed. A nil hook ends all faults.
func (f *Fake) Fault(hook func(Request) *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = hook
}

// Requests gives the requests so far, in the order in which they came.
func (f *Fake) Requests() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// ResetRequests forgets the requests so far.
func (f *Fake) ResetRequests() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests, f.asked = nil, map[string]int{}
}
