package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
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
	// retries and the body. Zero means 30 seconds.
	Timeout time.Duration
	// MaxAttempts bounds how often one call is tried. Zero means 4.
	MaxAttempts int
	// RetryDelay is the longest wait before the second attempt. It doubles
	// with each further one up to 4 seconds, and the wait is a random part of
	// it. Zero means 250 milliseconds.
	RetryDelay time.Duration
	// Now is the auditor's clock. It is required: the package reads none, but
	// for time limits.
	Now func() time.Time
	// HTTPClient makes the requests to S3; nil means the SDK's own, which
	// honours AWS_CA_BUNDLE and proxies. Redirects are never followed by it.
	HTTPClient *http.Client
}

// maxRetryDelay bounds the wait between two attempts, so that a call spends
// its time on trying.
const maxRetryDelay = 4 * time.Second

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
		bucket: in.Bucket, now: in.Now, lives: in.Region,
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

// Usage counts the HTTP requests by operation, retries included, and the bytes
// of the bodies that came.
func (s *S3) Usage() audit.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return audit.Usage{Requests: maps.Clone(s.usage.Requests), Errors: maps.Clone(s.usage.Errors), Bytes: s.usage.Bytes}
}

// ClockOffset gives the Date header of the last answer less the clock half-way
// through its request. HTTP dates have whole seconds.
func (s *S3) ClockOffset() audit.Fact[time.Duration] {
	s.link.mu.Lock()
	defer s.link.mu.Unlock()
	return s.offset
}

// A query is one question to S3, for messages and checks.
type query struct {
	op      string // as in Error.Op
	object  string // as in Error.Object
	action  string // the IAM action that it needs
	root    string // the root element of a right answer; empty for an object's body
	missing string // the code of a 404 that means: there is none
}

// call asks until there is an answer, the attempts are used up, or the time
// is. The time limit covers what do does, so do must read the body.
func call[T any](ctx context.Context, s *S3, q query, do func(context.Context, *answer, func(*s3.Options)) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	moved := false
	for attempt := 1; ; attempt++ {
		region := s.where()
		var a answer
		out, err := do(limited, &a, func(o *s3.Options) {
			o.Region = region
			o.APIOptions = append(o.APIOptions, s.watch(&a, q.root))
		})
		if err == nil {
			return out, nil
		}
		e := q.judge(ctx, limited, &a, err)
		e.Attempts = attempt
		s.countError(e)
		if !moved {
			if to := s.elsewhere(limited, &a, e); to != "" {
				moved = true
				s.move(region, to)
				attempt-- // it was asked at the wrong place
				continue
			}
		}
		if attempt >= s.attempts || !retryable(e, &a) || !s.pause(limited, attempt) {
			var none T
			return none, e
		}
	}
}

// pause waits before the next attempt. It reports false where the time limit
// would come first.
func (l *link) pause(ctx context.Context, attempt int) bool {
	most := min(l.delay<<min(attempt-1, 10), maxRetryDelay)
	t := time.NewTimer(rand.N(most + 1))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// where gives the region to ask.
func (l *link) where() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.region
}

// move sends further requests to another region, unless another call has
// found the way already.
func (l *link) move(from, to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.region == from {
		l.region = to
	}
}

// elsewhere gives the region to ask instead after a refusal; empty when there
// is none. Where AWS redirects without a word of where to, HeadBucket tells.
func (s *S3) elsewhere(ctx context.Context, a *answer, e *Error) string {
	if to := a.elsewhere(); to != "" || e.Cause != audit.CauseRedirect || !s.onAWS {
		return to
	}
	var head answer
	// Asked in a wrong region it fails too, with the header that is wanted.
	_, _ = s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.bucket}, func(o *s3.Options) {
		o.Region = a.asked
		o.APIOptions = append(o.APIOptions, s.watch(&head, ""))
	})
	return head.elsewhere()
}

// learn takes from an answer what it says of the bucket's region and of the
// time.
func (s *S3) learn(a *answer, sent, received time.Time) {
	s.link.mu.Lock()
	defer s.link.mu.Unlock()
	switch to := a.header.Get(regionHeader); {
	case to != "":
		s.lives = to
	case s.onAWS && a.status == http.StatusOK:
		s.lives = a.asked // AWS answers in the bucket's region only
	}
	// An answer with an age comes from a cache, with the time it went in.
	if date, err := http.ParseTime(a.header.Get("Date")); err == nil && a.header.Get("Age") == "" {
		s.offset = audit.Is(date.Sub(sent.Add(received.Sub(sent) / 2)))
	}
}

// count adds to what the handle has cost.
func (s *S3) count(operation string, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage.Bytes += bytes
	if operation != "" {
		if s.usage.Requests == nil {
			s.usage.Requests = map[string]int{}
		}
		s.usage.Requests[operation]++
	}
}

// countError counts an attempt that failed. An answer that there is no such
// thing, or that it is to be asked elsewhere, is none.
func (s *S3) countError(e *Error) {
	if errors.Is(e.Err, ErrMissing) || e.Cause == audit.CauseRedirect {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.usage.Errors == nil {
		s.usage.Errors = map[string]int{}
	}
	s.usage.Errors[string(e.Cause)]++
}
