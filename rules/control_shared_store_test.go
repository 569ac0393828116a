package rules

import (
	"testing"

	"backstop/audit"
)

func sharedWith(others ...string) func(o *audit.Observation) {
	return kopsSays(func(k *audit.Kops) { k.SharedWith = others })
}

var controlSharedStoreSuite = suite{cases: cases{
	"main and events of one cluster": {is: "speaks", seen: sharedWith("prod.example.com/events"),
		want: []string{"critical: kops gives this store to prod.example.com/main and to prod.example.com/events: they read one spec and one command queue"},
		says: []string{"Do NOT restore from this store", "copy this store's control/ to the new place FIRST", "control/"}},
	"three of two clusters": {is: "speaks", seen: sharedWith("prod.example.com/events", "test.example.com/main"), want: []string{"critical: to prod.example.com/events, test.example.com/main"}},

	"one is its own": {is: "boundary", seen: sharedWith()},

	"nothing is wrong":      {is: "silent"},
	"kops says all is well": {is: "silent", seen: kopsSays(nil)},

	"what kops says was not seen": {is: "blind", seen: all(sharedWith("prod.example.com/events"), unseen(audit.FactKops))},
}}

func TestControlSharedStore(t *testing.T) { controlSharedStoreSuite.cases.run(t, controlSharedStore) }
