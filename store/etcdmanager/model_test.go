package etcdmanager

import "testing"

// Every row of the truth table, with what the leader does and what the auditor
// calls it. "cold" is a leader that has just changed, "warm" one that holds a
// cached spec.
func TestTruthTable(t *testing.T) {
	ok := World{Created: Present, Spec: Present, Quality: WithMembers, Evidence: EvidenceFound, Cached: true}
	with := func(change func(*World)) World { w := ok; change(&w); return w }
	cold := func(w *World) { w.Cached = false }
	rows := map[string]struct {
		world World
		act   Action
		fresh bool
		young bool
		state State
	}{
		"P ok: normal": {ok, ActWork, true, false, Running},
		"P ok cold":    {with(cold), ActWork, true, false, Running},
		"P M warm: backups continue from the cache, invisible": {with(func(w *World) { w.Spec = Missing }), ActWork, true, false, Latent},
		"P M cold: stuck":                                       {with(func(w *World) { cold(w); w.Spec = Missing }), ActIdle, false, false, Stuck},
		"P empty warm":                                          {with(func(w *World) { w.Spec = Empty }), ActWork, true, false, Latent},
		"P corrupt warm":                                        {with(func(w *World) { w.Quality = Bad }), ActWork, true, false, Latent},
		"P unreadable spec warm":                                {with(func(w *World) { w.Spec = Unreadable }), ActWork, true, false, Latent},
		"P empty cold: never leads":                             {with(func(w *World) { cold(w); w.Spec = Empty }), ActError, false, false, Stuck},
		"P corrupt cold: never leads":                           {with(func(w *World) { cold(w); w.Quality = Bad }), ActError, false, false, Stuck},
		"P archived spec cold":                                  {with(func(w *World) { cold(w); w.Spec = Unreadable }), ActError, false, false, Stuck},
		"P memberCount 0 cold: shrinks, so it works":            {with(func(w *World) { cold(w); w.Quality = NoMembers }), ActWork, true, false, Running},
		"P ok cold, a bad command: never leads":                 {with(func(w *World) { cold(w); w.QueueBad = true }), ActError, false, false, Running},
		"P ok cold, a restore queued: fires":                    {with(func(w *World) { cold(w); w.RestoreQueued = true }), ActRestore, true, false, Running},
		"P ok warm, a restore queued: waits":                    {with(func(w *World) { w.RestoreQueued = true }), ActWork, true, false, Running},
		"M ok: RESET":                                           {with(func(w *World) { w.Created = Missing }), ActReset, true, false, Imminent},
		"M ok, warm or cold is one":                             {with(func(w *World) { cold(w); w.Created = Missing }), ActReset, false, false, Imminent},
		"M M: ARMED":                                            {with(func(w *World) { w.Created, w.Spec = Missing, Missing }), ActIdle, true, false, Armed},
		"M empty: blocked, armed to us":                         {with(func(w *World) { w.Created, w.Spec = Missing, Empty }), ActError, true, false, Armed},
		"M truncated or unknown field":                          {with(func(w *World) { w.Created, w.Quality = Missing, Bad }), ActError, true, false, Armed},
		"M {}: refused":                                         {with(func(w *World) { w.Created, w.Quality = Missing, NoMembers }), ActError, true, false, Armed},
		"M unreadable spec":                                     {with(func(w *World) { w.Created, w.Spec = Missing, Unreadable }), ActError, true, false, Armed},
		"M memberCount 3, 1 peer: waits for peers, then resets": {with(func(w *World) { w.Created, w.NoPeers = Missing, true }), ActError, true, false, Imminent},
		"M ok, a bad command: the refresh fails":                {with(func(w *World) { w.Created, w.QueueBad = Missing, true }), ActError, true, false, Imminent},
		"E any: blocked before backups":                         {with(func(w *World) { w.Created = Empty }), ActError, true, false, Blocked},
		"E M":                                                   {with(func(w *World) { w.Created, w.Spec = Empty, Missing }), ActError, true, false, Blocked},
		"X archived: aborts every cycle, no reset":              {with(func(w *World) { w.Created = Unreadable }), ActError, true, false, Blocked},
		"X archived, spec missing":                              {with(func(w *World) { w.Created, w.Spec = Unreadable, Missing }), ActError, false, false, Blocked},
		"M ok, no evidence: first bootstrap":                    {with(func(w *World) { w.Created, w.Evidence = Missing, EvidenceNone }), ActReset, false, true, Bootstrapping},
		"M ok, no evidence, over an hour":                       {with(func(w *World) { w.Created, w.Evidence = Missing, EvidenceNone }), ActReset, false, false, Uninitialised},
		"M M, no evidence":                                      {with(func(w *World) { w.Created, w.Spec, w.Evidence = Missing, Missing, EvidenceNone }), ActIdle, false, true, Uninitialised},
		"M bad, no evidence":                                    {with(func(w *World) { w.Created, w.Quality, w.Evidence = Missing, Bad, EvidenceNone }), ActError, false, true, Uninitialised},
		"created not seen":                                      {with(func(w *World) { w.Created = NotSeen }), ActUnknown, true, false, Unknown},
		"spec not seen":                                         {with(func(w *World) { cold(w); w.Spec = NotSeen }), ActUnknown, true, false, Unknown},
		"M, spec not seen":                                      {with(func(w *World) { w.Created, w.Spec = Missing, NotSeen }), ActUnknown, true, false, Unknown},
		"M ok, evidence not seen: birth or reset?":              {with(func(w *World) { w.Created, w.Evidence = Missing, EvidenceUnknown }), ActReset, false, true, Unknown},
		"M M, evidence not seen":                                {with(func(w *World) { w.Created, w.Spec, w.Evidence = Missing, Missing, EvidenceUnknown }), ActIdle, false, true, Unknown},
		"nothing was looked at":                                 {World{}, ActUnknown, false, false, Unknown},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			if got := Next(r.world); got.Action != r.act {
				t.Errorf("Next = %s (%s), want %s", got.Action, got.Log, r.act)
			}
			if got := ClassifyState(r.world, r.fresh, r.young); got != r.state {
				t.Errorf("ClassifyState = %s, want %s", got, r.state)
			}
		})
	}
}

// The two dangerous mistakes of a model: to call a store running in which the
// next good spec, or the next cycle, makes an empty cluster.
func TestNoResetIsCalledHarmless(t *testing.T) {
	for _, created := range []Presence{NotSeen, Missing, Empty, Present, Unreadable} {
		for _, spec := range []Presence{NotSeen, Missing, Empty, Present, Unreadable} {
			for _, q := range []Quality{Bad, NoMembers, WithMembers} {
				w := World{Created: created, Spec: spec, Quality: q, Evidence: EvidenceFound}
				state, act := ClassifyState(w, true, true), Next(w).Action
				if act == ActReset && state != Imminent {
					t.Errorf("%+v resets, and is called %s", w, state)
				}
				if state == Running && act != ActWork {
					t.Errorf("%+v is called running, and etcd-manager's next action is %s", w, act)
				}
			}
		}
	}
}
