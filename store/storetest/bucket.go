package storetest

import (
	"encoding/xml"
	"net/http"

	"backstop/audit"
)

func (c *call) headBucket() error { return nil }

func (c *call) getVersioning() error {
	c.xml(struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ VersioningConfiguration"`
		Status  string   `xml:",omitempty"`
		// S3 names it only where it was ever set.
		MFADelete string `xml:"MfaDelete,omitempty"`
	}{Status: c.bucket.versioning, MFADelete: enabled(c.bucket.settings.MFADelete)})
	return nil
}

func enabled(on bool) string {
	if on {
		return "Enabled"
	}
	return ""
}

func (c *call) getObjectLock() error {
	lock := c.bucket.settings.ObjectLock
	if lock == nil {
		return refuse(http.StatusNotFound, "ObjectLockConfigurationNotFoundError", "Object Lock configuration does not exist for this bucket")
	}
	type retention struct {
		Mode string
		Days int
	}
	doc := struct {
		XMLName           xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ObjectLockConfiguration"`
		ObjectLockEnabled string
		Retention         *retention `xml:"Rule>DefaultRetention"`
	}{ObjectLockEnabled: "Enabled"}
	if lock.Mode != "" {
		doc.Retention = &retention{lock.Mode, int(lock.Retention / audit.Day)}
	}
	c.xml(doc)
	return nil
}

func (c *call) getPublicAccessBlock() error {
	b := c.bucket.settings.PublicAccessBlock
	if b == nil {
		return refuse(http.StatusNotFound, "NoSuchPublicAccessBlockConfiguration", "The public access block configuration was not found")
	}
	c.xml(struct {
		XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ PublicAccessBlockConfiguration"`
		BlockPublicAcls       bool
		IgnorePublicAcls      bool
		BlockPublicPolicy     bool
		RestrictPublicBuckets bool
	}{xml.Name{}, b.BlockPublicACLs, b.IgnorePublicACLs, b.BlockPublicPolicy, b.RestrictPublicBuckets})
	return nil
}

func (c *call) getPolicyStatus() error {
	public := c.bucket.settings.PublicPolicy
	if public == nil {
		return refuse(http.StatusNotFound, "NoSuchBucketPolicy", "The bucket policy does not exist")
	}
	c.xml(struct {
		XMLName  xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ PolicyStatus"`
		IsPublic bool
	}{IsPublic: *public})
	return nil
}

func (c *call) getEncryption() error {
	algorithm := c.bucket.settings.Encryption
	if algorithm == "" {
		return refuse(http.StatusNotFound, "ServerSideEncryptionConfigurationNotFoundError", "The server side encryption configuration was not found")
	}
	c.xml(struct {
		XMLName   xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ServerSideEncryptionConfiguration"`
		Algorithm string   `xml:"Rule>ApplyServerSideEncryptionByDefault>SSEAlgorithm"`
	}{Algorithm: algorithm})
	return nil
}

func (c *call) getLifecycle() error {
	if c.bucket.lifecycle == nil {
		return refuse(http.StatusNotFound, "NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist")
	}
	c.header.Set("Content-Type", "application/xml")
	if c.bucket.sizeDefault != "" {
		c.header.Set("X-Amz-Transition-Default-Minimum-Object-Size", c.bucket.sizeDefault)
	}
	c.body = c.bucket.lifecycle
	return nil
}

func (c *call) getLocation() error {
	region := c.region()
	if region == defaultRegion {
		region = "" // as S3 says it, for historical reasons
	}
	c.xml(struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ LocationConstraint"`
		Region  string   `xml:",chardata"`
	}{Region: region})
	return nil
}
