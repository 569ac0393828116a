package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"
)

// A bare client is what a program has that only uses the SDK.
type bare struct{ *s3.Client }

func newBare(ctx context.Context, endpoint string) (bare, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return bare{}, err
	}
	return bare{s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.BaseEndpoint, o.UsePathStyle = &endpoint, true
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})}, nil
}

// replay makes the requests of tasks, as soon as one of so many workers is free.
// The pages of a listing follow each other; nothing else waits for anything.
func (b bare) replay(ctx context.Context, tasks []*task, concurrency int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for _, t := range tasks {
		g.Go(func() error { return b.do(ctx, t) })
	}
	return g.Wait()
}

// list gives how many keys the bucket has.
func (b bare) list(ctx context.Context) (int, error) {
	n := 0
	pages := s3.NewListObjectsV2Paginator(b.Client, &s3.ListObjectsV2Input{Bucket: aws.String(bucketName)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		n += len(page.Contents)
	}
	return n, nil
}

// given is nil for an empty parameter.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (b bare) do(ctx context.Context, t *task) error {
	bucket, key, prefix := aws.String(bucketName), given(t.Key), given(t.Prefix)
	var err error
	switch t.Operation {
	case "ListObjectsV2":
		err = b.pages(ctx, t)
	case "ListObjectVersions":
		_, err = b.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: bucket, Prefix: prefix, EncodingType: types.EncodingTypeUrl})
	case "ListMultipartUploads":
		_, err = b.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: bucket, Prefix: prefix})
	case "GetObject":
		err = b.get(ctx, &s3.GetObjectInput{Bucket: bucket, Key: key, Range: given(t.Range)})
	case "GetObjectTagging":
		_, err = b.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: bucket, Key: key})
	case "GetBucketVersioning":
		_, err = b.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: bucket})
	case "GetBucketLifecycleConfiguration":
		_, err = b.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: bucket})
	case "GetObjectLockConfiguration":
		_, err = b.GetObjectLockConfiguration(ctx, &s3.GetObjectLockConfigurationInput{Bucket: bucket})
	case "GetPublicAccessBlock":
		_, err = b.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: bucket})
	case "GetBucketPolicyStatus":
		_, err = b.GetBucketPolicyStatus(ctx, &s3.GetBucketPolicyStatusInput{Bucket: bucket})
	case "GetBucketEncryption":
		_, err = b.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: bucket})
	default:
		err = fmt.Errorf("the bare client does not know %s", t.Operation)
	}
	return err
}

func (b bare) pages(ctx context.Context, t *task) error {
	in := &s3.ListObjectsV2Input{
		Bucket: aws.String(bucketName), Prefix: given(t.Prefix), Delimiter: given(t.Delimiter), StartAfter: given(t.StartAfter),
		EncodingType: types.EncodingTypeUrl,
	}
	if n, err := strconv.ParseInt(t.MaxKeys, 10, 32); err == nil {
		in.MaxKeys = aws.Int32(int32(n))
	}
	pages := s3.NewListObjectsV2Paginator(b.Client, in)
	for range t.Pages {
		if _, err := pages.NextPage(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b bare) get(ctx context.Context, in *s3.GetObjectInput) error {
	out, err := b.GetObject(ctx, in)
	if err != nil {
		return err
	}
	defer func() { _ = out.Body.Close() }()
	_, err = io.Copy(io.Discard, out.Body)
	return err
}
