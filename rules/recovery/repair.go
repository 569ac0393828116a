package recovery

import (
	"fmt"
	"math"
	"strings"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// A Step is one thing to do. Steps are done in order.
type Step struct {
	// Do says what to do, and what it is for, in a sentence or two.
	Do string `json:"do"`
	// Commands are shell commands to paste. They name the store's own bucket
	// and keys; what backstop cannot know stands in capitals.
	Commands []string `json:"commands,omitempty"`
}

// Repair gives the order of repair for a store that is armed, imminent, latent,
// stuck or blocked, and nothing for the others.
//
// The order is what matters. etcd-manager makes a new, empty cluster when it
// finds a spec without created, so created goes back first. A restart runs what
// is queued, so the queue is emptied before. And nothing is restored: the live
// etcd still holds everything. (Verified on the running program: no data lost,
// backups resumed one second after the restart.)
func Repair(o *audit.Observation, state etcdmanager.State) []Step {
	r := repair{o: o, state: state, sh: shellFor(o.Store)}
	freeze, save, lifecycle, queue := r.freeze(), r.save(), r.lifecycleOff(), r.queue()
	created, readBack, spec, restart, check := r.created(), r.readBack(), r.spec(), r.restart(), r.check()
	switch state {
	case etcdmanager.Imminent:
		if r.queueIsEmpty() || r.queueIsBad() {
			// Seconds count: what needs nothing done comes when it matters. And
			// a command that does not parse is what holds the reset up.
			return []Step{created, readBack, freeze, save, lifecycle, r.specStands(), queue, restart, check}
		}
		return []Step{queue, created, readBack, freeze, save, lifecycle, r.specStands(), restart, check}
	case etcdmanager.Armed:
		return []Step{freeze, save, lifecycle, queue, created, readBack, spec, restart, check}
	case etcdmanager.Latent, etcdmanager.Stuck:
		return []Step{freeze, save, lifecycle, queue, spec, restart, check}
	case etcdmanager.Blocked:
		steps := []Step{freeze, save, lifecycle, queue, r.unblock(), readBack}
		if r.specIsGood() {
			return append(steps, r.specStands(), restart, check)
		}
		return append(steps, spec, restart, check)
	}
	return nil
}

// Titles gives what each step does, without commands, for findings.
func Titles(steps []Step) []string {
	titles := make([]string, len(steps))
	for i, s := range steps {
		titles[i] = s.Do
	}
	return titles
}

type repair struct {
	o     *audit.Observation
	state etcdmanager.State
	sh    shell
}

func (r repair) freeze() Step {
	return Step{Do: "Do NOT run kops update cluster --yes, kops rolling-update, terraform apply or etcd-manager-ctl configure-cluster until this is done, and stop whatever runs them by itself: each writes etcd-cluster-spec alone, and a spec without created is what resets the cluster."}
}

func (r repair) save() Step {
	_, port := kopsEtcd(r.o.Store.Etcd)
	return Step{
		Do: "Save a snapshot from a live member and copy it away from the node. The live etcd still holds everything: do NOT restore a backup.",
		Commands: []string{
			"# on a control-plane node; the port is 4001 for main, 4002 for events",
			"ETCDCTL_API=3 etcdctl --endpoints https://127.0.0.1:" + port +
				" --cacert /etc/kubernetes/pki/kube-apiserver/etcd-ca.crt --cert /etc/kubernetes/pki/kube-apiserver/etcd-client.crt --key /etc/kubernetes/pki/kube-apiserver/etcd-client.key snapshot save /root/before-repair.db",
		},
	}
}

// kopsEtcds are the etcd clusters that kops knows, with their client ports where
// these are known.
var kopsEtcds = []struct{ name, port string }{{"main", "4001"}, {"events", "4002"}, {"cilium", "PORT"}, {"leases", "PORT"}}

// kopsEtcd finds the etcd cluster that a store belongs to. A custom backupStore
// ends as it likes, often in etcd-main or etcd-events.
func kopsEtcd(etcd string) (name, port string) {
	for _, k := range kopsEtcds {
		if etcd == k.name || strings.HasSuffix(etcd, "-"+k.name) {
			return k.name, k.port
		}
	}
	return "NAME", "PORT"
}

func (r repair) lifecycleOff() Step {
	life := r.o.Bucket.Lifecycle
	switch {
	case life.State == audit.Unset:
		return Step{Do: "The bucket has no lifecycle rule now. If a person or a program deleted the files, find out which, so that it does not happen again."}
	case !life.Seen():
		return Step{
			Do:       "Find the lifecycle rule that deletes below this store and set its Status to Disabled, then read the configuration back. (backstop could not see it: " + life.WhyUnseen().String() + ".)",
			Commands: r.sh.lifecycle(),
		}
	}
	return Step{
		Do:       "Set every lifecycle rule that covers this store's control/ to Disabled, then read the configuration back: it takes minutes to take effect, and would delete again what is put back.",
		Commands: r.sh.lifecycle(),
	}
}

func (r repair) queue() Step {
	q := r.o.Queue
	switch {
	case !q.Seen():
		return Step{
			Do:       "Make sure that the command queue is empty: the restart below runs what is in it. (backstop could not see it: " + q.WhyUnseen().String() + ".)",
			Commands: []string{r.sh.list(etcdmanager.ControlDir + "/")},
		}
	case r.queueIsEmpty():
		return Step{Do: "The command queue is empty, as it must be: the restart below would run what is in it. Queue nothing now."}
	}
	s := Step{Do: fmt.Sprintf("Empty the command queue first (%s): the restart below runs what is in it, and a queued restore stops the live cluster.", count(len(q.Value), "command"))}
	for _, c := range q.Value {
		s.Commands = append(s.Commands, r.sh.remove(c.Object.Key))
	}
	return s
}

func (r repair) queueIsEmpty() bool { return r.o.Queue.Seen() && len(r.o.Queue.Value) == 0 }

// queueIsBad reports whether some command does not parse: it fails every refresh
// of the control store, and with it the reset.
func (r repair) queueIsBad() bool {
	for _, c := range r.o.Queue.Value {
		if _, err := etcdmanager.ParseCommand(c.Body.Value.Body); c.Body.IsSet() && err != nil {
			return true
		}
	}
	return false
}

func (r repair) created() Step {
	why := "Do NOT only remove the delete marker: the version below keeps its old date, is overdue at once, and is hidden again."
	if v, ok := GoodVersion(r.o, etcdmanager.CreatedPath); ok && r.sh.aws != "" {
		return Step{
			Do:       "Put etcd-cluster-created back FIRST, by copying its last good version over itself. " + why,
			Commands: []string{r.sh.copyVersion(v)},
		}
	}
	return Step{
		Do:       "Put etcd-cluster-created back FIRST. Its content is the time of the oldest snapshot; etcd-manager only looks that it is not empty. " + why,
		Commands: []string{r.sh.put(string(etcdmanager.FormatCreated(r.birth())), etcdmanager.CreatedPath)},
	}
}

// birth is the time for a created file made by hand: that of the oldest
// snapshot, so that the file is not taken for the trace of a reset.
func (r repair) birth() time.Time {
	for _, s := range r.o.Listing.Value.Snapshots {
		if !s.Taken.IsZero() {
			return s.Taken
		}
	}
	return r.o.Ended
}

func (r repair) unblock() Step {
	created := r.o.Created.Value
	if created.Unreadable == "" {
		return Step{
			Do:       "Write etcd-cluster-created with content: it is there, but empty, and every cycle of etcd-manager fails on it.",
			Commands: []string{r.sh.put(string(etcdmanager.FormatCreated(r.birth())), etcdmanager.CreatedPath)},
		}
	}
	return Step{
		Do: "Make etcd-cluster-created readable again (" + created.Unreadable + "): write it anew, or thaw it and copy it over itself so that it is in class STANDARD. A thaw alone ends, and the file is unreadable again.",
		Commands: []string{
			r.sh.put(string(etcdmanager.FormatCreated(r.birth())), etcdmanager.CreatedPath),
		},
	}
}

func (r repair) readBack() Step {
	return Step{
		Do:       "Read etcd-cluster-created back. Go on only when its content is shown.",
		Commands: []string{r.sh.cat(etcdmanager.CreatedPath)},
	}
}

// spec writes the spec that was in force at the newest snapshot: the cluster runs
// by it. kops's word is the next best: it is what the next `kops update cluster`
// would write, and may differ from what runs.
func (r repair) spec() Step {
	const warning = "A memberCount that is too small removes members."
	put := func(s etcdmanager.ClusterSpec, whose string) Step {
		return Step{
			Do:       fmt.Sprintf("Now put etcd-cluster-spec back, as %s: memberCount %d, etcdVersion %s. %s", whose, s.MemberCount, s.EtcdVersion, warning),
			Commands: []string{r.sh.put(string(etcdmanager.FormatSpec(s)), etcdmanager.SpecPath)},
		}
	}
	meta, err := etcdmanager.ParseMeta(r.o.NewestMeta.Value.Body)
	if r.o.NewestMeta.IsSet() && err == nil && meta.ClusterSpec != nil && meta.ClusterSpec.MemberCount >= 1 {
		return put(*meta.ClusterSpec, "the newest snapshot's meta has it")
	}
	if s, ok := kopsSpec(r.o); ok {
		return put(s, "kops asks for (no snapshot's meta could be used: compare it with what runs)")
	}
	return Step{
		Do:       "Now put etcd-cluster-spec back. memberCount is the number of control-plane members and etcdVersion the version in `kops get cluster -o yaml` (the newest snapshot's meta could not be used). " + warning,
		Commands: []string{r.sh.put("{\n  \"memberCount\": MEMBERS,\n  \"etcdVersion\": \"VERSION\"\n}", etcdmanager.SpecPath)},
	}
}

// kopsSpec is the spec that kops would write.
func kopsSpec(o *audit.Observation) (s etcdmanager.ClusterSpec, ok bool) {
	k := o.Kops.Value
	if !o.Kops.IsSet() || !k.Known || k.Members < 1 || k.Members > math.MaxInt32 || k.Version == "" {
		return s, false
	}
	return etcdmanager.ClusterSpec{MemberCount: int32(k.Members), EtcdVersion: k.Version}, true
}

func (r repair) specIsGood() bool {
	spec, err := etcdmanager.ParseSpec(r.o.Spec.Value.Body)
	return r.o.Spec.IsSet() && err == nil && spec.MemberCount >= 1
}

func (r repair) specStands() Step {
	spec, _ := etcdmanager.ParseSpec(r.o.Spec.Value.Body)
	return Step{
		Do:       fmt.Sprintf("etcd-cluster-spec is there (memberCount %d, etcdVersion %s): compare it with `kops get cluster -o yaml`, and leave it if it is right.", spec.MemberCount, spec.EtcdVersion),
		Commands: []string{r.sh.cat(etcdmanager.SpecPath)},
	}
}

// leaderLines are what the leader's log says every 10 s while the store is in
// trouble; the other members are silent.
const leaderLines = "no cluster spec set|detected that there is no existing cluster|error refreshing control store|unexpectedly empty|error checking control store"

func (r repair) restart() Step {
	name, _ := kopsEtcd(r.o.Store.Etcd)
	return Step{
		Do: "Restart the etcd-manager container on the LEADER. Another member's restart changes nothing, and deleting the pod does not restart a static pod's container. The leader is the member whose log has such lines as \"no cluster spec set\" or \"detected that there is no existing cluster\" in the last minute; if none has, it is the peer with the lowest id.",
		Commands: []string{
			"for p in $(kubectl -n kube-system get pods -l k8s-app=etcd-manager-" + name + " -o name); do echo \"$p: $(kubectl -n kube-system logs --since=1m \"$p\" | grep -cE '" + leaderLines + "')\"; done",
			"# on the node of the pod with the highest count:",
			"crictl stop $(crictl ps -q --label io.kubernetes.container.name=etcd-manager --label io.kubernetes.pod.name=POD)",
		},
	}
}

func (r repair) check() Step {
	return Step{
		Do:       "Watch until the state is running and a new snapshot has appeared, which takes at most two backup intervals. Only then lift the freeze.",
		Commands: []string{r.sh.backstop("audit --watch 10s")},
	}
}

// GoodVersion finds the newest version with content of a control file that is
// hidden or was overwritten, and that can be copied without a thaw.
func GoodVersion(o *audit.Observation, path string) (audit.Version, bool) {
	key := o.Store.Key(path)
	for _, v := range o.ControlVersions.Value {
		if v.Key == key && !v.Marker && v.Size > 0 && !v.Archived() {
			return v, true
		}
	}
	return audit.Version{}, false
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Quote makes s one word of a POSIX shell.
func Quote(s string) string {
	safe := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:=@%+,", c)
	}
	if s != "" && strings.IndexFunc(s, func(c rune) bool { return !safe(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
