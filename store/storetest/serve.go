package storetest

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"backstop/audit"
)

// defaultRegion is where buckets live unless SetRegion moves them.
const defaultRegion = "us-east-1"

// A Request is a request as the fake saw it.
type Request struct {
	// Operation is the name of the API, as ListObjectsV2; empty for what the
	// fake does not know.
	Operation string
	Bucket    string
	Key       string
	Method    string
	Query     url.Values
	Header    http.Header
	// Region is the one that the request is signed for.
	Region string
	// Attempt counts the requests with this method and URL, this one included,
	// since the fake was made or ResetRequests.
	Attempt int
}

// An operation is a call that the fake knows.
type operation struct {
	name   string
	action string   // the IAM action that it needs
	params []string // the query parameters that it knows
	do     func(c *call) error
}

// Calls are told apart by method, by whether there is a key, and by the one
// query parameter that names a sub-resource. List has no calls of other kinds
// than the auditor's.
var operations = map[string]operation{
	"HEAD bucket":                  {"HeadBucket", "s3:ListBucket", nil, (*call).headBucket},
	"GET bucket list-type":         {"ListObjectsV2", "s3:ListBucket", []string{"prefix", "delimiter", "start-after", "continuation-token", "max-keys", "encoding-type"}, (*call).listObjects},
	"GET bucket versions":          {"ListObjectVersions", "s3:ListBucketVersions", []string{"prefix", "key-marker", "version-id-marker", "max-keys", "encoding-type"}, (*call).listVersions},
	"GET bucket versioning":        {"GetBucketVersioning", "s3:GetBucketVersioning", nil, (*call).getVersioning},
	"GET bucket lifecycle":         {"GetBucketLifecycleConfiguration", "s3:GetLifecycleConfiguration", nil, (*call).getLifecycle},
	"GET bucket object-lock":       {"GetObjectLockConfiguration", "s3:GetBucketObjectLockConfiguration", nil, (*call).getObjectLock},
	"GET bucket publicAccessBlock": {"GetPublicAccessBlock", "s3:GetBucketPublicAccessBlock", nil, (*call).getPublicAccessBlock},
	"GET bucket policyStatus":      {"GetBucketPolicyStatus", "s3:GetBucketPolicyStatus", nil, (*call).getPolicyStatus},
	"GET bucket encryption":        {"GetBucketEncryption", "s3:GetEncryptionConfiguration", nil, (*call).getEncryption},
	"GET bucket uploads":           {"ListMultipartUploads", "s3:ListBucketMultipartUploads", []string{"prefix", "max-uploads", "encoding-type"}, (*call).listUploads},
	"GET bucket location":          {"GetBucketLocation", "s3:GetBucketLocation", nil, (*call).getLocation},
	"GET object":                   {"GetObject", "s3:GetObject", []string{"versionId"}, (*call).getObject},
	"HEAD object":                  {"HeadObject", "s3:GetObject", []string{"versionId"}, (*call).getObject},
	"GET object tagging":           {"GetObjectTagging", "s3:GetObjectTagging", []string{"versionId"}, (*call).getTagging},
}

// subresources are the parameters that make another call of a request.
var subresources = []string{
	"list-type", "versions", "versioning", "lifecycle", "location", "tagging",
	"object-lock", "publicAccessBlock", "policyStatus", "encryption", "uploads",
}

// An apiError is an error answer of S3.
type apiError struct {
	status        int
	code, message string
	region        string // where to go instead
	class         string // StorageClass of InvalidObjectState
}

func (e *apiError) Error() string { return e.code + ": " + e.message }

func refuse(status int, code, message string) error {
	return &apiError{status: status, code: code, message: message}
}

// A call is one request and the answer to it.
type call struct {
	fake   *Fake
	req    Request
	bucket *Bucket
	header http.Header
	status int
	body   []byte
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
	c := &call{fake: f, header: http.Header{}, status: http.StatusOK}
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

// route finds the operation, and the bucket and key that it is about.
func (c *call) route(r *http.Request) (operation, error) {
	bucket, key, hasKey := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	query := r.URL.Query()
	c.req = Request{Bucket: bucket, Key: key, Method: r.Method, Query: query, Header: r.Header.Clone(), Region: signedFor(r)}
	name := r.Method + " bucket"
	if hasKey && key != "" {
		name = r.Method + " object"
	}
	for _, sub := range subresources {
		if query.Has(sub) {
			name += " " + sub
		}
	}
	op, ok := operations[name]
	if !ok || bucket == "" {
		return op, refuse(http.StatusNotImplemented, "NotImplemented", "The fake does not know "+name+".")
	}
	for p := range query {
		if !slices.Contains(op.params, p) && !strings.HasSuffix(name, " "+p) && (p != "x-id" || query.Get(p) != op.name) {
			return operation{}, refuse(http.StatusNotImplemented, "NotImplemented", "The fake does not know the parameter "+p+" of "+op.name+".")
		}
	}
	c.req.Operation = op.name
	return op, nil
}

// signedFor gives the region of a SigV4 credential scope,
// KEY/DATE/REGION/s3/aws4_request; empty for an unsigned request.
func signedFor(r *http.Request) string {
	_, scope, ok := strings.Cut(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=")
	parts := strings.Split(scope, "/")
	if !ok || len(parts) < 4 {
		return ""
	}
	return parts[2]
}

// admit checks what S3 checks before it looks at the call itself.
func (c *call) admit(r *http.Request, op operation) error {
	if c.req.Region == "" && !c.fake.anonymous {
		return refuse(http.StatusForbidden, "AccessDenied", "Access Denied")
	}
	c.bucket = c.fake.buckets[c.req.Bucket]
	if c.bucket == nil {
		return refuse(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
	}
	if want := c.bucket.region; want != "" && c.req.Region != "" && c.req.Region != want {
		return wrongRegion(http.StatusMovedPermanently, want)
	}
	if op.action == "s3:ListBucket" || op.action == "s3:ListBucketVersions" {
		c.header.Set("X-Amz-Bucket-Region", c.region())
		if only := c.bucket.listOnly; only != nil && !strings.HasPrefix(r.URL.Query().Get("prefix"), *only) {
			return refuse(http.StatusForbidden, "AccessDenied", "Access Denied")
		}
	}
	if c.bucket.denied[op.action] || c.bucket.denied[op.name] {
		return refuse(http.StatusForbidden, "AccessDenied", "User is not authorized to perform: "+op.action)
	}
	return nil
}

// wrongRegion is how S3 sends a client to the bucket's region; an empty region
// does not name it.
func wrongRegion(status int, region string) error {
	e := &apiError{status, "PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint.", region, ""}
	switch status {
	case http.StatusTemporaryRedirect:
		e.code, e.message = "TemporaryRedirect", "Please re-send this request to the specified temporary endpoint."
	case http.StatusBadRequest:
		e.code, e.message = "AuthorizationHeaderMalformed", "The authorization header is malformed; the region is wrong; expecting '"+region+"'"
	}
	return e
}

func (c *call) region() string {
	if c.bucket.region != "" {
		return c.bucket.region
	}
	return defaultRegion
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

// mayList reports whether the caller may learn that a key does not exist.
func (c *call) mayList() bool {
	b := c.bucket
	return !b.denied["s3:ListBucket"] && !b.denied["ListObjectsV2"] && b.listOnly == nil
}

func (c *call) headBucket() error { return nil }

func (c *call) getVersioning() error {
	c.xml(struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ VersioningConfiguration"`
		Status  string   `xml:",omitempty"`
		// S3 names it only where it was ever set.
		MFADelete string `xml:"MfaDelete,omitempty"`
	}{Status: c.bucket.versioning, MFADelete: enabled(c.bucket.settings.MFADelete)})
	return nil
}

func enabled(on bool) string {
	if on {
		return "Enabled"
	}
	return ""
}

func (c *call) getObjectLock() error {
	lock := c.bucket.settings.ObjectLock
	if lock == nil {
		return refuse(http.StatusNotFound, "ObjectLockConfigurationNotFoundError", "Object Lock configuration does not exist for this bucket")
	}
	type retention struct {
		Mode string
		Days int
	}
	doc := struct {
		XMLName           xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ObjectLockConfiguration"`
		ObjectLockEnabled string
		Retention         *retention `xml:"Rule>DefaultRetention"`
	}{ObjectLockEnabled: "Enabled"}
	if lock.Mode != "" {
		doc.Retention = &retention{lock.Mode, int(lock.Retention / audit.Day)}
	}
	c.xml(doc)
	return nil
}

func (c *call) getPublicAccessBlock() error {
	b := c.bucket.settings.PublicAccessBlock
	if b == nil {
		return refuse(http.StatusNotFound, "NoSuchPublicAccessBlockConfiguration", "The public access block configuration was not found")
	}
	c.xml(struct {
		XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ PublicAccessBlockConfiguration"`
		BlockPublicAcls       bool
		IgnorePublicAcls      bool
		BlockPublicPolicy     bool
		RestrictPublicBuckets bool
	}{xml.Name{}, b.BlockPublicACLs, b.IgnorePublicACLs, b.BlockPublicPolicy, b.RestrictPublicBuckets})
	return nil
}

func (c *call) getPolicyStatus() error {
	public := c.bucket.settings.PublicPolicy
	if public == nil {
		return refuse(http.StatusNotFound, "NoSuchBucketPolicy", "The bucket policy does not exist")
	}
	c.xml(struct {
		XMLName  xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ PolicyStatus"`
		IsPublic bool
	}{IsPublic: *public})
	return nil
}

func (c *call) getEncryption() error {
	algorithm := c.bucket.settings.Encryption
	if algorithm == "" {
		return refuse(http.StatusNotFound, "ServerSideEncryptionConfigurationNotFoundError", "The server side encryption configuration was not found")
	}
	c.xml(struct {
		XMLName   xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ServerSideEncryptionConfiguration"`
		Algorithm string   `xml:"Rule>ApplyServerSideEncryptionByDefault>SSEAlgorithm"`
	}{Algorithm: algorithm})
	return nil
}

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

func (c *call) getLifecycle() error {
	if c.bucket.lifecycle == nil {
		return refuse(http.StatusNotFound, "NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist")
	}
	c.header.Set("Content-Type", "application/xml")
	if c.bucket.sizeDefault != "" {
		c.header.Set("X-Amz-Transition-Default-Minimum-Object-Size", c.bucket.sizeDefault)
	}
	c.body = c.bucket.lifecycle
	return nil
}

func (c *call) getLocation() error {
	region := c.region()
	if region == defaultRegion {
		region = "" // as S3 says it, for historical reasons
	}
	c.xml(struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ LocationConstraint"`
		Region  string   `xml:",chardata"`
	}{Region: region})
	return nil
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
	for _, h := range []string{"If-Match", "If-Unmodified-Since", "If-Range"} {
		if c.req.Header.Get(h) != "" {
			return refuse(http.StatusNotImplemented, "NotImplemented", "The fake does not know "+h+".")
		}
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
