package storetest

import (
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
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

// A listed object, version or delete marker, in the order of S3's elements.
type listed struct {
	XMLName      xml.Name
	Key          string
	VersionID    string `xml:"VersionId,omitempty"`
	IsLatest     *bool  `xml:",omitempty"`
	LastModified string
	ETag         string `xml:",omitempty"`
	Size         *int   `xml:",omitempty"`
	StorageClass string `xml:",omitempty"`
}

func (v *version) listed(element, key string) listed {
	out := listed{XMLName: xml.Name{Local: element}, Key: key, LastModified: v.Time.Format("2006-01-02T15:04:05.000Z")}
	if !v.Marker {
		size := len(v.Body)
		out.ETag, out.Size, out.StorageClass = v.etag, &size, "STANDARD"
		if v.Class != "" {
			out.StorageClass = v.Class
		}
	}
	return out
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
		Contents              []listed
		CommonPrefixes        []prefixes
	}{
		Name: c.req.Bucket, Prefix: encode(prefix), StartAfter: encode(q.Get("start-after")), ContinuationToken: q.Get("continuation-token"),
		MaxKeys: limit, Delimiter: encode(delimiter), EncodingType: encoding,
	}
	last, common := "", ""
	for _, key := range c.bucket.sorted(prefix) {
		v := c.bucket.current(key)
		if v == nil || key <= after {
			continue
		}
		group := ""
		if head, _, ok := strings.Cut(key[len(prefix):], delimiter); delimiter != "" && ok {
			group = prefix + head + delimiter
			// A page may end with a group, all of which is then done.
			if group == common || group <= after && strings.HasPrefix(after, group) {
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
		doc.Contents = append(doc.Contents, v.listed("Contents", encode(key)))
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
		Entries             []listed
	}{
		Name: c.req.Bucket, Prefix: encode(q.Get("prefix")), KeyMarker: encode(keyMarker), VersionIDMarker: idMarker,
		MaxKeys: limit, EncodingType: encoding,
	}
	var last *version
	// With a version marker the marker's key is continued below that version.
	skipping := idMarker != ""
	for _, key := range c.bucket.sorted(q.Get("prefix")) {
		if key < keyMarker || key == keyMarker && !skipping {
			continue
		}
		for i, v := range c.bucket.keys[key] {
			if key == keyMarker && skipping {
				skipping = v.VersionID != idMarker
				continue
			}
			if len(doc.Entries) == limit {
				doc.IsTruncated = limit > 0
				break
			}
			element, latest := "Version", i == 0
			if v.Marker {
				element = "DeleteMarker"
			}
			e := v.listed(element, encode(key))
			e.VersionID, e.IsLatest = v.VersionID, &latest
			doc.Entries = append(doc.Entries, e)
			last = v
		}
	}
	if doc.IsTruncated {
		doc.NextKeyMarker, doc.NextVersionIDMarker = encode(last.Key), last.VersionID
	}
	c.xml(doc)
	return nil
}
