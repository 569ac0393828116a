// Package infra reads what infrastructure code is about to do to the buckets
// that hold backup stores: the lifecycle configurations that it proposes, and
// the objects that it writes, moves or deletes. It does no input or output.
//
// [Read] tells the formats apart by what is in the document: AWS's JSON and XML,
// plans of Terraform and OpenTofu, CloudFormation templates (and so what CDK
// synthesises), previews of Pulumi. Whatever the format, a lifecycle
// configuration comes out as a [lifecycle.Configuration], as the tool would send
// it to S3.
//
// # What is not known
//
// A plan holds values that nobody knows before it is applied. They are never
// taken for harmless: a [Reading] is of the worse case (an unknown filter is the
// whole bucket, an unknown status is Enabled, an unknown age is the shortest
// that S3 takes), and its Doubts say which rules rest on that. Where a template
// branches on a condition that nobody can evaluate there is a reading for each
// way that it may go.
//
// # Sources
//
// Terraform: the schema and the expanders of hashicorp/terraform-provider-aws,
// internal/service/s3 (bucket_lifecycle_configuration.go, bucket.go), and the
// "JSON Output Format" of Terraform's documentation. CloudFormation: the
// resource schema of AWS::S3::Bucket. Pulumi: the resources of pulumi-aws and the
// placeholders of pulumi/sdk/go/common/resource/plugin/rpc.go.
package infra
