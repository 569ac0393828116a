package etcdmanager

import (
	"encoding/json"
	"fmt"
	"time"
)

// A ClusterSpec is what a cluster is meant to be: message ClusterSpec of
// etcd-manager's pkg/apis/etcd/etcdapi.proto. A field that is absent, null or
// zero is all one to etcd-manager, and zero here.
type ClusterSpec struct {
	MemberCount int32
	EtcdVersion string
}

// A BackupInfo is the content of a backup's meta file: message BackupInfo of
// etcd-manager's pkg/apis/etcd/etcdapi.proto.
type BackupInfo struct {
	// EtcdVersion is the version that ran when the backup was taken.
	EtcdVersion string
	// Timestamp is when the backup was named, in whole seconds, UTC. It is the
	// zero Time if absent or 0, which are the same to etcd-manager. Any other
	// value of the document is Timestamp.Unix(), even one that no calendar
	// holds: compare such a Timestamp with others only after a look at its year.
	Timestamp time.Time
	// ClusterSpec is the spec in force at the time, nil if absent or null.
	ClusterSpec *ClusterSpec
}

// A Command is an entry of the command queue: message Command of etcd-manager's
// pkg/apis/etcd/etcdapi.proto. Its only action is restoreBackup; one with none
// is well formed and stays in the queue without effect.
type Command struct {
	// Timestamp is when the command was queued, UTC, the zero Time if absent
	// or 0.
	Timestamp time.Time
	// Nanos is the same as the document has it, Unix time in nanoseconds.
	// etcd-manager orders the queue by it, so a command without a timestamp
	// comes first (pkg/commands/vfs.go).
	Nanos int64
	// Restore is the restore that is asked for, nil if absent or null.
	Restore *RestoreBackup
}

// A RestoreBackup asks for a backup to be restored: message
// RestoreBackupCommand of etcd-manager's pkg/apis/etcd/etcdapi.proto.
type RestoreBackup struct {
	Backup string // the name of the backup, a directory of the store
	// ClusterSpec is what to restore into, nil if absent or null; without one
	// etcd-manager refuses the command (pkg/controller/controller.go).
	ClusterSpec *ClusterSpec
}

// ParseSpec reads control/etcd-cluster-spec as etcd-manager does.
//
// etcd-manager reads this document, the meta file and the commands with
// protojson.Unmarshal (pkg/apis/etcd/json.go), which is stricter than
// encoding/json: no unknown, repeated or differently cased field, nothing before
// or behind the object, no invalid UTF-8. ParseSpec, [ParseMeta] and
// [ParseCommand] accept and refuse exactly what it does since protobuf 1.36.12.
// Before, and so presumably in etcd-manager v3.0.20260707, it read only the start
// of a quoted number, "3 x" as 3 (golang/protobuf#1703); that is refused here.
//
// Their errors say what was expected, and at which offset in bytes.
func ParseSpec(b []byte) (ClusterSpec, error) {
	var s ClusterSpec
	if err := readDocument(b, s.fields()); err != nil {
		return ClusterSpec{}, err
	}
	return s, nil
}

// ParseMeta reads a backup's _etcd_backup.meta as etcd-manager does: see
// [ParseSpec]. The timestamp is Unix time in seconds (pkg/backup/vfs.go).
func ParseMeta(b []byte) (BackupInfo, error) {
	var info BackupInfo
	var seconds int64
	err := readDocument(b, []field{
		textField("etcdVersion", "etcd_version", &info.EtcdVersion),
		intField("timestamp", "timestamp", &seconds),
		specField(&info.ClusterSpec),
	})
	if err != nil {
		return BackupInfo{}, err
	}
	if seconds != 0 {
		info.Timestamp = time.Unix(seconds, 0).UTC()
	}
	return info, nil
}

// ParseCommand reads a _command.json as etcd-manager does: see [ParseSpec]. The
// timestamp is Unix time in nanoseconds (pkg/commands/vfs.go). One command that
// does not parse hides the whole queue from etcd-manager.
func ParseCommand(b []byte) (Command, error) {
	var c Command
	err := readDocument(b, []field{
		intField("timestamp", "timestamp", &c.Nanos),
		objectField("restoreBackup", "restore_backup", func() []field {
			c.Restore = new(RestoreBackup)
			return []field{
				specField(&c.Restore.ClusterSpec),
				textField("backup", "backup", &c.Restore.Backup),
			}
		}),
	})
	if err != nil {
		return Command{}, err
	}
	if c.Nanos != 0 {
		c.Timestamp = time.Unix(0, c.Nanos).UTC()
	}
	return c, nil
}

// CreatedTimestamp gives the time that control/etcd-cluster-created holds, Unix
// time in nanoseconds, UTC. ok is false where there is none, or 0.
//
// etcd-manager writes it with encoding/json and never reads it: any content but
// an empty one will do (pkg/commands/vfs.go, MarkClusterCreated and
// IsNewCluster). So no content is wrong, other fields may stand beside it, and
// the number may be quoted.
func CreatedTimestamp(b []byte) (t time.Time, ok bool) {
	var doc struct {
		Timestamp json.RawMessage `json:"timestamp"`
	}
	if json.Unmarshal(b, &doc) != nil {
		return time.Time{}, false
	}
	r := reader{in: doc.Timestamp}
	nanos, err := r.integer("timestamp", 64)
	if err != nil || nanos == 0 {
		return time.Time{}, false
	}
	return time.Unix(0, nanos).UTC(), true
}

// FormatSpec gives the bytes of control/etcd-cluster-spec as kops writes them
// (pkg/model/components/etcdmanager/model.go): json.MarshalIndent, no newline
// at the end. What etcd-manager writes differs in white space.
func FormatSpec(s ClusterSpec) []byte {
	b, err := json.MarshalIndent(struct {
		MemberCount int32  `json:"memberCount,omitempty"`
		EtcdVersion string `json:"etcdVersion,omitempty"`
	}(s), "", "  ")
	if err != nil {
		panic(err) // a number and a string always marshal
	}
	return b
}

// FormatCreated gives the bytes of control/etcd-cluster-created as etcd-manager
// writes them for a cluster that was created at t (pkg/commands/vfs.go). They
// are never empty, whatever t, but only a year from 1678 to 2262 can be told in
// nanoseconds.
func FormatCreated(t time.Time) []byte {
	return fmt.Appendf(nil, `{"timestamp":%d}`, t.UnixNano())
}

func (s *ClusterSpec) fields() []field {
	return []field{
		intField("memberCount", "member_count", &s.MemberCount),
		textField("etcdVersion", "etcd_version", &s.EtcdVersion),
	}
}

func specField(to **ClusterSpec) field {
	return objectField("clusterSpec", "cluster_spec", func() []field {
		*to = new(ClusterSpec)
		return (*to).fields()
	})
}
