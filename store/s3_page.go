package store

import (
	"encoding/xml"
	"net/url"
	"strconv"
	"strings"
	"time"

	"backstop/audit"
)

// A page is one answer to a listing of objects or of versions, as it is written:
// nothing in it has been decoded, and what it lacks is empty. The bytes are the
// answer's own, and are kept by nobody who keeps what is made of them.
type page struct {
	truncated, encoding                       []byte
	nextToken, nextKeyMarker, nextVersionMark []byte
	prefixes                                  [][]byte // common prefixes
	entries                                   []entry
}

// An entry is an object, a version or a delete marker of a page.
type entry struct {
	marker                        bool
	key, version, latest          []byte
	modified, etag, size, storage []byte
}

// A listing's root element, and the elements that are its entries.
const (
	objectsRoot  = "ListBucketResult"
	versionsRoot = "ListVersionsResult"
)

func isEntry(root, name string) bool {
	if root == objectsRoot {
		return name == "Contents"
	}
	return name == "Version" || name == "DeleteMarker"
}

// readPage reads a listing's answer, whole or not at all: no part of one passes for
// all of it. Nearly every answer is read by scanPage. Whatever is in some way
// uncommon in the other ones, encoding/xml has the word.
func readPage(body []byte, root string) (page, error) {
	if p, ok := scanPage(body, root); ok {
		return p, nil
	}
	return decodePage(body, root)
}

// decodePage reads a page by encoding/xml, in twenty times the time.
func decodePage(body []byte, root string) (page, error) {
	if err := checkRoot(body, root); err != nil {
		return page{}, err
	}
	var doc struct {
		IsTruncated         []byte `xml:"IsTruncated"`
		EncodingType        []byte `xml:"EncodingType"`
		NextToken           []byte `xml:"NextContinuationToken"`
		NextKeyMarker       []byte `xml:"NextKeyMarker"`
		NextVersionIDMarker []byte `xml:"NextVersionIdMarker"`
		CommonPrefixes      []struct {
			Prefix []byte `xml:"Prefix"`
		} `xml:"CommonPrefixes"`
		Entries []struct { // in the document's order, others among them
			XMLName      xml.Name
			Key          []byte `xml:"Key"`
			VersionID    []byte `xml:"VersionId"`
			IsLatest     []byte `xml:"IsLatest"`
			LastModified []byte `xml:"LastModified"`
			ETag         []byte `xml:"ETag"`
			Size         []byte `xml:"Size"`
			StorageClass []byte `xml:"StorageClass"`
		} `xml:",any"`
	}
	if err := xml.Unmarshal(body, &doc); err != nil {
		return page{}, faultf(audit.CauseMalformed, "%w", err)
	}
	p := page{
		truncated: doc.IsTruncated, encoding: doc.EncodingType, nextToken: doc.NextToken,
		nextKeyMarker: doc.NextKeyMarker, nextVersionMark: doc.NextVersionIDMarker,
	}
	for _, c := range doc.CommonPrefixes {
		p.prefixes = append(p.prefixes, c.Prefix)
	}
	for _, e := range doc.Entries {
		if isEntry(root, e.XMLName.Local) {
			p.entries = append(p.entries, entry{
				marker: e.XMLName.Local == "DeleteMarker",
				key:    e.Key, version: e.VersionID, latest: e.IsLatest,
				modified: e.LastModified, etag: e.ETag, size: e.Size, storage: e.StorageClass,
			})
		}
	}
	return p, nil
}

// more says whether another page follows.
func (p page) more() (bool, error) {
	if len(p.truncated) == 0 {
		return false, faultf(audit.CauseMalformed, "it does not say whether there is more")
	}
	more, err := strconv.ParseBool(string(p.truncated))
	if err != nil {
		return false, faultf(audit.CauseMalformed, "IsTruncated is %q", p.truncated)
	}
	return more, nil
}

// whole refuses a page of which the entries are not all: without a delimiter there
// are no common prefixes.
func (p page) whole() error {
	if len(p.prefixes) > 0 {
		return faultf(audit.CauseForeign, "it has common prefixes, though no delimiter was given")
	}
	return nil
}

// decode undoes the encoding of keys that was asked for, where the answer says that
// it was applied: some servers ignore the wish.
func (p page) decode(key []byte) (string, error) { return decodeKey(string(key), string(p.encoding)) }

func decodeKey(key, encoding string) (string, error) {
	if encoding != urlEncoding || !strings.ContainsAny(key, "%+") {
		return key, nil
	}
	k, err := url.QueryUnescape(key)
	if err != nil {
		return "", faultf(audit.CauseMalformed, "the key %q is not URL-encoded, as the answer says it is", key)
	}
	return k, nil
}

// urlEncoding is the encoding-type that is asked for: XML cannot hold every key.
const urlEncoding = "url"

// object makes an object of an entry. A delete marker has no size.
func (p page) object(e entry) (audit.Object, error) {
	key, err := p.decode(e.key)
	if err != nil {
		return audit.Object{}, err
	}
	at, err := parseModified(e.modified)
	if err != nil {
		return audit.Object{}, err
	}
	o := audit.Object{Key: key, LastModified: at, ETag: unquote(string(e.etag)), StorageClass: class(string(e.storage))}
	if len(e.size) > 0 {
		if o.Size, err = strconv.ParseInt(string(e.size), 10, 64); err != nil {
			return audit.Object{}, faultf(audit.CauseMalformed, "the size of %q is %q", key, e.size)
		}
	}
	return o, nil
}

// parseModified reads a time as S3 writes it. Some servers leave out the zone,
// which is UTC. It is zero where there is none.
func parseModified(b []byte) (time.Time, error) {
	if len(b) == 0 {
		return time.Time{}, nil
	}
	var t time.Time
	if t.UnmarshalText(b) == nil {
		return t.UTC(), nil
	}
	t, err := time.Parse("2006-01-02T15:04:05", string(b))
	if err != nil {
		return time.Time{}, faultf(audit.CauseMalformed, "%q is not a time", b)
	}
	return t, nil
}

// objects makes what a listing of objects holds.
func (p page) objects() ([]audit.Object, error) {
	all := make([]audit.Object, 0, len(p.entries))
	for _, e := range p.entries {
		o, err := p.object(e)
		switch {
		case err != nil:
			return nil, err
		case o.Key == "" || o.LastModified.IsZero() || len(e.size) == 0:
			return nil, faultf(audit.CauseMalformed, "an entry lacks its key, size or time")
		}
		all = append(all, o)
	}
	return all, nil
}

// versions makes what a listing of versions holds.
func (p page) versions() ([]audit.Version, error) {
	all := make([]audit.Version, 0, len(p.entries))
	for _, e := range p.entries {
		o, err := p.object(e)
		switch {
		case err != nil:
			return nil, err
		case o.Key == "" || o.LastModified.IsZero() || len(e.version) == 0:
			return nil, faultf(audit.CauseMalformed, "an entry lacks its key, version id or time")
		}
		latest, err := strconv.ParseBool(orElse(string(e.latest), "false"))
		if err != nil {
			return nil, faultf(audit.CauseMalformed, "IsLatest of %q is %q", o.Key, e.latest)
		}
		all = append(all, audit.Version{Object: o, VersionID: string(e.version), Latest: latest, Marker: e.marker})
	}
	return all, nil
}
