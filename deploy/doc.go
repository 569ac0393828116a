// Package deploy holds what is applied and no code: the IAM policy, the Terraform
// module, the Helm chart and what it renders, alerting rules, a dashboard. Its tests hold
// them against the programs that read them.
package deploy
