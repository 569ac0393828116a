package main

import (
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"backstop/audit"
	"backstop/store"
)

// jobIndex is the variable in which Kubernetes gives a pod of an Indexed Job its index,
// from 0 (Kubernetes documentation, "Jobs", completion mode Indexed).
const jobIndex = "JOB_COMPLETION_INDEX"

func (o *auditOptions) addShard(f *pflag.FlagSet) {
	f.StringVar(&o.shard, "shard", "", "look at a part of the clusters alone: `INDEX/COUNT`, the index from 0; `backstop merge` puts the reports together")
	f.IntVar(&o.shards, "shards", 0, "the same, with the index from $"+jobIndex+": the `count` of shards")
}

// parseShard reads which part of the stores the run is to look at.
func (p *program) parseShard(o *auditOptions) error {
	if o.shard == "" && !o.given("shards") {
		return nil
	}
	if o.shard != "" && o.given("shards") {
		return usagef("--shard says the index and the count of shards, and --shards the count again: give one")
	}
	said := o.shard
	if said == "" {
		index, ok := p.env(jobIndex)
		if !ok {
			return usagef("--shards takes the index from $%s, which is not set; outside of a Kubernetes Indexed Job give --shard INDEX/COUNT", jobIndex)
		}
		said = index + "/" + strconv.Itoa(o.shards)
	}
	var err error
	if o.options.shard, err = store.ParseShard(said); err != nil {
		return usagef("%w", err)
	}
	switch {
	case o.watch > 0:
		return usagef("--watch is for a person who follows a repair: it does not go with --shard")
	case o.metrics.wanted() || o.notify:
		return usagef("--textfile, --pushgateway and --notify tell of all stores, and would take those of the other shards for vanished: give them to `backstop merge`, which puts the shards' -o json together")
	}
	return nil
}

// ofShard are the recorded stores of a shard. One that was not listed may stand for
// others, and is everybody's.
func ofShard(sights []sight, s store.Shard) []sight {
	if !s.Partial() {
		return sights
	}
	return slices.DeleteFunc(sights, func(one sight) bool {
		return one.Observation.Listing.Seen() && !s.Has(one.Observation.Store)
	})
}

// answerElsewhere lets none of the stores answer for the exceptions of an entry of the
// configuration of which other shards have stores: whether they are of use is not to
// be known here.
func answerElsewhere(own, fleet []audit.Policy) {
	mine, all := perEntry(own), perEntry(fleet)
	for i, p := range own {
		if mine[p.Entry] < all[p.Entry] {
			own[i].Elsewhere = p.Names()
		}
	}
}

// perEntry counts the stores of each entry with exceptions.
func perEntry(of []audit.Policy) map[string]int {
	n := map[string]int{}
	for _, p := range of {
		if p.Entry != "" && p.Any() {
			n[p.Entry]++
		}
	}
	return n
}
