// Package kops is what backstop knows of a kops state store: which clusters
// there are, and for each etcd cluster of them where its backups go, how many
// members it has, of which version, how often it is backed up and how long the
// backups are kept.
//
// A state store holds two documents of a cluster that tell it (docs/state.md,
// pkg/apis/kops/registry/registry.go of kops):
//
//   - CLUSTER/config, the spec as its owner wrote it, in the state store;
//   - cluster-completed.spec, the same with all defaults filled in, below the
//     cluster's configBase, which is CLUSTER in the state store unless the owner
//     chose another place. `kops update cluster --yes`, or `terraform apply`,
//     writes it and nothing else does (kubernetes/kops#9229).
//
// So the completed spec is what runs, and what config says otherwise is what
// would run after the next update: see [Merge]. Until 2020 kops wrote a
// cluster.spec instead, in no version of its API, and already when the cluster
// was edited (the same pull request). It is not read: a cluster that was updated
// since may still have one, and it is stale.
//
// The facts come from kubernetes/kops: pkg/apis/kops/v1alpha2/cluster.go and
// v1alpha3/cluster.go for the fields, pkg/model/components/etcdmanager for what
// kops makes of them, util/pkg/vfs for locations. What etcd-manager makes of
// them comes from kubernetes-sigs/etcd-manager. Both are cited where they are
// used. The package reads no store and no clock.
package kops
