# A role that may read the buckets that backstop audits, and nothing else.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "buckets" {
  description = "Names of the buckets to audit: kops's state store, and those that its clusters name for their backups."
  type        = list(string)
}

variable "name" {
  description = "Name of the role."
  type        = string
  default     = "backstop"
}

variable "kms_key_arns" {
  description = "Keys of KMS that control files and metas are encrypted with."
  type        = list(string)
  default     = []
}

variable "oidc_provider_arn" {
  description = "The cluster's OIDC provider, for a service account (IRSA); empty for none."
  type        = string
  default     = ""
}

variable "service_account" {
  description = "The service account that may assume the role, as NAMESPACE/NAME."
  type        = string
  default     = "backstop/backstop"
}

variable "trusted_arns" {
  description = "Others who may assume the role, as for an auditor outside of the cluster."
  type        = list(string)
  default     = []
}

variable "deleter_arns" {
  description = "For the output hardening: who may delete control files."
  type        = list(string)
  default     = []
}

variable "owner_arns" {
  description = "For the output hardening: who may change lifecycle rules."
  type        = list(string)
  default     = []
}

variable "tags" {
  description = "Tags of the role."
  type        = map(string)
  default     = {}
}

data "aws_partition" "current" {}

module "policy" {
  source       = "./policy"
  buckets      = var.buckets
  kms_key_arns = var.kms_key_arns
  partition    = data.aws_partition.current.partition
  deleter_arns = var.deleter_arns
  owner_arns   = var.owner_arns
}

locals {
  issuer = replace(var.oidc_provider_arn, "/^.*oidc-provider\\//", "")
}

data "aws_iam_policy_document" "trust" {
  dynamic "statement" {
    for_each = var.oidc_provider_arn == "" ? [] : [1]
    content {
      actions = ["sts:AssumeRoleWithWebIdentity"]
      principals {
        type        = "Federated"
        identifiers = [var.oidc_provider_arn]
      }
      condition {
        test     = "StringEquals"
        variable = "${local.issuer}:sub"
        values   = ["system:serviceaccount:${replace(var.service_account, "/", ":")}"]
      }
      condition {
        test     = "StringEquals"
        variable = "${local.issuer}:aud"
        values   = ["sts.amazonaws.com"]
      }
    }
  }

  dynamic "statement" {
    for_each = length(var.trusted_arns) == 0 ? [] : [1]
    content {
      actions = ["sts:AssumeRole"]
      principals {
        type        = "AWS"
        identifiers = var.trusted_arns
      }
    }
  }
}

resource "aws_iam_role" "this" {
  name               = var.name
  description        = "backstop: reads etcd-manager's backup stores, and never writes"
  assume_role_policy = data.aws_iam_policy_document.trust.json
  tags               = var.tags

  lifecycle {
    precondition {
      condition     = var.oidc_provider_arn != "" || length(var.trusted_arns) > 0
      error_message = "Nobody could assume the role: give oidc_provider_arn, or trusted_arns."
    }
  }
}

resource "aws_iam_role_policy" "this" {
  name   = "read-backup-stores"
  role   = aws_iam_role.this.id
  policy = module.policy.json
}

output "role_arn" {
  description = "For serviceAccount.roleArn of the chart, or role_arn of backstop's configuration."
  value       = aws_iam_role.this.arn
}

output "hardening" {
  description = "Policy documents for the buckets themselves, by bucket: merge them into what is there."
  value       = module.policy.hardening
}
