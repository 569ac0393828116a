package store

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"backstop/audit"
)

// Each document of a bucket has a root element, and a code with which S3 says
// 404 where there is none. A server that answers with another document, or with
// one that says nothing, has not answered.

// ObjectLock implements [Bucket].
func (s *S3) ObjectLock(ctx context.Context) (audit.ObjectLock, error) {
	q := query{
		op: "get object lock configuration", object: s.URL(""), action: Actions["ObjectLock"][0],
		root: "ObjectLockConfiguration", missing: "ObjectLockConfigurationNotFoundError",
	}
	return call(ctx, s, q, func(ctx context.Context, _ *answer, opt func(*s3.Options)) (audit.ObjectLock, error) {
		out, err := s.client.GetObjectLockConfiguration(ctx, &s3.GetObjectLockConfigurationInput{Bucket: &s.bucket}, opt)
		if err != nil {
			return audit.ObjectLock{}, err
		}
		c := orElse(out.ObjectLockConfiguration, &types.ObjectLockConfiguration{})
		r := &types.DefaultRetention{}
		if c.Rule != nil && c.Rule.DefaultRetention != nil {
			r = c.Rule.DefaultRetention
		}
		return objectLockOf(string(c.ObjectLockEnabled), string(r.Mode), aws.ToInt32(r.Days), aws.ToInt32(r.Years))
	})
}

// PublicAccessBlock implements [Bucket].
func (s *S3) PublicAccessBlock(ctx context.Context) (audit.PublicAccessBlock, error) {
	q := query{
		op: "get public access block", object: s.URL(""), action: Actions["PublicAccessBlock"][0],
		root: "PublicAccessBlockConfiguration", missing: "NoSuchPublicAccessBlockConfiguration",
	}
	return call(ctx, s, q, func(ctx context.Context, _ *answer, opt func(*s3.Options)) (audit.PublicAccessBlock, error) {
		out, err := s.client.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: &s.bucket}, opt)
		if err != nil {
			return audit.PublicAccessBlock{}, err
		}
		c := orElse(out.PublicAccessBlockConfiguration, &types.PublicAccessBlockConfiguration{})
		return publicAccessBlockOf(c.BlockPublicAcls, c.IgnorePublicAcls, c.BlockPublicPolicy, c.RestrictPublicBuckets)
	})
}

// PolicyStatus implements [Bucket].
func (s *S3) PolicyStatus(ctx context.Context) (bool, error) {
	q := query{
		op: "get bucket policy status", object: s.URL(""), action: Actions["PolicyStatus"][0],
		root: "PolicyStatus", missing: "NoSuchBucketPolicy",
	}
	return call(ctx, s, q, func(ctx context.Context, _ *answer, opt func(*s3.Options)) (bool, error) {
		out, err := s.client.GetBucketPolicyStatus(ctx, &s3.GetBucketPolicyStatusInput{Bucket: &s.bucket}, opt)
		if err != nil {
			return false, err
		}
		return policyStatusOf(orElse(out.PolicyStatus, &types.PolicyStatus{}).IsPublic)
	})
}

// Encryption implements [Bucket].
func (s *S3) Encryption(ctx context.Context) (string, error) {
	q := query{
		op: "get bucket encryption", object: s.URL(""), action: Actions["Encryption"][0],
		root: "ServerSideEncryptionConfiguration", missing: "ServerSideEncryptionConfigurationNotFoundError",
	}
	return call(ctx, s, q, func(ctx context.Context, _ *answer, opt func(*s3.Options)) (string, error) {
		out, err := s.client.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: &s.bucket}, opt)
		if err != nil {
			return "", err
		}
		var algorithms []string
		for _, r := range orElse(out.ServerSideEncryptionConfiguration, &types.ServerSideEncryptionConfiguration{}).Rules {
			algorithms = append(algorithms, string(orElse(r.ApplyServerSideEncryptionByDefault, &types.ServerSideEncryptionByDefault{}).SSEAlgorithm))
		}
		return encryptionOf(algorithms)
	})
}

// Uploads implements [Bucket].
func (s *S3) Uploads(ctx context.Context, prefix string) (audit.Uploads, error) {
	q := query{op: "list multipart uploads", object: s.URL(prefix), action: Actions["Uploads"][0], root: "ListMultipartUploadsResult"}
	return call(ctx, s, q, func(ctx context.Context, _ *answer, opt func(*s3.Options)) (audit.Uploads, error) {
		// Encoded keys are not asked for: Ceph encodes them and does not say so.
		// A key that no XML can hold makes the answer one that cannot be read.
		req := &s3.ListMultipartUploadsInput{Bucket: &s.bucket}
		if prefix != "" {
			req.Prefix = &prefix
		}
		out, err := s.client.ListMultipartUploads(ctx, req, opt)
		switch {
		case err != nil:
			return audit.Uploads{}, err
		case out.IsTruncated == nil:
			return audit.Uploads{}, faultf(audit.CauseMalformed, "it does not say whether there is more")
		case len(out.CommonPrefixes) > 0:
			return audit.Uploads{}, faultf(audit.CauseForeign, "it has common prefixes, though no delimiter was given")
		}
		sum := audit.Uploads{More: *out.IsTruncated}
		for _, u := range out.Uploads {
			key, err := decodeKey(aws.ToString(u.Key), string(out.EncodingType)) // some encode unasked
			switch {
			case err != nil:
				return audit.Uploads{}, err
			case key == "" || u.Initiated == nil:
				return audit.Uploads{}, faultf(audit.CauseMalformed, "an entry lacks its key or its time")
			case !strings.HasPrefix(key, prefix):
				return audit.Uploads{}, faultf(audit.CauseMalformed, "a wrong listing: the key %q was not asked for", key)
			}
			countUpload(&sum, *u.Initiated)
		}
		return sum, nil
	})
}
