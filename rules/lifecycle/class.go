package lifecycle

// minimumSize is the size in bytes from which the transition size default lets
// an object change class. Exactly this size is large enough (user guide,
// lifecycle-transition-general-considerations).
const minimumSize = 128 << 10

// class is a storage class or archive tier in the order in which S3 prefers
// them on a tie: the cheaper first, Intelligent-Tiering before everything but
// the two archive classes (user guide, lifecycle-conflicts; the place of
// GLACIER_IR is inferred).
type class uint8

const (
	deepArchive class = iota
	glacier
	intelligentTiering
	glacierIR
	oneZoneIA
	standardIA
	standard
	otherClass
)

// classOf returns the class of a name of the S3 API. Empty means STANDARD,
// which listings of other servers leave out.
func classOf(name string) class {
	switch name {
	case "DEEP_ARCHIVE", "DEEP_ARCHIVE_ACCESS":
		return deepArchive
	case "GLACIER", "ARCHIVE_ACCESS":
		return glacier
	case "INTELLIGENT_TIERING":
		return intelligentTiering
	case "GLACIER_IR":
		return glacierIR
	case "ONEZONE_IA":
		return oneZoneIA
	case "STANDARD_IA":
		return standardIA
	case "", "STANDARD", "REDUCED_REDUNDANCY":
		return standard
	}
	return otherClass
}

// archive reports whether reads of the class fail until it is restored (user
// guide, restoring-objects).
func (c class) archive() bool { return c == deepArchive || c == glacier }

// ArchivedNow reports whether a GET of the version answers 403
// InvalidObjectState already, by its class or its archive tier.
func (v *Version) ArchivedNow() bool {
	return !v.DeleteMarker && (classOf(v.StorageClass).archive() ||
		classOf(v.StorageClass) == intelligentTiering && v.ArchiveStatus != "" && classOf(v.ArchiveStatus).archive())
}

// targets is a set of classes.
type targets uint8

func setOf(classes ...class) targets {
	var s targets
	for _, c := range classes {
		s |= 1 << c
	}
	return s
}

// waterfall lists where a transition may go from each class (user guide,
// lifecycle-transition-general-considerations). STANDARD may go anywhere.
var waterfall = [...]targets{
	deepArchive:        0,
	glacier:            setOf(deepArchive),
	intelligentTiering: setOf(oneZoneIA, glacierIR, glacier, deepArchive),
	glacierIR:          setOf(glacier, deepArchive),
	oneZoneIA:          setOf(glacier, deepArchive),
	standardIA:         setOf(intelligentTiering, oneZoneIA, glacierIR, glacier, deepArchive),
	standard:           setOf(standardIA, intelligentTiering, oneZoneIA, glacierIR, glacier, deepArchive),
	otherClass:         setOf(standardIA, intelligentTiering, oneZoneIA, glacierIR, glacier, deepArchive),
}

// flows reports whether a version can change to a class. Archive tiers of
// Intelligent-Tiering allow less than the class itself.
func flows(v *Version, to class) bool {
	from := waterfall[classOf(v.StorageClass)]
	if classOf(v.StorageClass) == intelligentTiering {
		switch v.ArchiveStatus {
		case "ARCHIVE_ACCESS":
			from = setOf(glacier, deepArchive)
		case "DEEP_ARCHIVE_ACCESS":
			from = setOf(deepArchive)
		}
	}
	return to < standard && from&(1<<to) != 0
}
