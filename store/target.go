package store

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A Target is what a STORE argument names, before anything is opened.
type Target struct {
	// Bucket is the S3 bucket; empty for a directory.
	Bucket string
	// Prefix is a key prefix in Bucket, without slashes at its ends.
	Prefix string
	// Dir is a local directory; empty for S3.
	Dir string
}

// bucketName is wider than AWS's rules for new buckets, because old ones and
// other providers' allow upper case and underscores.
var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$`)

// otherSchemes are those that kops knows as backup stores and backstop cannot
// read.
var otherSchemes = map[string]string{
	"gs":        "Google Cloud Storage",
	"azureblob": "Azure Blob Storage",
	"do":        "DigitalOcean Spaces by kops's name; give it as s3://SPACE with --endpoint-url",
	"swift":     "OpenStack Swift",
	"oss":       "Alibaba OSS",
	"scw":       "Scaleway by kops's name; give it as s3://BUCKET with --endpoint-url",
	"http":      "an address; give the bucket as s3://BUCKET with --endpoint-url",
	"https":     "an address; give the bucket as s3://BUCKET with --endpoint-url",
}

// ParseTarget parses a STORE argument: s3://BUCKET[/PREFIX], or a directory
// (also as file:///DIR).
func ParseTarget(arg string) (Target, error) {
	scheme, rest, ok := strings.Cut(arg, "://")
	switch {
	case arg == "":
		return Target{}, errors.New("STORE is empty: want s3://BUCKET[/PREFIX] or a directory")
	case !ok && looksLikeURL(arg):
		return Target{}, fmt.Errorf("STORE %q looks like a URL with a typo: want s3://BUCKET[/PREFIX]; write ./%s if it is a directory", arg, arg)
	case !ok:
		return Target{Dir: arg}, nil
	case scheme == "file":
		if !strings.HasPrefix(rest, "/") {
			return Target{}, fmt.Errorf("STORE %q: want file:///DIR with an absolute path", arg)
		}
		return Target{Dir: rest}, nil
	case scheme != "s3":
		if what, known := otherSchemes[scheme]; known {
			return Target{}, fmt.Errorf("STORE %q cannot be read: %s:// is %s; backstop reads s3:// and directories", arg, scheme, what)
		}
		return Target{}, fmt.Errorf("STORE %q: the scheme %q is not known; want s3://BUCKET[/PREFIX] or a directory", arg, scheme)
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	if !bucketName.MatchString(bucket) {
		return Target{}, fmt.Errorf("STORE %q: %q is not the name of a bucket; want s3://BUCKET[/PREFIX]", arg, bucket)
	}
	return Target{Bucket: bucket, Prefix: strings.Trim(prefix, "/")}, nil
}

// looksLikeURL catches s3:/bucket, s3:bucket, s3//bucket and S3:\bucket, which
// would else be taken for directories.
func looksLikeURL(arg string) bool {
	lower := strings.ToLower(arg)
	for _, p := range []string{"s3:", "s3//", "file:", "gs:", "http:", "https:", "arn:"} {
		if strings.HasPrefix(lower, p) {
			return true
		}
	}
	return false
}
