package lifecycle

// Provider is whose server runs the rules.
type Provider uint8

// The providers whose lifecycle differs, as far as their documentation or
// source shows. An unknown provider is predicted with the earlier of the AWS
// and the MinIO reading.
const (
	// AWS is Amazon S3.
	AWS Provider = iota + 1
	// MinIO: source of minio/minio, internal/bucket/lifecycle.
	MinIO
	// RGW is Ceph's gateway: source of ceph/ceph, src/rgw/rgw_lc.cc. It works
	// in its own local time, so every date is uncertain by the offset to UTC.
	RGW
	// Spaces is DigitalOcean's store, built on Ceph; it has no classes.
	Spaces
	// Wasabi has no archive classes.
	Wasabi
	// B2 is Backblaze: every bucket is versioned, nothing changes class.
	B2
	// R2 is Cloudflare: no versions, so expiration destroys.
	R2
	// GCS has a grammar of its own; only its S3-shaped rules are read here.
	GCS
	// OVH follows AWS.
	OVH
	// NooBaa follows AWS.
	NooBaa
	// Scality follows AWS and lets expirations have zero days.
	Scality
	// Moto is a test double that runs no rules.
	Moto
	// LocalStack is a test double that runs no rules.
	LocalStack
)

var providerNames = [...]string{"unknown", "AWS", "MinIO", "Ceph RGW", "DigitalOcean Spaces", "Wasabi", "Backblaze B2",
	"Cloudflare R2", "Google Cloud Storage", "OVHcloud", "NooBaa", "Scality", "moto", "LocalStack"}

// String returns the provider's name.
func (p Provider) String() string {
	if int(p) < len(providerNames) {
		return providerNames[p]
	}
	return "invalid"
}

// reading is how a server interprets rules where servers differ.
type reading struct {
	// nextDay: an age that ends exactly at midnight waits another day.
	nextDay bool
	// sameDay: it does not; the documentation of neither AWS nor the others
	// decides, so for most servers both are false and the date is ambiguous.
	sameDay bool
	// zeroAtOnce: zero days mean now, not the next midnight.
	zeroAtOnce bool
	// cleansMarkers: lone markers go without any rule.
	cleansMarkers bool
	// tiers: class names are names of remote tiers. There is no waterfall, no
	// size default, and the objects stay readable.
	tiers bool
	// noClasses: nothing changes class.
	noClasses bool
	// deleteFirst: every deletion, also by marker, goes before a transition.
	deleteFirst bool
	// latestInRule: of the actions of one rule that are due the one that became
	// due last is taken.
	latestInRule bool
	// anySizeMarker: size bounds are ignored for delete markers.
	anySizeMarker bool
	// anyTagMarker: tags are ignored for lone delete markers.
	anyTagMarker bool
	// keepMarkerByDate: Expiration.Date leaves lone markers alone.
	keepMarkerByDate bool
	// markerAtOnce: lone markers go under any expiration, whatever their age and
	// its date (measured on RGW 16.2.15).
	markerAtOnce bool
	// extensions: MinIO's additional elements are obeyed.
	extensions bool
	// idle: rules are stored and never run.
	idle bool
}

var (
	readingAWS   = reading{}
	readingMinIO = reading{nextDay: true, zeroAtOnce: true, tiers: true, deleteFirst: true, anySizeMarker: true,
		keepMarkerByDate: true, extensions: true}
	readingRGW = reading{sameDay: true, zeroAtOnce: true, tiers: true, latestInRule: true, anyTagMarker: true, markerAtOnce: true}
)

// Caveat returns what about the provider no prediction of this package can
// take into account, empty for nothing.
func (p Provider) Caveat() string {
	switch p {
	case Unknown:
		return "provider unverified: the earlier of the AWS and the MinIO reading is shown"
	case MinIO:
		return "a scanner runs the rules whenever it comes by"
	case RGW, Spaces:
		return "rules run in the local time of the gateway, up to 14 hours before UTC, and a debug setting can turn days into seconds"
	case Wasabi:
		return "rules run at 00:00 UTC and may take another 24 to 48 hours"
	case GCS:
		return "only rules of the S3 form are read, and deleted objects may remain in soft delete"
	case Moto, LocalStack:
		return "test double: rules are stored and never run"
	}
	return ""
}

// reading returns how the provider reads rules.
func (p Provider) reading() reading {
	switch p {
	case MinIO:
		return readingMinIO
	case RGW:
		return readingRGW
	case Spaces:
		r := readingRGW
		r.noClasses = true
		return r
	case Wasabi:
		return reading{noClasses: true}
	case B2:
		return reading{noClasses: true, cleansMarkers: true}
	case R2:
		return reading{tiers: true}
	case GCS:
		return reading{tiers: true, deleteFirst: true}
	case Moto, LocalStack:
		return reading{idle: true}
	}
	return readingAWS
}

// versioning returns the versioning state rules really work under.
func (b *Bucket) versioning() Versioning {
	switch {
	case b.DirectoryBucket, b.Provider == R2:
		return Off
	case b.Provider == B2:
		return Enabled
	}
	return b.Versioning
}
