package recovery

import (
	"fmt"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// Restore gives the steps that restore the chosen snapshots of the etcd clusters of
// one Kubernetes cluster together, main first. state is each store's.
//
// The order is what matters. etcd-manager carries out the first restore that is
// queued and removes the live data before it looks for the snapshot, so the queue
// is emptied first and each name is checked; and a snapshot that its cleanup will
// delete is copied before anything else.
func Restore(choices []Choice, state func(audit.Store) etcdmanager.State) []Step {
	r := restoration{choices: choices, state: state}
	for _, c := range choices {
		if c.Chosen == nil {
			return nil
		}
	}
	steps := []Step{r.freeze(), r.copyAway(), r.prove()}
	steps = append(steps, r.lifecycleOff()...)
	steps = append(steps, r.controlFiles()...)
	steps = append(steps, r.emptyQueue(), r.queue(), r.readQueue(), r.restart(), r.watch(), r.afterwards(), r.check())
	return steps
}

type restoration struct {
	choices []Choice
	state   func(audit.Store) etcdmanager.State
}

// each makes commands for every store.
func (r restoration) each(of func(c Choice, sh shell) []string) []string {
	var all []string
	for _, c := range r.choices {
		all = append(all, of(c, shellFor(c.Observation.Store))...)
	}
	return all
}

func (r restoration) freeze() Step {
	return Step{Do: r.stillThere() + "Do NOT delete volumes and do NOT terminate control-plane nodes: after a reset what etcd held at its last moment, newer than any snapshot, lies in data-trashcan/ beside etcd's data directory on each of them (under kops /mnt/master-VOLUME/data-trashcan/). Do NOT run kops update cluster --yes, kops rolling-update or terraform apply until this is done, and stop whatever runs them by itself."}
}

// stillThere warns of a restore where etcd may hold everything still.
func (r restoration) stillThere() string {
	for _, c := range r.choices {
		switch s := r.state(c.Observation.Store); s {
		case etcdmanager.Armed, etcdmanager.Imminent, etcdmanager.Latent, etcdmanager.Stuck, etcdmanager.Blocked:
			return fmt.Sprintf("The store is %s. If etcd still answers, it holds everything: do NOT restore; `backstop plan` without --restore says how to repair the store. ", s)
		}
	}
	return ""
}

func (r restoration) copyAway() Step {
	return Step{
		Do: "Copy the snapshots away now, both objects of each: etcd-manager's cleanup goes on, and a restore is tried more than once.",
		Commands: r.each(func(c Choice, sh shell) []string {
			return []string{sh.copyAway(c.Chosen.Snapshot.Name)}
		}),
	}
}

func (r restoration) prove() Step {
	return Step{
		Do: "If there are ten minutes, try them on another machine first: this restores each with a real etcd and compares what it holds. etcd-manager wipes the live data before it opens the snapshot, so that a bad one is found out too late.",
		Commands: r.each(func(c Choice, sh shell) []string {
			return []string{sh.backstopOn("drill", c.Chosen.Snapshot.Name)}
		}),
	}
}

// lifecycleOff is for buckets that have rules, or may.
func (r restoration) lifecycleOff() []Step {
	var steps []Step
	done := map[string]bool{}
	for _, c := range r.choices {
		o := c.Observation
		if done[o.Bucket.Name] || o.Bucket.Lifecycle.State == audit.Unset {
			continue
		}
		done[o.Bucket.Name] = true
		steps = append(steps, repair{o: o, sh: shellFor(o.Store)}.lifecycleOff())
	}
	return steps
}

// controlFiles puts back what a restore needs: without created etcd-manager makes an
// empty cluster first, and without a spec nothing can be queued.
func (r restoration) controlFiles() []Step {
	var steps []Step
	for _, c := range r.choices {
		p := repair{o: c.Observation, state: r.state(c.Observation.Store), sh: shellFor(c.Observation.Store)}
		switch p.state {
		case etcdmanager.Armed, etcdmanager.Imminent:
			steps = append(steps, p.created(), p.readBack())
		case etcdmanager.Blocked:
			steps = append(steps, p.unblock(), p.readBack())
		}
		if !p.specIsGood() {
			steps = append(steps, p.spec())
		}
	}
	return steps
}

func (r restoration) emptyQueue() Step {
	queued, unseen := 0, false
	for _, c := range r.choices {
		queued += len(c.Observation.Queue.Value)
		unseen = unseen || !c.Observation.Queue.Seen()
	}
	s := Step{Do: "The command queue must be empty before anything is queued: etcd-manager carries out the oldest restore in it, and passes over the others for ever. It is empty now; look again."}
	switch {
	case unseen:
		s.Do = "Empty the command queue: etcd-manager carries out the oldest restore in it, and passes over the others for ever. (backstop could not see all of it.)"
	case queued > 0:
		s.Do = fmt.Sprintf("Empty the command queue first (%s): etcd-manager carries out the oldest restore in it, and passes over the others for ever.", count(queued, "command"))
	}
	s.Commands = r.each(func(c Choice, sh shell) []string {
		var all []string
		for _, q := range c.Observation.Queue.Value {
			all = append(all, sh.remove(q.Object.Key))
		}
		return append(all, sh.ctl("list-commands"))
	})
	return s
}

func (r restoration) queue() Step {
	with := ""
	if r.choices[0].Observation.Store.Endpoint != "" {
		with = " It takes S3_REGION, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY from the environment besides."
	}
	return Step{
		Do: "Queue the restores. Nothing happens yet. etcd-manager-ctl does not look whether the snapshot exists: paste the names, do not type them." + with,
		Commands: r.each(func(c Choice, sh shell) []string {
			return []string{sh.ctl("restore-backup " + Quote(c.Chosen.Snapshot.Name))}
		}),
	}
}

func (r restoration) readQueue() Step {
	return Step{
		Do:       "Read the queue back. Go on only when each store has exactly one command, with the name above: a name that does not exist wipes the live cluster again and again.",
		Commands: r.each(func(c Choice, sh shell) []string { return []string{sh.ctl("list-commands")} }),
	}
}

func (r restoration) restart() Step {
	members := 0
	for _, c := range r.choices {
		spec, _ := c.spec()
		members = max(members, int(spec.MemberCount))
	}
	need := ""
	if members > 1 {
		need = fmt.Sprintf(" It waits until etcd-manager runs on all %d of them.", members)
	}
	return Step{
		Do: "Restart etcd-manager on every control-plane node, at about the same time. This starts the restore, and it ends what the cluster holds now: the API server is away for some minutes." + need,
		Commands: []string{
			"# on every control-plane node:",
			"crictl stop $(crictl ps -q --label io.kubernetes.container.name=etcd-manager)",
		},
	}
}

func (r restoration) watch() Step {
	return Step{
		Do: "Watch the leader's log (the other members are silent) until it says that the quarantine is lifted. If it comes round every 10 to 20 seconds with an error, delete the command, AND restart etcd-manager again: the queue is read at a restart alone.",
		Commands: []string{
			"# on every control-plane node; /var/log/etcd-events.log for events",
			"grep -E 'restore-backup|snapshot restore|error|quarantined' /var/log/etcd.log | tail -n 20",
		},
	}
}

func (r restoration) afterwards() Step {
	_, port := kopsEtcd(r.choices[0].Observation.Store.Etcd)
	return Step{
		Do: "Revisions begin anew, lower than before, so that whatever watched the API waits for ever: restart the control plane's other containers, then the kubelet and the network plug-in on every node. Then remove the addresses of nodes that are gone from /registry/masterleases/, or every so many calls of the API fail.",
		Commands: []string{
			"# on every control-plane node:",
			"crictl stop $(crictl ps -q --name 'kube-(apiserver|controller-manager|scheduler)')",
			"ETCDCTL_API=3 etcdctl --endpoints https://127.0.0.1:" + port + " --cacert /etc/kubernetes/pki/kube-apiserver/etcd-ca.crt --cert /etc/kubernetes/pki/kube-apiserver/etcd-client.crt --key /etc/kubernetes/pki/kube-apiserver/etcd-client.key get --prefix --keys-only /registry/masterleases/",
			"# on every node:",
			"systemctl restart kubelet",
		},
	}
}

func (r restoration) check() Step {
	return Step{
		Do: "The queue must be empty again: etcd-manager removes a command when it is done, and one that is left runs at the next restart. A new snapshot must appear, and hold what the old one held.",
		Commands: r.each(func(c Choice, sh shell) []string {
			return []string{sh.ctl("list-commands"), sh.backstop("audit"), sh.backstopOn("diff", c.Chosen.Snapshot.Name, "NEW-SNAPSHOT")}
		}),
	}
}

// copyAway copies both objects of a snapshot to a place that a person names.
func (sh shell) copyAway(name string) string {
	if sh.aws == "" {
		return "cp -a " + Quote(sh.url(name)) + " SAFE-DIRECTORY/"
	}
	return sh.aws + " s3 cp --recursive " + Quote(sh.url(name)) + " s3://SAFE-BUCKET/" + Quote(sh.store.Key(name))
}

// ctl is a call of etcd-manager-ctl on the store. Flags come before the command.
func (sh shell) ctl(command string) string {
	env := ""
	if sh.store.Endpoint != "" {
		env = "S3_ENDPOINT=" + Quote(sh.store.Endpoint) + " "
	}
	return env + "etcd-manager-ctl -backup-store=" + Quote(sh.store.URL) + " " + command
}

// backstopOn is a command of ours about snapshots of the store.
func (sh shell) backstopOn(command string, names ...string) string {
	s := "backstop " + command
	if sh.store.Endpoint != "" {
		s += " --endpoint-url " + Quote(sh.store.Endpoint)
	}
	for _, name := range names {
		s += " " + Quote(sh.url(name))
	}
	return s
}
