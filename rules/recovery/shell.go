package recovery

import (
	"path/filepath"
	"strings"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// A shell writes commands for one store: with the AWS CLI for S3, and with
// plain tools for a directory.
type shell struct {
	store audit.Store
	aws   string // the command and its endpoint; empty for a directory
}

func shellFor(s audit.Store) shell {
	sh := shell{store: s}
	if strings.HasPrefix(s.URL, "s3://") {
		sh.aws = "aws"
		if s.Endpoint != "" {
			sh.aws += " --endpoint-url " + Quote(s.Endpoint)
		}
	}
	return sh
}

// url names an object by its path relative to the store's root.
func (sh shell) url(path string) string { return strings.TrimSuffix(sh.store.URL, "/") + "/" + path }

func (sh shell) put(content, path string) string {
	if sh.aws == "" {
		return "printf '%s' " + Quote(content) + " > " + Quote(sh.url(path))
	}
	return "printf '%s' " + Quote(content) + " | " + sh.aws + " s3 cp - " + Quote(sh.url(path))
}

func (sh shell) cat(path string) string {
	if sh.aws == "" {
		return "cat " + Quote(sh.url(path))
	}
	return sh.aws + " s3 cp " + Quote(sh.url(path)) + " -"
}

func (sh shell) list(path string) string {
	if sh.aws == "" {
		return "find " + Quote(sh.url(path)) + " -name _command.json"
	}
	return sh.aws + " s3 ls --recursive " + Quote(sh.url(path))
}

func (sh shell) remove(key string) string {
	if sh.aws == "" {
		return "rm " + Quote(filepath.Join(sh.store.URL, strings.TrimPrefix(key, sh.store.Prefix)))
	}
	return sh.aws + " s3 rm " + Quote("s3://"+sh.store.Bucket+"/"+key)
}

// copyVersion copies an old version over the object: that makes a new version
// with a new date, which is what keeps lifecycle from hiding it again at once.
func (sh shell) copyVersion(v audit.Version) string {
	return sh.aws + " s3api copy-object --bucket " + Quote(sh.store.Bucket) + " --key " + Quote(v.Key) +
		" --copy-source " + Quote(sh.store.Bucket+"/"+escapeSource(v.Key)+"?versionId="+v.VersionID)
}

// escapeSource escapes what would end the key in a copy source.
func escapeSource(key string) string {
	return strings.NewReplacer("%", "%25", "?", "%3F", "+", "%2B", " ", "%20", "#", "%23").Replace(key)
}

func (sh shell) lifecycle() []string {
	if sh.aws == "" {
		return nil
	}
	b := Quote(sh.store.Bucket)
	return []string{
		sh.aws + " s3api get-bucket-lifecycle-configuration --bucket " + b + " > lifecycle.json",
		"# in lifecycle.json: \"Status\": \"Disabled\" for the rules that match " + sh.store.Key("control") + "/",
		sh.aws + " s3api put-bucket-lifecycle-configuration --bucket " + b + " --lifecycle-configuration file://lifecycle.json",
		sh.aws + " s3api get-bucket-lifecycle-configuration --bucket " + b,
	}
}

// backstop is a command of ours about the store.
func (sh shell) backstop(command string) string {
	if sh.store.Endpoint != "" {
		command += " --endpoint-url " + Quote(sh.store.Endpoint)
	}
	return "backstop " + command + " " + Quote(sh.store.URL)
}

// DropCommand is how to take a restore command out of the queue: by deleting its
// object, or with etcd-manager-ctl, which goes by the backup's name and crashes on
// a queue that holds a command without one.
func DropCommand(o *audit.Observation, key, backup string) string {
	how := shellFor(o.Store).remove(key)
	for _, c := range o.Queue.Value {
		if cmd, err := etcdmanager.ParseCommand(c.Body.Value.Body); err != nil || cmd.Restore == nil {
			return how
		}
	}
	return how + " (or: etcd-manager-ctl -backup-store=" + Quote(o.Store.URL) + " delete-command " + Quote(backup) + ")"
}
