# Suggested by backstop, and proven to take no control file of etcd-manager.
# It replaces all lifecycle rules of the bucket: there must be no other resource for them.
resource "aws_s3_bucket_lifecycle_configuration" "kops" {
  bucket = "kops"

  rule {
    id     = "logs"
    status = "Enabled"

    filter {
      prefix = "logs/"
    }
    expiration {
      days = 30
    }
  }

  rule {
    id     = "backstop-unfinished-uploads"
    status = "Enabled"

    filter {}
    abort_incomplete_multipart_upload {
      days_after_initiation = 7
    }
  }

  rule {
    id     = "backstop-snapshots-prod.example.com-backups-etcd-main"
    status = "Enabled"

    filter {
      prefix = "prod.example.com/backups/etcd/main/20"
    }
    expiration {
      days = 760
    }
    noncurrent_version_expiration {
      noncurrent_days = 90
    }
  }
}
