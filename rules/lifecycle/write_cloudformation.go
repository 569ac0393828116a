package lifecycle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// CloudFormation writes the rules as the LifecycleConfiguration of an
// AWS::S3::Bucket, in a template that holds nothing else: a bucket that a stack has
// takes the property, and CloudFormation replaces the whole configuration by it.
func (c Configuration) CloudFormation(resource, bucket string) ([]byte, error) {
	if err := c.Writable(); err != nil {
		return nil, fmt.Errorf("write CloudFormation: %w", err)
	}
	rules := []cfnRule{}
	for i := range c.Rules {
		rules = append(rules, c.Rules[i].cfn())
	}
	template := map[string]any{
		"AWSTemplateFormatVersion": "2010-09-09",
		"Resources": map[string]any{resource: map[string]any{
			"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain",
			"Properties": map[string]any{"BucketName": bucket, "LifecycleConfiguration": map[string]any{"Rules": rules}},
		}},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(template); err != nil {
		return nil, fmt.Errorf("write CloudFormation: %w", err)
	}
	return b.Bytes(), nil
}

// A cfnRule is a rule as CloudFormation has it: without a filter, sizes as strings,
// and expirations side by side.
type cfnRule struct {
	ID                             string `json:"Id,omitempty"`
	Status                         string
	Prefix                         string              `json:",omitempty"`
	TagFilters                     []Tag               `json:",omitempty"`
	ObjectSizeGreaterThan          string              `json:",omitempty"`
	ObjectSizeLessThan             string              `json:",omitempty"`
	ExpirationInDays               *int                `json:",omitempty"`
	ExpirationDate                 string              `json:",omitempty"`
	ExpiredObjectDeleteMarker      *bool               `json:",omitempty"`
	Transitions                    []cfnTransition     `json:",omitempty"`
	NoncurrentVersionExpiration    *jsonNoncurrent     `json:",omitempty"`
	NoncurrentVersionTransitions   []cfnNoncurrentMove `json:",omitempty"`
	AbortIncompleteMultipartUpload *jsonAbort          `json:",omitempty"`
}

type cfnTransition struct {
	StorageClass     string
	TransitionInDays *int   `json:",omitempty"`
	TransitionDate   string `json:",omitempty"`
}

type cfnNoncurrentMove struct {
	StorageClass            string
	TransitionInDays        *int `json:",omitempty"`
	NewerNoncurrentVersions *int `json:",omitempty"`
}

func (r *Rule) cfn() cfnRule {
	p, _ := r.plain()
	j := r.json()
	c := cfnRule{ID: r.ID, Status: r.Status, Prefix: p.prefix(), TagFilters: p.Tags,
		NoncurrentVersionExpiration: j.NoncurrentVersionExpiration, AbortIncompleteMultipartUpload: j.AbortIncompleteMultipartUpload}
	if p.ObjectSizeGreaterThan != nil {
		c.ObjectSizeGreaterThan = strconv.FormatInt(*p.ObjectSizeGreaterThan, 10)
	}
	if p.ObjectSizeLessThan != nil {
		c.ObjectSizeLessThan = strconv.FormatInt(*p.ObjectSizeLessThan, 10)
	}
	if x := j.Expiration; x != nil {
		c.ExpirationInDays, c.ExpirationDate, c.ExpiredObjectDeleteMarker = x.Days, x.Date, x.ExpiredObjectDeleteMarker
	}
	for _, t := range j.Transitions {
		c.Transitions = append(c.Transitions, cfnTransition{t.StorageClass, t.Days, t.Date})
	}
	for _, t := range j.NoncurrentVersionTransitions {
		c.NoncurrentVersionTransitions = append(c.NoncurrentVersionTransitions, cfnNoncurrentMove{t.StorageClass, t.NoncurrentDays, t.NewerNoncurrentVersions})
	}
	return c
}
