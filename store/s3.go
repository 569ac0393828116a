package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"

	"backstop/audit"
)

// S3Options say which bucket to look at, and how to reach it. Credentials come
// from the AWS SDK's default chain: environment, shared configuration, web
// identity, container, EC2 metadata.
type S3Options struct {
	Bucket string
	// Region is where to ask first. Empty means the SDK's configuration, or
	// else us-east-1; a bucket on AWS that lives elsewhere is found anyway.
	Region string
	// Profile names a profile of the shared configuration.
	Profile string
	// RoleARN is a role to assume with the chain's credentials.
	RoleARN string
	// ExternalIDFile holds the external id that the role asks for. A file,
	// because arguments are visible to every process of the machine.
	ExternalIDFile string
	// EndpointURL is an S3 endpoint other than AWS's. Empty means
	// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, as for every SDK, or AWS.
	EndpointURL string
	// ForcePathStyle puts the bucket's name into the path. It goes without
	// saying where the endpoint's host is an IP address or has no dot.
	ForcePathStyle bool
	// Timeout bounds one call: a page of a listing, or one document, with all
	// retries and the body, and without the waits that Pace asks for. Zero means
	// 30 seconds.
	Timeout time.Duration
	// MaxAttempts bounds how often one call is tried. Zero means 4.
	MaxAttempts int
	// RetryDelay is the longest wait before the second attempt. It doubles
	// with each further one up to 4 seconds, and the wait is a random part of
	// it. Zero means 250 milliseconds.
	RetryDelay time.Duration
	// Pace bounds the requests of all buckets that share it; nil is no bound.
	Pace Pace
	// Now is the auditor's clock. It is required: the package reads none, but
	// for time limits.
	Now func() time.Time
	// HTTPClient makes the requests to S3; nil means the SDK's own, which
	// honours AWS_CA_BUNDLE and proxies. Redirects are never followed by it.
	HTTPClient *http.Client
}

// An S3 is a Bucket in S3, or behind something that speaks S3. Make one with
// [OpenS3].
type S3 struct {
	*link

	mu    sync.Mutex
	usage audit.Usage
}

var _ Bucket = (*S3)(nil)

// A link is what all handles on a bucket share.
type link struct {
	bucket   string
	client   *s3.Client
	onAWS    bool
	endpoint string // other than AWS's
	timeout  time.Duration
	attempts int
	delay    time.Duration
	pace     Pace
	now      func() time.Time

	mu     sync.Mutex
	region string // where requests go now
	lives  string // where the bucket is known to live
	offset audit.Fact[time.Duration]
}

// OpenS3 prepares to look at a bucket. It makes no request to S3, so a bucket
// that cannot be reached shows in the first call. Errors are about the options
// and the shared configuration.
func OpenS3(ctx context.Context, in S3Options) (*S3, error) {
	if in.Bucket == "" {
		return nil, errors.New("open s3: no bucket")
	}
	if in.Now == nil {
		return nil, errors.New("open s3: no clock")
	}
	cfg, err := loadConfig(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("open s3://%s: %w", in.Bucket, err)
	}
	l := &link{
		bucket: in.Bucket, now: in.Now, lives: in.Region, pace: in.Pace,
		timeout:  orElse(in.Timeout, 30*time.Second),
		attempts: orElse(in.MaxAttempts, 4),
		delay:    orElse(in.RetryDelay, 250*time.Millisecond),
		offset:   audit.Unknown[time.Duration](audit.Why{Cause: audit.CauseNotAsked, Reason: "S3 has not answered yet"}),
	}
	httpClient := httpClient(in.HTTPClient, cfg.HTTPClient)
	var endpoint string
	l.client = s3.NewFromConfig(cfg, func(o *s3.Options) {
		if in.EndpointURL != "" {
			o.BaseEndpoint = aws.String(in.EndpointURL)
		}
		// By now the SDK has put in what the environment and the profile say.
		endpoint = aws.ToString(o.BaseEndpoint)
		l.onAWS = isAWS(endpoint)
		o.Region = orElse(o.Region, "us-east-1")
		l.region = o.Region
		o.UsePathStyle = o.UsePathStyle || in.ForcePathStyle || needsPathStyle(endpoint)
		if !l.onAWS {
			// Servers of this world echo a checksum of the whole object on a
			// part of it, or know no checksums.
			o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
			o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		}
		o.DisableLogOutputChecksumValidationSkipped = true
		o.HTTPClient = httpClient
		// Bodies are part of an attempt, and the SDK retries no body: call
		// does it.
		o.Retryer = aws.NopRetryer{}
	})
	if !l.onAWS {
		l.endpoint = endpoint
	}
	if _, err := url.Parse(endpoint); err != nil {
		return nil, fmt.Errorf("open s3://%s: endpoint: %w", in.Bucket, err)
	}
	return &S3{link: l}, nil
}

// loadConfig reads the SDK's configuration and makes its credentials
// recognizable in errors.
func loadConfig(ctx context.Context, in S3Options) (aws.Config, error) {
	load := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	if in.Region != "" {
		load = append(load, config.WithRegion(in.Region))
	}
	if in.Profile != "" {
		load = append(load, config.WithSharedConfigProfile(in.Profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return cfg, fmt.Errorf("AWS configuration: %w", err)
	}
	if in.RoleARN != "" {
		externalID, err := readExternalID(in.ExternalIDFile)
		if err != nil {
			return cfg, err
		}
		if cfg.Region == "" {
			cfg.Region = "us-east-1" // STS needs one, and has this one everywhere but in China and GovCloud
		}
		cfg.Credentials = stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), in.RoleARN, func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName = "backstop"
			o.ExternalID = externalID
		})
	}
	cfg.Credentials = aws.NewCredentialsCache(namedCredentials{cfg.Credentials})
	return cfg, nil
}

// readExternalID gives nil without a file.
func readExternalID(file string) (*string, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("external id: %w", err)
	}
	return aws.String(strings.TrimSpace(string(b))), nil
}

// namedCredentials mark the chain's errors, which have no type of their own.
type namedCredentials struct{ aws.CredentialsProvider }

// Retrieve gives the credentials, or a *credentialsError.
func (n namedCredentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := n.CredentialsProvider.Retrieve(ctx)
	if err != nil {
		return c, &credentialsError{err}
	}
	return c, nil
}

type credentialsError struct{ err error }

func (e *credentialsError) Error() string { return "no usable AWS credentials: " + e.err.Error() }

func (e *credentialsError) Unwrap() error { return e.err }

// httpClient gives a client that hands redirects back. Followed blindly they
// lose their signature, or send it to another host.
func httpClient(given *http.Client, sdk aws.HTTPClient) *http.Client {
	var c http.Client
	if given != nil {
		c = *given
	} else if b, ok := sdk.(*awshttp.BuildableClient); ok {
		c.Transport = b.GetTransport() // with AWS_CA_BUNDLE
	} else {
		c.Transport = awshttp.NewBuildableClient().GetTransport()
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// isAWS reports whether an endpoint, empty for none, is one of AWS's: it may
// also be given as a URL, as for a VPC endpoint.
func isAWS(endpoint string) bool {
	if endpoint == "" {
		return true
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	for _, domain := range []string{".amazonaws.com", ".amazonaws.com.cn", ".api.aws", ".amazonaws.eu"} {
		if strings.HasSuffix(u.Hostname(), domain) {
			return true
		}
	}
	return false
}

// needsPathStyle reports whether a bucket's name cannot be put before the
// endpoint's host.
func needsPathStyle(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return false
	}
	host := u.Hostname()
	return net.ParseIP(host) != nil || !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost")
}

func orElse[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Name gives the bucket's name.
func (s *S3) Name() string { return s.bucket }

// Region gives where the bucket lives: as its answers say, or as the options
// did; empty when nobody has said.
func (s *S3) Region() string {
	s.link.mu.Lock()
	defer s.link.mu.Unlock()
	return s.lives
}

// Endpoint gives the endpoint's URL, wherever it was configured; empty on AWS.
func (s *S3) Endpoint() string { return s.endpoint }

// URL gives s3://bucket/key, or s3://bucket without a key.
func (s *S3) URL(key string) string {
	if key == "" {
		return "s3://" + s.bucket
	}
	return "s3://" + s.bucket + "/" + key
}

// Fork gives a handle with counters of its own. It shares connections,
// credentials and what is known of the region and the clock.
func (s *S3) Fork() Bucket { return &S3{link: s.link} }
