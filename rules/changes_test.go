package rules

import (
	"slices"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// More changes that cases make to the healthy store.

// unseen hides a fact, as a refusal does.
func unseen(fact audit.FactName) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		switch fact {
		case audit.FactListing:
			o.Listing = denied[audit.Listing]("s3:ListBucket")
		case audit.FactCreated:
			o.Created = denied[audit.Document]("s3:GetObject")
		case audit.FactSpec:
			o.Spec = denied[audit.Document]("s3:GetObject")
		case audit.FactQueue:
			o.Queue = denied[[]audit.Command]("s3:GetObject")
		case audit.FactNewestMeta:
			o.NewestMeta = denied[audit.Document]("s3:GetObject")
		case audit.FactVersioning:
			o.Bucket.Versioning = denied[string]("s3:GetBucketVersioning")
		case audit.FactLifecycle:
			o.Bucket.Lifecycle = denied[audit.Document]("s3:GetLifecycleConfiguration")
		case audit.FactControlVersions:
			o.ControlVersions = denied[[]audit.Version]("s3:ListBucketVersions")
		case audit.FactRestoreMeta:
			o.RestoreMeta = denied[audit.Document]("s3:GetObject")
		case audit.FactVersions:
			o.Versions = denied[audit.Versions]("s3:ListBucketVersions")
		case audit.FactTags:
			o.Created.Value.Tags = denied[map[string]string]("s3:GetObjectTagging")
		case audit.FactKops:
			o.Kops = denied[audit.Kops]("s3:GetObject")
		case audit.FactKopsState:
			o.Kops.Value.Files = denied[[]audit.Object]("s3:ListBucket")
		case audit.FactObjectLock:
			o.Bucket.ObjectLock = denied[audit.ObjectLock]("s3:GetBucketObjectLockConfiguration")
		case audit.FactPublicAccessBlock:
			o.Bucket.PublicAccessBlock = denied[audit.PublicAccessBlock]("s3:GetBucketPublicAccessBlock")
		case audit.FactPublicPolicy:
			o.Bucket.PublicPolicy = denied[bool]("s3:GetBucketPolicyStatus")
		case audit.FactEncryption:
			o.Bucket.Encryption = denied[string]("s3:GetEncryptionConfiguration")
		case audit.FactUploads:
			o.Bucket.Uploads = denied[audit.Uploads]("s3:ListBucketMultipartUploads")
		case audit.FactClock:
			o.ClockOffset = audit.Unknown[time.Duration](audit.Why{Cause: audit.CauseOther, Reason: "no answer had a Date"})
		}
	}
}

// createdIs gives etcd-cluster-created another content and time.
func createdIs(body string, at time.Time) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Created = audit.Is(file(o.Store.Key(etcdmanager.CreatedPath), body, at))
	}
}

// bornAtTime is a created file as etcd-manager writes it for a birth, stored
// then.
func bornAtTime(born time.Time) func(o *audit.Observation) {
	return createdIs(string(etcdmanager.FormatCreated(born)), born)
}

// specIs gives etcd-cluster-spec another content and time.
func specIs(body string, at time.Time) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Spec = audit.Is(file(o.Store.Key(etcdmanager.SpecPath), body, at))
	}
}

// archived makes a document one that nobody can read as it is.
func archived(d *audit.Fact[audit.Document]) {
	d.Value.Body, d.Value.StorageClass = nil, "DEEP_ARCHIVE"
	d.Value.Unreadable = "storage class DEEP_ARCHIVE"
}

func archiveCreated(o *audit.Observation) { archived(&o.Created) }
func archiveSpec(o *audit.Observation)    { archived(&o.Spec) }

// snapshotsAre makes these all the snapshots, with a good meta in the newest.
func snapshotsAre(list ...audit.Snapshot) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Listing.Value.Snapshots = slices.Clone(list)
		o.NewestMeta = audit.None[audit.Document]()
		if s, _, ok := o.Listing.Value.Newest(noon); ok {
			o.NewestMeta = audit.Is(meta(o.Store, s, 3, "3.5.30"))
		}
	}
}

// eachSnapshot changes every snapshot of the listing.
func eachSnapshot(change func(s *audit.Snapshot)) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		for i := range o.Listing.Value.Snapshots {
			change(&o.Listing.Value.Snapshots[i])
		}
	}
}

// ofStore is the healthy store, for snapshots that are made by hand.
var ofStore = healthy().Store

// taken is a complete snapshot of the given age and size.
func taken(age time.Duration, size int64) audit.Snapshot {
	return snapshot(ofStore, noon.Add(-age), size)
}

// storedLate is a complete snapshot whose halves S3 dates so long after its
// name; negative, before it.
func storedLate(age, late time.Duration) audit.Snapshot {
	s := taken(age, 50_000)
	at := s.Taken.Add(late)
	s.Data.LastModified, s.Meta.LastModified = at, at.Add(time.Second)
	return s
}

// withoutMeta and withoutData leave one half of a snapshot.
func withoutMeta(s audit.Snapshot) audit.Snapshot { s.Meta = nil; return s }
func withoutData(s audit.Snapshot) audit.Snapshot { s.Data = nil; return s }

// metaIs gives the newest snapshot's meta another content.
func metaIs(body string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.NewestMeta.Value.Body = []byte(body) }
}

// versionsAre makes these all the versions of control files.
func versionsAre(list ...audit.Version) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.ControlVersions = audit.Is(list) }
}

// old is a version that is no longer the latest.
func old(path, id string, at time.Time) audit.Version {
	return audit.Version{Object: audit.Object{Key: ofStore.Key(path), Size: 33, LastModified: at}, VersionID: id}
}

// latest is a version that is the latest.
func latest(path, id string, at time.Time) audit.Version {
	v := old(path, id, at)
	v.Latest = true
	return v
}

// hidden is a control file under a delete marker: the marker, and the version
// of the healthy store below it.
func hidden(path string, at time.Time) []audit.Version {
	return []audit.Version{marker(ofStore.Key(path), at), old(path, "v-good", birth)}
}

func unversioned(o *audit.Observation) {
	o.Bucket.Versioning = audit.None[string]()
	o.ControlVersions, o.Versions = audit.None[[]audit.Version](), audit.None[audit.Versions]()
	o.Created.Value.VersionID, o.Spec.Value.VersionID = "", ""
}

func suspended(o *audit.Observation) { o.Bucket.Versioning = audit.Is("Suspended") }
