package lifecycle

// block is a set of reasons for which an action was not offered. The highest
// one explains why nothing happens: the closer to acting, the higher.
type block uint32

const (
	blockDisabled block = 1 << iota
	blockNoMatch
	blockAbortOnly
	blockCurrentOnly
	blockNoncurrentOnly
	blockUnversioned
	blockDirectory
	blockMarkerOnly
	blockFlagFalse
	blockMarkerKept
	blockMarkerCovers
	blockWaterfall
	blockBelow128K
	blockRetained
	blockLegalHold
	blockPending
	blockFailed
	blockNeverRuns
)

var blockReasons = [...]Reason{
	ReasonDisabled, ReasonNoMatch, ReasonAbortOnly, ReasonCurrentOnly, ReasonNoncurrentOnly, ReasonUnversioned,
	ReasonDirectoryBucket, ReasonMarkerOnly, ReasonMarkerFlagFalse, ReasonMarkerKept, ReasonMarkerCovers,
	ReasonWaterfall, ReasonBelow128K, ReasonRetained, ReasonLegalHold, ReasonPending, ReasonFailed, ReasonNeverRuns,
}

func (e *evaluation) block(b block) { e.found.blocks |= b }

// reason explains an evaluation that found nothing.
func (b block) reason() Reason {
	reason := ReasonNoLifecycle
	for i, r := range blockReasons {
		if b&(1<<i) != 0 {
			reason = r
		}
	}
	return reason
}
