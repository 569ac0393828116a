package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
)

// TestWrongPaging holds that a listing which contradicts itself ends with an
// error, at once, and never goes on for ever.
func TestWrongPaging(t *testing.T) {
	f := storetest.NewFake(atNoon)
	fake := f.CreateBucket("backups")
	f.SetPageSize(3)
	for i := range 8 {
		fake.Put(fmt.Sprintf("a/%04d", i), nil)
	}
	b := open(t, f.URL(t))
	still := "<%[1]s><IsTruncated>true</IsTruncated><NextContinuationToken>still</NextContinuationToken><NextKeyMarker>still</NextKeyMarker></%[1]s>"
	tests := map[string]struct {
		fault func(m method) storetest.Fault
		// pages is how many wrong pages it takes to see it, where the first
		// page is wrong, and where the second one is.
		pages [2]int
	}{
		"every page is the first":     {func(method) storetest.Fault { return storetest.Fault{Kind: storetest.Repeated} }, [2]int{2, 1}},
		"so, with a token that moves": {func(method) storetest.Fault { return storetest.Fault{Kind: storetest.Restless} }, [2]int{2, 1}},
		"pages are empty":             {func(method) storetest.Fault { return storetest.Fault{Kind: storetest.EmptyPages} }, [2]int{101, 101}},
		"there is more, but no token": {func(method) storetest.Fault { return storetest.Fault{Kind: storetest.Tokenless} }, [2]int{1, 1}},
		"pages are empty, and the token stays": {func(m method) storetest.Fault {
			return storetest.Fault{Kind: storetest.Foreign, Body: fmt.Appendf(nil, still, m.root)}
		}, [2]int{2, 2}},
	}
	for name, test := range tests {
		for from, pages := range test.pages {
			for _, m := range methods[:2] {
				t.Run(fmt.Sprintf("%s from page %d/%s", name, from+1, m.operation), func(t *testing.T) {
					f.ResetRequests()
					f.Fault(func(storetest.Request) *storetest.Fault {
						if len(f.Requests()) <= from {
							return nil
						}
						fault := test.fault(m)
						return &fault
					})
					err := m.do(t.Context(), b)
					var e *store.Error
					if !errors.As(err, &e) || e.Cause != audit.CauseMalformed {
						t.Errorf("got %v, want a malformed answer", err)
					}
					if n := len(f.Requests()) - from; n != pages {
						t.Errorf("it took %d wrong pages, want %d: %v", n, pages, err)
					}
				})
			}
		}
	}
}

// TestOddListings feeds listings as other servers write them.
func TestOddListings(t *testing.T) {
	object := func(key string) string {
		return "<Contents><Key>" + key + "</Key><LastModified>2026-01-01T00:00:00Z</LastModified><ETag>&quot;e&quot;</ETag><Size>1</Size></Contents>"
	}
	page := func(parts ...string) string {
		return "<ListBucketResult><IsTruncated>false</IsTruncated>" + strings.Join(parts, "") + "</ListBucketResult>"
	}
	tests := map[string]struct {
		body string
		want []string // nil wants an error
	}{
		"keys are encoded":            {page("<EncodingType>url</EncodingType>", object("a%2Fb%20c+d%2B")), []string{"a/b c d+"}},
		"the encoding is ignored":     {page(object("a/%2F+")), []string{"a/%2F+"}},
		"the encoding is broken":      {page("<EncodingType>url</EncodingType>", object("a%zz")), nil},
		"a namespace":                 {strings.Replace(page(object("a")), "<ListBucketResult>", `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`, 1), []string{"a"}},
		"keys are not sorted":         {page(object("ab"), object("a")), nil},
		"a key comes twice":           {page(object("a"), object("a")), nil},
		"no key":                      {page(object("")), nil},
		"no size":                     {page(strings.Replace(object("a"), "<Size>1</Size>", "", 1)), nil},
		"no time":                     {page("<Contents><Key>a</Key><Size>1</Size></Contents>"), nil},
		"common prefixes":             {page(object("a"), "<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes>"), nil},
		"not said whether it is over": {"<ListBucketResult>" + object("a") + "</ListBucketResult>", nil},
		"two documents":               {page(object("a")) + page(object("b")), nil},
		"another prefix":              {page(object("b")), nil},
	}
	f, endpoint := faulty(t)
	b := open(t, endpoint)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f.Fault(func(storetest.Request) *storetest.Fault {
				return &storetest.Fault{Kind: storetest.Foreign, Body: []byte(test.body)}
			})
			var got []string
			var err error
			for o, e := range b.List(t.Context(), store.ListInput{Prefix: "a"}) {
				if err = e; err != nil {
					break
				}
				got = append(got, o.Key)
			}
			if (err != nil) != (test.want == nil) || err == nil && !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// TestOddVersions feeds listings of versions as other servers write them.
func TestOddVersions(t *testing.T) {
	version := func(key, id string) string {
		return "<Version><Key>" + key + "</Key><VersionId>" + id + "</VersionId><LastModified>2026-01-01T00:00:00Z</LastModified></Version>"
	}
	const marker = "<DeleteMarker><Key>a/1</Key><VersionId>y</VersionId><LastModified>2026-01-01T00:00:00Z</LastModified></DeleteMarker>"
	const over = "<IsTruncated>false</IsTruncated>"
	tests := map[string]struct {
		body string
		want []string // nil wants an error
	}{
		"in order":                        {over + version("a/1", "x") + version("a/1", "y") + version("a/2", "x"), []string{"a/1 x", "a/1 y", "a/2 x"}},
		"a marker between versions":       {over + version("a/1", "x") + marker + version("a/1", "z"), []string{"a/1 x", "a/1 y", "a/1 z"}},
		"keys are encoded":                {over + "<EncodingType>url</EncodingType>" + version("a%2F+%2B", "x+"), []string{"a/ + x+"}},
		"keys are not sorted":             {over + version("a/2", "x") + version("a/1", "x"), nil},
		"a prefix that was not asked for": {over + version("b", "x"), nil},
		"no key":                          {over + version("", "x"), nil},
		"no version id":                   {over + version("a/1", ""), nil},
		"no time":                         {over + "<Version><Key>a/1</Key><VersionId>x</VersionId></Version>", nil},
		"a time that is none":             {over + strings.ReplaceAll(version("a/1", "x"), "2026", "soon"), nil},
		"common prefixes":                 {over + "<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>", nil},
		"not said whether it is over":     {version("a/1", "x"), nil},
	}
	f, endpoint := faulty(t)
	b := open(t, endpoint)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f.Fault(func(storetest.Request) *storetest.Fault {
				return &storetest.Fault{Kind: storetest.Foreign, Body: []byte("<ListVersionsResult>" + test.body + "</ListVersionsResult>")}
			})
			var got []string
			var err error
			for v, e := range b.ListVersions(t.Context(), "a/") {
				if err = e; err != nil {
					break
				}
				got = append(got, v.Key+" "+v.VersionID)
			}
			if (err != nil) != (test.want == nil) || err == nil && !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// TestRepeatedVersions is what versitygw 1.8.0 does: it begins a page with the
// end of the one before.
func TestRepeatedVersions(t *testing.T) {
	version := func(key, id string) string {
		return "<Version><Key>" + key + "</Key><VersionId>" + id + "</VersionId><LastModified>2026-01-01T00:00:00Z</LastModified></Version>"
	}
	pages := map[string]string{
		"":  "<IsTruncated>true</IsTruncated><NextKeyMarker>b</NextKeyMarker><NextVersionIdMarker>2</NextVersionIdMarker>" + version("a", "1") + version("b", "2"),
		"b": "<IsTruncated>true</IsTruncated><NextKeyMarker>c</NextKeyMarker><NextVersionIdMarker>1</NextVersionIdMarker>" + version("b", "2") + version("b", "1") + version("c", "1"),
		"c": "<IsTruncated>false</IsTruncated>" + version("c", "1"),
	}
	f, endpoint := faulty(t)
	f.Fault(func(r storetest.Request) *storetest.Fault {
		return &storetest.Fault{Kind: storetest.Foreign, Body: []byte("<ListVersionsResult>" + pages[r.Query.Get("key-marker")] + "</ListVersionsResult>")}
	})
	var got []string
	for v, err := range open(t, endpoint).ListVersions(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v.Key+v.VersionID)
	}
	if want := []string{"a1", "b2", "b1", "c1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOddConfiguration feeds the answers to the two questions about the bucket
// as other servers write them.
func TestOddConfiguration(t *testing.T) {
	tests := map[string]struct {
		do    func(*store.S3) (string, error)
		body  string
		want  string
		cause audit.Cause
	}{
		"versioning enabled":           {versioning, "<VersioningConfiguration><Status>Enabled</Status><MfaDelete>Disabled</MfaDelete></VersioningConfiguration>", "Enabled false", ""},
		"versioning, MFA delete":       {versioning, "<VersioningConfiguration><Status>Enabled</Status><MfaDelete>Enabled</MfaDelete></VersioningConfiguration>", "Enabled true", ""},
		"versioning, no status":        {versioning, "<VersioningConfiguration/>", " false", ""},
		"versioning, another status":   {versioning, "<VersioningConfiguration><Status>Perhaps</Status></VersioningConfiguration>", "", audit.CauseForeign},
		"lock, days":                   {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>COMPLIANCE</Mode><Days>3</Days></DefaultRetention></Rule></ObjectLockConfiguration>", "COMPLIANCE 72h0m0s", ""},
		"lock, years":                  {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Years>1</Years></DefaultRetention></Rule></ObjectLockConfiguration>", "GOVERNANCE 8760h0m0s", ""},
		"lock, no retention":           {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>", " 0s", ""},
		"lock, an empty rule":          {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule/></ObjectLockConfiguration>", " 0s", ""},
		"lock, not enabled":            {lock, "<ObjectLockConfiguration/>", "", audit.CauseForeign},
		"lock, another mode":           {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>SOFT</Mode><Days>3</Days></DefaultRetention></Rule></ObjectLockConfiguration>", "", audit.CauseForeign},
		"lock, days and years":         {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>3</Days><Years>1</Years></DefaultRetention></Rule></ObjectLockConfiguration>", "", audit.CauseForeign},
		"lock, a mode alone":           {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode></DefaultRetention></Rule></ObjectLockConfiguration>", "", audit.CauseForeign},
		"lock, negative days":          {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>-1</Days></DefaultRetention></Rule></ObjectLockConfiguration>", "", audit.CauseForeign},
		"lock, for ever":               {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Years>101</Years></DefaultRetention></Rule></ObjectLockConfiguration>", "", audit.CauseForeign},
		"lock, days that are a word":   {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>ten</Days></DefaultRetention></Rule></ObjectLockConfiguration>", "", audit.CauseMalformed},
		"block, some":                  {block, "<PublicAccessBlockConfiguration><BlockPublicAcls>TRUE</BlockPublicAcls></PublicAccessBlockConfiguration>", "{true false false false}", ""},
		"block, of Ceph":               {block, "<BlockPublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls></BlockPublicAccessBlockConfiguration>", "{true false false false}", ""},
		"block, nothing in it":         {block, "<PublicAccessBlockConfiguration/>", "", audit.CauseForeign},
		"policy, as AWS spells it":     {policy, "<PolicyStatus><IsPublic>TRUE</IsPublic></PolicyStatus>", "true", ""},
		"policy, nothing in it":        {policy, "<PolicyStatus/>", "", audit.CauseForeign},
		"policy, perhaps":              {policy, "<PolicyStatus><IsPublic>perhaps</IsPublic></PolicyStatus>", "", audit.CauseMalformed},
		"encryption, a key":            {encryption, "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms:dsse</SSEAlgorithm><KMSMasterKeyID>k</KMSMasterKeyID></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>", "aws:kms:dsse", ""},
		"encryption without a rule":    {encryption, "<ServerSideEncryptionConfiguration/>", "", audit.CauseForeign},
		"encryption, no algorithm":     {encryption, "<ServerSideEncryptionConfiguration><Rule><BucketKeyEnabled>true</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>", "", audit.CauseForeign},
		"uploads, more of them":        {uploads, "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><Upload><Key>a/1</Key><Initiated>2026-01-02T00:00:00Z</Initiated></Upload><Upload><Key>a/1</Key><Initiated>2026-01-01T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>", "2 true 2026-01-01", ""},
		"uploads, encoded":             {uploads, "<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated><Upload><Key>a%2F%2B</Key><Initiated>2026-01-02T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>", "1 false 2026-01-02", ""},
		"uploads, broken encoding":     {uploads, "<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated><Upload><Key>a/%zz</Key><Initiated>2026-01-02T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>", "", audit.CauseMalformed},
		"uploads, not asked for":       {uploads, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated><Upload><Key>b</Key><Initiated>2026-01-02T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>", "", audit.CauseMalformed},
		"uploads, no time":             {uploads, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated><Upload><Key>a/1</Key></Upload></ListMultipartUploadsResult>", "", audit.CauseMalformed},
		"uploads, no key":              {uploads, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated><Upload><Initiated>2026-01-02T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>", "", audit.CauseMalformed},
		"uploads, whether all":         {uploads, "<ListMultipartUploadsResult/>", "", audit.CauseMalformed},
		"uploads, common prefixes":     {uploads, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated><CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes></ListMultipartUploadsResult>", "", audit.CauseForeign},
		"lifecycle of AWS":             {rules, lifecycle, lifecycle, ""},
		"lifecycle with a capital C":   {rules, "<LifeCycleConfiguration><Rule/></LifeCycleConfiguration>", "<LifeCycleConfiguration><Rule/></LifeCycleConfiguration>", ""},
		"lifecycle of a bucket":        {rules, "<BucketLifecycleConfiguration><Rule/></BucketLifecycleConfiguration>", "<BucketLifecycleConfiguration><Rule/></BucketLifecycleConfiguration>", ""},
		"lifecycle, a date not of AWS": {rules, "<LifecycleConfiguration><Rule><Expiration><Date>soon</Date></Expiration></Rule></LifecycleConfiguration>", "<LifecycleConfiguration><Rule><Expiration><Date>soon</Date></Expiration></Rule></LifecycleConfiguration>", ""},
		"lifecycle without rules":      {rules, "<LifecycleConfiguration></LifecycleConfiguration>", "", audit.CauseForeign},
		"lifecycle, too long":          {rules, "<LifecycleConfiguration>" + strings.Repeat(" ", 8<<20) + "</LifecycleConfiguration>", "", audit.CauseTooBig},
	}
	f, endpoint := faulty(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f.Fault(func(storetest.Request) *storetest.Fault {
				return &storetest.Fault{Kind: storetest.Foreign, Body: []byte(test.body)}
			})
			got, err := test.do(open(t, endpoint))
			var e *store.Error
			if errors.As(err, &e); err != nil && e.Cause != test.cause || (err != nil) != (test.cause != "") || got != test.want {
				t.Errorf("got %q, %v, want %q, %s", got, err, test.want, test.cause)
			}
		})
	}
}

func versioning(b *store.S3) (string, error) {
	v, err := b.Versioning(context.Background())
	return said(err, v.Status, v.MFADelete)
}

func lock(b *store.S3) (string, error) {
	l, err := b.ObjectLock(context.Background())
	return said(err, l.Mode, l.Retention)
}

func block(b *store.S3) (string, error) {
	p, err := b.PublicAccessBlock(context.Background())
	return said(err, p)
}

func policy(b *store.S3) (string, error) {
	public, err := b.PolicyStatus(context.Background())
	return said(err, public)
}

func encryption(b *store.S3) (string, error) { return b.Encryption(context.Background()) }

func uploads(b *store.S3) (string, error) {
	u, err := b.Uploads(context.Background(), "a/")
	return said(err, u.Count, u.More, u.Oldest.Format(time.DateOnly))
}

// said puts an answer into one line; empty beside an error.
func said(err error, parts ...any) (string, error) {
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(fmt.Sprintln(parts...), "\n"), nil
}

func rules(b *store.S3) (string, error) {
	doc, err := b.Lifecycle(context.Background())
	return string(doc.Body), err
}
