package storetest

import (
	"cmp"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
)

func (c *call) listUploads() error {
	q := c.req.Query
	limit, encode, encoding, err := c.paging("max-uploads")
	if err != nil {
		return err
	}
	type upload struct {
		Key       string
		UploadID  string `xml:"UploadId"`
		Initiated string
	}
	doc := struct {
		XMLName      xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListMultipartUploadsResult"`
		Bucket       string
		Prefix       string
		EncodingType string `xml:",omitempty"`
		MaxUploads   int
		IsTruncated  bool
		Upload       []upload
	}{Bucket: c.req.Bucket, Prefix: encode(q.Get("prefix")), EncodingType: encoding, MaxUploads: limit}
	for i, u := range c.bucket.settings.Uploads {
		switch {
		case !strings.HasPrefix(u.Key, q.Get("prefix")):
		case len(doc.Upload) == limit:
			doc.IsTruncated = true
		default:
			doc.Upload = append(doc.Upload, upload{encode(u.Key), fmt.Sprintf("upload-%d", i), u.Begun.UTC().Format("2006-01-02T15:04:05.000Z")})
		}
	}
	c.xml(doc)
	return nil
}

// line appends the element of a listing for an object, version or delete marker,
// with S3's elements in S3's order. more is what a listing of versions says
// besides. It is written by hand because a listing has a thousand of them, and
// who measures an auditor must not measure the fake.
func (v *version) line(to []byte, element, key, more string) []byte {
	to = append(to, "<"+element+"><Key>"...)
	to = append(to, escaped(key)...)
	to = append(to, "</Key>"+more+"<LastModified>"...)
	to = v.Time.AppendFormat(to, "2006-01-02T15:04:05.000Z")
	to = append(to, "</LastModified>"...)
	if !v.Marker {
		to = append(to, "<ETag>"...)
		to = append(to, escaped(v.etag)...)
		to = append(to, "</ETag><Size>"...)
		to = strconv.AppendInt(to, int64(v.size()), 10)
		to = append(to, "</Size><StorageClass>"...)
		to = append(to, escaped(cmp.Or(v.Class, "STANDARD"))...)
		to = append(to, "</StorageClass>"...)
	}
	return append(to, "</"+element+">"...)
}

// escaped writes a text as XML has it.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

type prefixes struct{ Prefix string }

// paging reads the parameters that listings have in common.
func (c *call) paging(parameter string) (limit int, encode func(string) string, encoding string, err error) {
	limit, encode = c.fake.pageSize, func(s string) string { return s }
	q := c.req.Query
	if m := q.Get(parameter); m != "" {
		if limit, err = strconv.Atoi(m); err != nil || limit < 0 {
			return 0, nil, "", refuse(http.StatusBadRequest, "InvalidArgument", "Provided "+parameter+" not an integer or within integer range")
		}
		limit = min(limit, c.fake.pageSize)
	}
	switch encoding = q.Get("encoding-type"); encoding {
	case "":
	case "url":
		// A space becomes "+", and slashes stay, as in S3's answers.
		encode = func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "%2F", "/") }
	default:
		return 0, nil, "", refuse(http.StatusBadRequest, "InvalidArgument", "Invalid Encoding Method specified in Request")
	}
	return limit, encode, encoding, nil
}

func (c *call) listObjects() error {
	q := c.req.Query
	limit, encode, encoding, err := c.paging("max-keys")
	if err != nil {
		return err
	}
	if q.Get("list-type") != "2" {
		return refuse(http.StatusNotImplemented, "NotImplemented", "The fake knows list-type 2 only.")
	}
	prefix, delimiter, after := q.Get("prefix"), q.Get("delimiter"), q.Get("start-after")
	if token := q.Get("continuation-token"); token != "" {
		b, err := base64.URLEncoding.DecodeString(token)
		if err != nil {
			return refuse(http.StatusBadRequest, "InvalidArgument", "The continuation token provided is incorrect")
		}
		after = string(b)
	}
	doc := struct {
		XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
		Name                  string
		Prefix                string
		StartAfter            string `xml:",omitempty"`
		ContinuationToken     string `xml:",omitempty"`
		NextContinuationToken string `xml:",omitempty"`
		KeyCount              int
		MaxKeys               int
		Delimiter             string `xml:",omitempty"`
		EncodingType          string `xml:",omitempty"`
		IsTruncated           bool
		Contents              []byte `xml:",innerxml"`
		CommonPrefixes        []prefixes
	}{
		Name: c.req.Bucket, Prefix: encode(prefix), StartAfter: encode(q.Get("start-after")), ContinuationToken: q.Get("continuation-token"),
		MaxKeys: limit, Delimiter: encode(delimiter), EncodingType: encoding,
	}
	last, common := "", ""
	keys := c.bucket.sorted(prefix)
	keys = keys[sort.Search(len(keys), func(i int) bool { return keys[i] > after }):]
	for i := 0; i < len(keys); i++ {
		key := keys[i]
		v := c.bucket.current(key)
		if v == nil {
			continue
		}
		group := ""
		if head, _, ok := strings.Cut(key[len(prefix):], delimiter); delimiter != "" && ok {
			group = prefix + head + delimiter
			// A page may end with a group, all of which is then done.
			if group == common || group <= after && strings.HasPrefix(after, group) {
				i += sort.Search(len(keys)-i, func(j int) bool { return !strings.HasPrefix(keys[i+j], group) }) - 1
				continue
			}
		}
		if doc.KeyCount == limit {
			doc.IsTruncated = limit > 0
			break
		}
		doc.KeyCount++
		if group != "" {
			common, last = group, group
			doc.CommonPrefixes = append(doc.CommonPrefixes, prefixes{encode(group)})
			continue
		}
		last = key
		doc.Contents = v.line(doc.Contents, "Contents", encode(key), "")
	}
	if doc.IsTruncated {
		doc.NextContinuationToken = base64.URLEncoding.EncodeToString([]byte(last))
	}
	c.xml(doc)
	return nil
}

func (c *call) listVersions() error {
	q := c.req.Query
	limit, encode, encoding, err := c.paging("max-keys")
	if err != nil {
		return err
	}
	keyMarker, idMarker := q.Get("key-marker"), q.Get("version-id-marker")
	doc := struct {
		XMLName             xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListVersionsResult"`
		Name                string
		Prefix              string
		KeyMarker           string
		VersionIDMarker     string `xml:"VersionIdMarker"`
		NextKeyMarker       string `xml:",omitempty"`
		NextVersionIDMarker string `xml:"NextVersionIdMarker,omitempty"`
		MaxKeys             int
		EncodingType        string `xml:",omitempty"`
		IsTruncated         bool
		Entries             []byte `xml:",innerxml"`
	}{
		Name: c.req.Bucket, Prefix: encode(q.Get("prefix")), KeyMarker: encode(keyMarker), VersionIDMarker: idMarker,
		MaxKeys: limit, EncodingType: encoding,
	}
	var last *version
	entries := 0
	// With a version marker the marker's key is continued below that version.
	skipping := idMarker != ""
	keys := c.bucket.sorted(q.Get("prefix"))
	for _, key := range keys[sort.SearchStrings(keys, keyMarker):] {
		if key == keyMarker && !skipping {
			continue
		}
		for i, v := range c.bucket.keys[key] {
			if key == keyMarker && skipping {
				skipping = v.VersionID != idMarker
				continue
			}
			if entries == limit {
				doc.IsTruncated = limit > 0
				break
			}
			element, latest := "Version", i == 0
			if v.Marker {
				element = "DeleteMarker"
			}
			entries++
			more := fmt.Sprintf("<VersionId>%s</VersionId><IsLatest>%t</IsLatest>", escaped(v.VersionID), latest)
			doc.Entries = v.line(doc.Entries, element, encode(key), more)
			last = v
		}
	}
	if doc.IsTruncated {
		doc.NextKeyMarker, doc.NextVersionIDMarker = encode(last.Key), last.VersionID
	}
	c.xml(doc)
	return nil
}
