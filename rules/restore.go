package rules

// EmptyBelow is below how many bytes a snapshot holds nothing, by its size, where
// others of the store are larger.
func EmptyBelow() int64 { return emptySnapshotBytes }

// Unrestorable says why etcd-manager under kops cannot restore a backup of a version
// of etcd; empty where it can. Of a version that is newer than this program nothing
// is said against it: a newer kops has its programs.
func Unrestorable(version string) string {
	if isNewer(version) {
		return ""
	}
	return unrestorable(version)
}
