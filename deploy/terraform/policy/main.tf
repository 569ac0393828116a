# The policy of iam-policy.json (a copy of deploy/iam-policy.json) for each bucket, as one document. It needs no
# provider, so that it can be looked at by itself.

variable "buckets" {
  description = "Names of the buckets to audit: kops's state store, and those that its clusters name for their backups."
  type        = list(string)

  validation {
    condition     = length(var.buckets) > 0 && alltrue([for b in var.buckets : can(regex("^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", b))])
    error_message = "Give the names of buckets, without s3:// and without a prefix."
  }
}

variable "kms_key_arns" {
  description = "Keys of KMS that control files and metas are encrypted with."
  type        = list(string)
  default     = []
}

variable "partition" {
  description = "aws, aws-cn or aws-us-gov."
  type        = string
  default     = "aws"
}

locals {
  # Statements are texts as long as they are put together: they have different fields.
  template = replace(file("${path.module}/iam-policy.json"), "arn:aws:", "arn:${var.partition}:")
  of_buckets = flatten([
    for i, bucket in var.buckets : [
      for s in jsondecode(replace(local.template, "BUCKET", bucket)).Statement : jsonencode(merge(s, { Sid = "${s.Sid}${i}" }))
    ]
  ])
  of_keys = length(var.kms_key_arns) == 0 ? [] : [jsonencode({
    Sid = "ReadEncrypted", Effect = "Allow", Action = ["kms:Decrypt"], Resource = var.kms_key_arns
  })]
}

output "json" {
  description = "The policy of the role."
  value = jsonencode({
    Version   = "2012-10-17"
    Statement = [for s in concat(local.of_buckets, local.of_keys) : jsondecode(s)]
  })
}

output "hardening" {
  description = "Statements for each bucket's own policy, by bucket: nobody but deleters deletes control files, nobody but owners changes lifecycle rules. A statement for which nobody is named is left out: it would hold for all."
  value = {
    for bucket in var.buckets : bucket => jsonencode({
      Version = "2012-10-17"
      Statement = [
        for s in [
          {
            sid      = "KeepControlFiles"
            action   = ["s3:DeleteObject", "s3:DeleteObjectVersion"]
            resource = "arn:${var.partition}:s3:::${bucket}/*/control/etcd-cluster-*"
            but      = var.deleter_arns
          },
          {
            sid      = "KeepLifecycleRules"
            action   = ["s3:PutLifecycleConfiguration"]
            resource = "arn:${var.partition}:s3:::${bucket}"
            but      = var.owner_arns
          },
          ] : {
          Sid       = s.sid
          Effect    = "Deny"
          Principal = "*"
          Action    = s.action
          Resource  = s.resource
          Condition = { ArnNotLike = { "aws:PrincipalArn" = s.but } }
        } if length(s.but) > 0
      ]
    })
  }
}

variable "deleter_arns" {
  description = "Who may delete control files: those who run `kops delete cluster`. ARNs, with * as a wildcard."
  type        = list(string)
  default     = []
}

variable "owner_arns" {
  description = "Who may change lifecycle rules: the role that applies the bucket's code. ARNs, with * as a wildcard."
  type        = list(string)
  default     = []
}
