package storetest

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// mayList reports whether the caller may learn that a key does not exist.
func (c *call) mayList() bool {
	b := c.bucket
	return !b.denied["s3:ListBucket"] && !b.denied["ListObjectsV2"] && b.listOnly == nil
}

// find gives the version that a request is about.
func (c *call) find() (*version, error) {
	all := c.bucket.keys[c.req.Key]
	if id := c.req.Query.Get("versionId"); id != "" {
		for _, v := range all {
			if v.VersionID != id {
				continue
			}
			if v.Marker {
				c.header.Set("X-Amz-Delete-Marker", "true")
				return nil, refuse(http.StatusMethodNotAllowed, "MethodNotAllowed", "The specified method is not allowed against this resource.")
			}
			return v, nil
		}
		return nil, refuse(http.StatusNotFound, "NoSuchVersion", "The specified version does not exist.")
	}
	if v := c.bucket.current(c.req.Key); v != nil {
		return v, nil
	}
	if !c.mayList() {
		return nil, refuse(http.StatusForbidden, "AccessDenied", "Access Denied")
	}
	if len(all) > 0 {
		c.header.Set("X-Amz-Delete-Marker", "true")
		c.header.Set("X-Amz-Version-Id", all[0].VersionID)
	}
	return nil, refuse(http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
}

func (c *call) getTagging() error {
	v, err := c.find()
	if err != nil {
		return err
	}
	type tag struct{ Key, Value string }
	doc := struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ Tagging"`
		TagSet  []tag    `xml:"TagSet>Tag"`
	}{}
	for k, val := range v.Tags {
		doc.TagSet = append(doc.TagSet, tag{k, val})
	}
	slices.SortFunc(doc.TagSet, func(a, b tag) int { return strings.Compare(a.Key, b.Key) })
	c.xml(doc)
	return nil
}

func (c *call) getObject() error {
	v, err := c.find()
	if err != nil {
		return err
	}
	get := c.req.Method == http.MethodGet
	if get && (v.Class == "GLACIER" || v.Class == "DEEP_ARCHIVE") {
		return &apiError{http.StatusForbidden, "InvalidObjectState", "The operation is not valid for the object's storage class", "", v.Class}
	}
	if get && v.Refusal != "" {
		status := http.StatusBadRequest // as KMS's errors come through S3
		if v.Refusal == "AccessDenied" {
			status = http.StatusForbidden
		}
		return refuse(status, v.Refusal, v.RefusalMessage)
	}
	for _, h := range []string{"If-Unmodified-Since", "If-Range"} {
		if c.req.Header.Get(h) != "" {
			return refuse(http.StatusNotImplemented, "NotImplemented", "The fake does not know "+h+".")
		}
	}
	if tag := c.req.Header.Get("If-Match"); tag != "" && tag != "*" && strings.Trim(tag, `"`) != strings.Trim(v.etag, `"`) {
		return refuse(http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
	}
	h := c.header
	h.Set("Etag", v.etag)
	h.Set("Last-Modified", v.Time.Format(http.TimeFormat))
	h.Set("Content-Type", "binary/octet-stream")
	h.Set("Accept-Ranges", "bytes")
	if c.bucket.versioning != "" {
		h.Set("X-Amz-Version-Id", v.VersionID)
	}
	if v.Class != "" && v.Class != "STANDARD" {
		h.Set("X-Amz-Storage-Class", v.Class)
	}
	if len(v.Tags) > 0 {
		h.Set("X-Amz-Tagging-Count", strconv.Itoa(len(v.Tags)))
	}
	if c.bucket.expiration != nil {
		if e := c.bucket.expiration(v.Object); e != "" {
			h.Set("X-Amz-Expiration", e)
		}
	}
	if c.unchanged(v) {
		c.status = http.StatusNotModified
		return nil
	}
	return c.ranged(v.Body)
}

// unchanged reports whether the client has the object. If-None-Match decides
// alone where both conditions are given, as RFC 9110 says.
func (c *call) unchanged(v *version) bool {
	if tag := c.req.Header.Get("If-None-Match"); tag != "" {
		return tag == "*" || strings.Trim(tag, `"`) == strings.Trim(v.etag, `"`)
	}
	since, err := http.ParseTime(c.req.Header.Get("If-Modified-Since"))
	return err == nil && !v.Time.After(since)
}

// ranged answers with the part of the body that a single range asks for. Other
// Range headers are ignored, as S3 does.
func (c *call) ranged(body []byte) error {
	c.body = body
	spec, ok := strings.CutPrefix(c.req.Header.Get("Range"), "bytes=")
	from, to, dash := strings.Cut(spec, "-")
	if !ok || !dash || strings.Contains(spec, ",") {
		return nil
	}
	size := len(body)
	first, errFirst := strconv.Atoi(from)
	last, errLast := strconv.Atoi(to)
	switch {
	case from == "" && errLast == nil: // the last bytes
		first, last = max(size-last, 0), size-1
		if to == "0" {
			first = size
		}
	case errFirst != nil, to != "" && errLast != nil, to != "" && last < first:
		return nil
	case to == "" || last >= size:
		last = size - 1
	}
	if first >= size {
		c.header.Set("Content-Range", fmt.Sprintf("bytes */%d", size))
		return refuse(http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The requested range is not satisfiable")
	}
	c.status, c.body = http.StatusPartialContent, body[first:last+1]
	c.header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, size))
	return nil
}
