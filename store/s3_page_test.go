package store

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"backstop/audit"
)

// pages are answers as servers send them, and near to that. fast says that they are
// read without encoding/xml.
var pages = map[string]struct {
	root, body string
	fast       bool
}{
	"AWS": {objectsRoot, `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>kops</Name><Prefix>a/</Prefix><NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken><KeyCount>1</KeyCount><MaxKeys>1000</MaxKeys><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><Contents><Key>a/2026-11-30T18%3A06%3A17Z-000005/etcd.backup.gz</Key><LastModified>2026-11-30T18:06:18.000Z</LastModified><ETag>&quot;9b2cf535f27731c974343645a3985328&quot;</ETag><ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType><Size>16984</Size><StorageClass>STANDARD</StorageClass></Contents></ListBucketResult>`, true},
	"Ceph": {objectsRoot, `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>kops</Name><Prefix></Prefix><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated><EncodingType>url</EncodingType><KeyCount>1</KeyCount><Contents><Key>a/b+c</Key><LastModified>2026-11-30T18:06:18.123Z</LastModified><ETag>&quot;d41d8cd98f00b204e9800998ecf8427e-2&quot;</ETag><Size>0</Size><StorageClass>STANDARD_IA</StorageClass></Contents></ListBucketResult>`, true},
	"MinIO": {objectsRoot, `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix/><KeyCount>1</KeyCount><MaxKeys>1000</MaxKeys><Delimiter></Delimiter><IsTruncated>false</IsTruncated><Contents><Key>a</Key><LastModified>2026-11-30T18:06:18Z</LastModified><ETag>&#34;0cc175b9c0f1b6a831c399e269772661&#34;</ETag><Size>1</Size><Owner><ID>02d6176db174dc93cb1b899f7c6078f08654445fe8cf1b6ce98d8855f66bdbf4</ID><DisplayName>minio</DisplayName></Owner><StorageClass>STANDARD</StorageClass></Contents></ListBucketResult>
`, true},
	"versions of AWS": {versionsRoot, `<?xml version="1.0" encoding="UTF-8"?>
<ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>kops</Name><Prefix/><KeyMarker/><VersionIdMarker/><NextKeyMarker>a%3A</NextKeyMarker><NextVersionIdMarker>v1</NextVersionIdMarker><MaxKeys>2</MaxKeys><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><DeleteMarker><Key>a%3A</Key><VersionId>v2</VersionId><IsLatest>true</IsLatest><LastModified>2026-11-30T18:06:18.000Z</LastModified><Owner><ID>x</ID></Owner></DeleteMarker><Version><Key>a%3A</Key><VersionId>v1</VersionId><IsLatest>false</IsLatest><LastModified>2026-11-29T18:06:18.000Z</LastModified><ETag>"e"</ETag><Size>3</Size><Owner><ID>x</ID><DisplayName/></Owner><StorageClass>GLACIER</StorageClass></Version></ListVersionsResult>`, true},
	"indented":      {objectsRoot, "<ListBucketResult>\n  <IsTruncated>false</IsTruncated>\n  <Contents>\n\t<Key>a</Key>\n    <LastModified>2026-11-30T18:06:18Z</LastModified>\n    <Size>1</Size>\n  </Contents>\n</ListBucketResult>\n", true},
	"nothing in it": {objectsRoot, `<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>`, true},

	"UTF-8 in a key":       {objectsRoot, `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>ä</Key><LastModified>2026-11-30T18:06:18Z</LastModified><Size>1</Size></Contents></ListBucketResult>`, false},
	"a comment":            {objectsRoot, `<ListBucketResult><!-- --><IsTruncated>false</IsTruncated></ListBucketResult>`, false},
	"CDATA":                {objectsRoot, `<ListBucketResult><IsTruncated><![CDATA[false]]></IsTruncated></ListBucketResult>`, false},
	"attributes":           {objectsRoot, `<ListBucketResult><IsTruncated a="b">false</IsTruncated></ListBucketResult>`, false},
	"another namespace":    {objectsRoot, `<x:ListBucketResult xmlns:x="y"><x:IsTruncated>false</x:IsTruncated></x:ListBucketResult>`, false},
	"twice":                {objectsRoot, `<ListBucketResult><IsTruncated>false</IsTruncated><IsTruncated>true</IsTruncated></ListBucketResult>`, false},
	"a key twice":          {objectsRoot, `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key><Key>b</Key><LastModified>2026-11-30T18:06:18Z</LastModified><Size>1</Size></Contents></ListBucketResult>`, false},
	"an odd reference":     {objectsRoot, `<ListBucketResult><IsTruncated>false</IsTruncated><Name>&#xE4;</Name></ListBucketResult>`, false},
	"a carriage return":    {objectsRoot, "<ListBucketResult>\r\n<IsTruncated>false</IsTruncated>\r\n</ListBucketResult>\r\n", false},
	"deep":                 {objectsRoot, `<ListBucketResult><IsTruncated>false</IsTruncated><a><b><c><d><e><f/></e></d></c></b></a></ListBucketResult>`, false},
	"common prefixes":      {objectsRoot, `<ListBucketResult><IsTruncated>false</IsTruncated><CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes></ListBucketResult>`, false},
	"a time without zone":  {objectsRoot, `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key><LastModified>2026-11-30T18:06:18.5</LastModified><Size>1</Size></Contents></ListBucketResult>`, true},
	"text around":          {objectsRoot, `<ListBucketResult>well <IsTruncated>false</IsTruncated></ListBucketResult>`, false},
	"a comment at the end": {objectsRoot, `<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult><!-- -->`, false},
}

func TestScanPage(t *testing.T) {
	for name, c := range pages {
		scanned, fast := scanPage([]byte(c.body), c.root)
		if fast != c.fast {
			t.Errorf("%s: read fast: %t, want %t", name, fast, c.fast)
		}
		want, err := decodePage([]byte(c.body), c.root)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if fast && !samePage(scanned, want) {
			t.Errorf("%s: scanned %s, encoding/xml reads %s", name, scanned, want)
		}
	}
}

// TestScanPageRefuses holds that the scanner says yes to no answer that lacks its
// end, and to none that encoding/xml refuses.
func TestScanPageRefuses(t *testing.T) {
	for name, c := range pages {
		end := strings.LastIndex(c.body, "</")
		whole := end + strings.Index(c.body[end:], ">") + 1
		for n := range whole {
			if _, ok := scanPage([]byte(c.body[:n]), c.root); ok {
				t.Errorf("%s: the scanner accepts %d bytes of %d", name, n, whole)
			}
			if _, err := readPage([]byte(c.body[:n]), c.root); err == nil {
				t.Errorf("%s: %d bytes of %d pass for the whole", name, n, whole)
			}
		}
	}
	for name, body := range map[string]string{
		"another root":         `<ListVersionsResult><IsTruncated>false</IsTruncated></ListVersionsResult>`,
		"an error":             `<Error><Code>SlowDown</Code></Error>`,
		"two roots":            `<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult><ListBucketResult/>`,
		"the wrong end":        `<ListBucketResult><IsTruncated>false</Truncated></ListBucketResult>`,
		"the ends crossed":     `<ListBucketResult><Owner><ID>x</Owner></ID><IsTruncated>false</IsTruncated></ListBucketResult>`,
		"an unknown reference": `<ListBucketResult><IsTruncated>false</IsTruncated><Name>&what;</Name></ListBucketResult>`,
		"a lone ampersand":     `<ListBucketResult><IsTruncated>false</IsTruncated><Name>a & b</Name></ListBucketResult>`,
		"a control character":  "<ListBucketResult><IsTruncated>false</IsTruncated><Name>\x01</Name></ListBucketResult>",
		"not UTF-8":            "<ListBucketResult><IsTruncated>false</IsTruncated><Name>\xff</Name></ListBucketResult>",
		"a number for a name":  `<ListBucketResult><IsTruncated>false</IsTruncated><1>x</1></ListBucketResult>`,
		"nothing":              "",
	} {
		if _, ok := scanPage([]byte(body), objectsRoot); ok {
			t.Errorf("%s: the scanner accepts it", name)
		}
		if _, err := readPage([]byte(body), objectsRoot); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}

func TestParseObjects(t *testing.T) {
	entry := func(fields string) string {
		return `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken><Contents>` + fields + `</Contents></ListBucketResult>`
	}
	got, err := parseObjects([]byte(entry(`<Key>a%2Fb+c%3A</Key><LastModified>2026-11-30T18:06:18.5Z</LastModified><ETag>&quot;e&quot;</ETag><Size>7</Size><StorageClass>STANDARD</StorageClass>`)))
	want := listPage{more: true, next: "t", objects: []audit.Object{{Key: "a/b c:", Size: 7, LastModified: time.Date(2026, 11, 30, 18, 6, 18, 5e8, time.UTC), ETag: "e"}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for fields, message := range map[string]string{
		`<Key></Key><LastModified>2026-11-30T18:06:18Z</LastModified><Size>7</Size>`: "lacks",
		`<Key>a</Key><Size>7</Size>`:                                                     "lacks",
		`<Key>a</Key><LastModified>2026-11-30T18:06:18Z</LastModified>`:                  "lacks",
		`<Key>a</Key><LastModified>2026-11-30T18:06:18Z</LastModified><Size></Size>`:     "lacks",
		`<Key>a</Key><LastModified>2026-11-30T18:06:18Z</LastModified><Size>7.5</Size>`:  `the size of "a" is "7.5"`,
		`<Key>a</Key><LastModified>yesterday</LastModified><Size>7</Size>`:               `"yesterday" is not a time`,
		`<Key>a%zz</Key><LastModified>2026-11-30T18:06:18Z</LastModified><Size>7</Size>`: "is not URL-encoded",
	} {
		if _, err := parseObjects([]byte(entry(fields))); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: got %v, want %s", fields, err, message)
		}
	}
	for body, message := range map[string]string{
		`<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>`:             "whether there is more",
		`<ListBucketResult><IsTruncated/></ListBucketResult>`:                     "whether there is more",
		`<ListBucketResult><IsTruncated>perhaps</IsTruncated></ListBucketResult>`: `IsTruncated is "perhaps"`,
		pages["common prefixes"].body:                                             "common prefixes",
	} {
		if _, err := parseObjects([]byte(body)); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: got %v, want %s", body, err, message)
		}
	}
}

// FuzzScanPage holds the scanner to encoding/xml: what the one accepts the other
// does, with the same outcome.
func FuzzScanPage(f *testing.F) {
	for _, c := range pages {
		f.Add([]byte(c.body), c.root == versionsRoot)
	}
	f.Fuzz(func(t *testing.T, body []byte, versions bool) {
		root := objectsRoot
		if versions {
			root = versionsRoot
		}
		scanned, ok := scanPage(bytes.Clone(body), root)
		if !ok {
			return
		}
		want, err := decodePage(body, root)
		if err != nil {
			t.Fatalf("the scanner accepts what encoding/xml refuses (%v): %q", err, body)
		}
		if !samePage(scanned, want) {
			t.Fatalf("scanned %s, encoding/xml reads %s, of %q", scanned, want, body)
		}
	})
}

// TestScanPageMutated is a short fuzzing for every run: each byte of each page
// changed to each of those that mean something in XML.
func TestScanPageMutated(t *testing.T) {
	for name, c := range pages {
		accepted := 0
		for i := range c.body {
			for _, b := range []byte("<>/&;] \r\xc3a") {
				body := []byte(c.body)
				body[i] = b
				scanned, ok := scanPage(body, c.root)
				if !ok {
					continue
				}
				accepted++
				if want, err := decodePage(body, c.root); err != nil || !samePage(scanned, want) {
					t.Fatalf("%s: scanned %s, encoding/xml reads %s (%v), of %q", name, scanned, want, err, body)
				}
			}
		}
		if c.fast && accepted == 0 {
			t.Errorf("%s: nothing was compared", name)
		}
	}
}

// samePage compares pages; an element that is empty is as one that is not there.
func samePage(a, b page) bool { return a.String() == b.String() }

func (p page) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%q %q %q %q %q %q", p.truncated, p.encoding, p.nextToken, p.nextKeyMarker, p.nextVersionMark, p.prefixes)
	for _, e := range p.entries {
		fmt.Fprintf(&s, " {%t %q %q %q %q %q %q %q}", e.marker, e.key, e.version, e.latest, e.modified, e.etag, e.size, e.storage)
	}
	return s.String()
}

// thousand is a page as AWS sends it.
func thousand() []byte {
	entry := pages["AWS"].body
	from, to := strings.Index(entry, "<Contents>"), strings.Index(entry, "</ListBucketResult>")
	return []byte(entry[:from] + strings.Repeat(entry[from:to], 1000) + entry[to:])
}

func BenchmarkPage(b *testing.B) {
	body := thousand()
	for name, read := range map[string]func([]byte, string) (page, error){
		"scanned":      readPage,
		"encoding_xml": decodePage,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if p, err := read(body, objectsRoot); err != nil || len(p.entries) != 1000 {
					b.Fatal(len(p.entries), err)
				}
			}
		})
	}
	b.Run("objects", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if p, err := parseObjects(body); err != nil || len(p.objects) != 1000 {
				b.Fatal(len(p.objects), err)
			}
		}
	})
}
