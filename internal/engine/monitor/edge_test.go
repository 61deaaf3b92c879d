package monitor_test

import (
	"bytes"
	"crypto/hpke"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/sentence"
	"tocsin/internal/datasource"
	"tocsin/internal/edge"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/evaluator/remote"
	"tocsin/internal/engine/monitor"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/node"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/platform/secret"
)

// edges is a center whose account has the rule 1 on the datasources 1 of the server and 2 and 3 of the cluster fra.
type edges struct {
	*apitest.Server
	t       *testing.T
	center  *monitor.Service
	start   func() *monitor.Service // of another process
	handler http.Handler
	key     string
}

func newEdges(t *testing.T) *edges {
	t.Helper()
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "keys"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	before, err := db.Open(t.Context(), dbtest.Migrated(t)) // of a service that is made before its server
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { before.Close() })
	config := monitor.Config{
		DB: before, Keyring: keyring, Clock: clock.At(apitest.Now), Log: slog.New(slog.DiscardHandler), Decide: jobs.NewSignal(),
		Guesses: api.NewKeyGuesses(&ratelimit.Share{}),
	}
	center := monitor.New(config)
	s := apitest.Start(t, alertrule.New(alertrule.Config{States: center.States}).Ops(), center.Ops(), (&datasource.Service{Keyring: keyring}).Ops(),
		(&edge.Service{}).Ops(), channel.Ops(keyring))
	config.DB, config.Clock = s.Again(), s.Clock
	config.Own = &selfalert.Service{DB: config.DB, Decide: jobs.NewSignal(), Notify: notify.New(notify.Config{
		DB: config.DB, Bus: &activity.Bus{}, Keyring: keyring, Clock: s.Clock, Log: config.Log, Can: func(string) bool { return true }, Links: &notify.Links{},
	})}
	config.Nodes = node.New(node.Config{DB: config.DB, Clock: s.Clock, SealKeys: func() []string { return nil }, Offset: func() time.Duration { return 0 }})
	center.Config = config
	e := &edges{Server: s, t: t, center: center, start: func() *monitor.Service { return monitor.New(config) }}
	mux := http.NewServeMux()
	for path, endpoint := range e.center.Edges() {
		mux.Handle(path, s.Frame.Endpoint(endpoint))
	}
	e.handler = mux
	for name, cluster := range map[string]string{"a": "default", "b": "fra", "c": "fra"} {
		e.do("/monit/datasource/create", fmt.Sprintf(`{"type_ident": "prometheus", "name": %q, "address": "http://p:9090", "edge_cluster_name": %q,
			"payload": {"prometheus": {"basic_auth_enabled": true, "basic_auth_username": "u", "basic_auth_password": "hunter2"}}}`, name, cluster))
	}
	e.do("/monit/rule/create", `{"name": "Disk", "ds_type": "prometheus", "ds_list": ["*"], "cron_pattern": "@every 30s",
		"rule_configs": {"queries": [{"name": "A", "expr": "disk"}], "check_threshold": {"enabled": true, "critical": "$A > 95"}}}`)
	e.key = e.newKey("fra")
	return e
}

func (e *edges) do(path, body string) apitest.Reply {
	e.t.Helper()
	r := e.Call(apitest.KeyA, path, body)
	if r.Code != "" {
		e.t.Fatalf("%s: %s", path, r.Body)
	}
	return r
}

func (e *edges) newKey(cluster string) string {
	e.t.Helper()
	var made struct{ Key string }
	e.do("/monit/edge/key/create", fmt.Sprintf(`{"key_name": "k", "cluster_name": %q}`, cluster)).Into(&made)
	return made.Key
}

// member is a member of the cluster.
type member struct {
	*edges
	remote.Member
	key     string
	private hpke.PrivateKey
	slots   map[int64]int64
	watches []remote.Assigned
	seq     int64
}

func (e *edges) join(name string) *member {
	e.t.Helper()
	private, err := hpke.MLKEM768X25519().GenerateKey()
	if err != nil {
		e.t.Fatal(err)
	}
	m := &member{edges: e, key: e.key, private: private}
	m.restart(name, "1")
	return m
}

// restart joins with a new process of the member.
func (m *member) restart(name, run string) {
	m.t.Helper()
	m.Run = run
	var reply remote.JoinReply
	m.must(remote.PathJoin, remote.JoinRequest{
		Name: name, Version: "1.0", Types: []string{"prometheus"}, PublicKey: m.private.PublicKey().Bytes(), Run: run, At: m.Clock.Now().Add(2 * time.Minute).UnixMilli(),
	}, &reply)
	m.EdgeID = reply.EdgeID
}

// call calls an endpoint and returns the code of its error.
func (m *member) call(path string, in, out any) string {
	m.t.Helper()
	body, err := remote.Marshal(in)
	if err != nil {
		m.t.Fatal(err)
	}
	q := httptest.NewRequestWithContext(m.t.Context(), http.MethodPost, path, bytes.NewReader(body))
	q.Header.Set("Authorization", "Bearer "+m.key)
	w := httptest.NewRecorder()
	m.handler.ServeHTTP(w, q)
	var reply struct {
		Data  json.RawMessage
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
		m.t.Fatalf("%s: %v in %s", path, err, w.Body)
	}
	if reply.Error.Code == "InternalError" {
		m.t.Errorf("%s: %s", path, w.Body)
	}
	if reply.Error.Code == "" && out != nil {
		if err := remote.Unmarshal(reply.Data, out); err != nil {
			m.t.Fatal(err)
		}
	}
	return reply.Error.Code
}

func (m *member) must(path string, in, out any) {
	m.t.Helper()
	if code := m.call(path, in, out); code != "" {
		m.t.Fatalf("%s: %s", path, code)
	}
}

// sync reports, holding the slots that it has, and takes over what it is given.
func (m *member) sync(digests map[int64]uint64) remote.SyncReply {
	m.t.Helper()
	var reply remote.SyncReply
	in := remote.SyncRequest{Member: m.Member, Report: evaluator.Report{At: m.Clock.Now().Add(2 * time.Minute), Digests: digests, Held: map[int64]bool{}}}
	for slot := range m.slots {
		in.Held[slot] = true
	}
	m.must(remote.PathSync, in, &reply)
	m.slots = reply.Slots
	var config remote.WatchesReply
	m.must(remote.PathWatches, remote.WatchesRequest{Member: m.Member}, &config)
	m.watches = config.Watches
	return reply
}

// batch returns transitions of hosts on the datasource of a watch.
func (m *member) batch(w remote.Assigned, to evaluate.To, hosts ...string) remote.SendRequest {
	b := remote.SendRequest{Rule: w.Rule, Source: w.Source, Batch: evaluator.Batch{Epoch: m.slots[w.Slot], AsOf: m.Clock.Now()}}
	for _, host := range hosts {
		b.Transitions = append(b.Transitions, transition(m.Clock.Now(), to, host))
	}
	return b
}

func transition(at time.Time, to evaluate.To, host string) evaluate.Transition {
	labels, from := map[string]string{"host": host}, ""
	if to.Ends() {
		from = "Critical"
	}
	return evaluate.Transition{
		Check: "threshold", Query: "A", Key: evaluate.Key(labels), Labels: labels, At: at, Since: at, To: to, From: from, Severity: "Critical",
		Why: []sentence.Value{sentence.New("mon_not_matched")},
	}
}

func (m *member) send(b remote.SendRequest) (taken evaluator.Taken, code string) {
	m.t.Helper()
	m.seq++
	return m.sendAs(m.seq, b)
}

func (m *member) sendAs(seq int64, b remote.SendRequest) (taken evaluator.Taken, code string) {
	m.t.Helper()
	b.Member, b.Seq = m.Member, seq
	code = m.call(remote.PathSend, b, &taken)
	return taken, code
}

// want compares how many instances are open, and how many transitions and events are stored.
func (e *edges) want(open, transitions, events int64) {
	e.t.Helper()
	(&sending{Server: e.Server, t: e.t}).want(open, transitions, events)
}

func TestEdgeHasWatchesOfItsClusterAlone(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	m := e.join("fra-1")
	if reply := m.sync(nil); len(reply.Slots) != 64 || reply.Now != e.Clock.Now().UnixMilli() {
		t.Errorf("%d slots at %d", len(reply.Slots), reply.Now)
	}
	var config remote.WatchesReply
	m.must(remote.PathWatches, remote.WatchesRequest{Member: m.Member}, &config)
	if len(config.Watches) != 2 || len(config.Rules) != 1 || len(config.Sources) != 2 {
		t.Fatalf("%d watches, %d rules, %d datasources", len(config.Watches), len(config.Rules), len(config.Sources))
	}
	text, _ := json.Marshal(config)
	if strings.Contains(string(text), "hunter2") {
		t.Error("a secret is in clear")
	}
	for _, s := range config.Sources {
		info := remote.SourceInfo(apitest.AccountA, "fra", s.ID, m.EdgeID)
		if block, err := hpke.Open(m.private, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info, s.Sealed); err != nil || !bytes.Contains(block, []byte("http://p:9090")) {
			t.Errorf("datasource %d: %s, %v", s.ID, block, err)
		}
	}
	own, err := e.center.Watches(t.Context(), apitest.AccountA)
	if err != nil || len(own) != 1 || own[0].Source.Name != "a" {
		t.Errorf("the server has %d watches, %v", len(own), err)
	}
	var unchanged remote.WatchesReply
	m.must(remote.PathWatches, remote.WatchesRequest{Member: m.Member, Have: config.Have}, &unchanged)
	if !unchanged.Unchanged || len(unchanged.Rules) > 0 {
		t.Error("what the member has is sent again")
	}
}

func TestEdgeSendIsStoredOnce(t *testing.T) {
	t.Parallel()
	m := newEdges(t).join("fra-1")
	m.sync(nil)
	w := m.watches[0]
	begin := m.batch(w, evaluate.Begin, "web1", "web2")
	for range 2 { // no reply arrived
		if taken, code := m.send(begin); code != "" || taken != (evaluator.Taken{}) {
			t.Fatal(taken, code)
		}
	}
	m.want(2, 2, 2)
	m.Clock.Add(time.Minute)
	m.send(m.batch(w, evaluate.Recovered, "web1", "web2"))
	m.want(0, 4, 4)
	m.sendAs(1, begin) // a duplicate that was held up on its way
	m.want(0, 4, 4)
	past := remote.SendRequest{Rule: w.Rule, Source: w.Source, Batch: evaluator.Batch{Epoch: m.slots[w.Slot], AsOf: m.Clock.Now(), Past: []evaluate.Transition{
		transition(m.Clock.Now().Add(-time.Minute), evaluate.Begin, "web3"), transition(m.Clock.Now(), evaluate.Gone, "web3"),
	}}}
	m.send(past)
	m.send(past)
	m.want(0, 6, 4)
}

// A member that starts with an older journal finds again what it had sent, at other moments. A history may come in parts, after
// what has followed it.
func TestHistoryChangesNothingTwice(t *testing.T) {
	t.Parallel()
	m := newEdges(t).join("fra-1")
	m.sync(nil)
	w, start := m.watches[0], m.Clock.Now()
	at := func(seconds int, to evaluate.To) evaluate.Transition {
		return transition(start.Add(time.Duration(seconds)*time.Second), to, "web1")
	}
	history := func(want string, past ...evaluate.Transition) {
		t.Helper()
		b := m.batch(w, evaluate.Begin)
		b.Past = past
		if _, code := m.send(b); code != "" {
			t.Fatal(code)
		}
		m.Read(func(tx *db.Tx) error {
			stored, err := db.All(tx, db.Column[string], `SELECT change || ' ' || ((at - $1) / 1000) FROM rule_transition ORDER BY at`, start.UnixMilli())
			if got := strings.Join(stored, ", "); got != want {
				t.Errorf("stored: %s; want %s", got, want)
			}
			return err
		})
	}
	m.send(m.batch(w, evaluate.Begin, "web1"))
	m.Clock.Add(30 * time.Second)
	m.send(m.batch(w, evaluate.Recovered, "web1"))
	m.Clock.Add(15 * time.Second)
	history("begin 0, recovered 30", at(45, evaluate.Recovered))
	history("begin 0, recovered 30", at(30, evaluate.Gone))
	history("begin 0, recovered 30", at(15, evaluate.Begin))
	m.Clock.Add(15 * time.Second)
	m.send(m.batch(w, evaluate.Begin, "web1"))
	m.Clock.Add(time.Minute)
	m.send(m.batch(w, evaluate.Recovered, "web1"))
	history("begin 0, recovered 30, begin 60, recovered 80, recovered 120", at(80, evaluate.Recovered))
	history("begin 0, recovered 30, begin 60, recovered 80, begin 100, recovered 120", at(100, evaluate.Begin))
	m.want(0, 6, 4)
}

// The history that a member sends after a cut is stored in small parts: another account's write comes between them.
func TestHistoryOfEdgeHoldsUpNoOtherAccount(t *testing.T) {
	t.Parallel()
	m := newEdges(t).join("fra-1")
	m.sync(nil)
	first, all := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(all)
		for call := range 5 {
			b := m.batch(m.watches[0], evaluate.Begin)
			for n := range remote.MaxSend {
				b.Past = append(b.Past, transition(m.Clock.Now(), evaluate.Begin, fmt.Sprint(call, "/", n)))
			}
			if _, code := m.send(b); code != "" {
				t.Error(code)
			}
			if call == 0 {
				close(first)
			}
		}
	}()
	<-first
	err := m.center.DB.WriteOf(t.Context(), apitest.AccountB, func(tx *db.Tx) error {
		return tx.Do(`UPDATE account SET account_name = 'Other' WHERE account_id = $1`, apitest.AccountB)
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-all:
		t.Error("the write has waited for the history")
	default:
	}
	<-all
	m.want(0, 5*remote.MaxSend, 0)
}

func TestFrozenEdgeIsFenced(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	e.look(5 * time.Second)
	a := e.join("fra-1")
	a.sync(nil) // alone: it has every slot
	w := a.watches[0]
	a.send(a.batch(w, evaluate.Begin, "web1"))
	e.look(5 * time.Second)
	b := e.join("fra-2")
	b.sync(nil)
	e.look(10 * time.Second)
	b.sync(nil) // the lease of the first is over
	if len(b.slots) != 64 {
		t.Fatalf("the second has %d slots", len(b.slots))
	}
	for _, to := range []evaluate.To{evaluate.Begin, evaluate.Recovered} {
		if taken, code := a.send(a.batch(w, to, "web1", "web2")); code != "" || !taken.Fenced {
			t.Errorf("%s of the frozen edge: %v %s", to, taken, code)
		}
	}
	for _, guess := range []int64{b.slots[w.Slot], 0, -1} {
		a.slots = map[int64]int64{w.Slot: guess}
		if taken, _ := a.send(a.batch(w, evaluate.Recovered, "web1")); !taken.Fenced {
			t.Errorf("an edge without the slot was taken, with epoch %d", guess)
		}
	}
	state := []evaluator.Saved{{Key: evaluator.Key{Rule: w.Rule, Datasource: w.Source}, Epoch: b.slots[w.Slot], State: "x"}}
	a.must(remote.PathSave, remote.SaveRequest{Member: a.Member, States: state}, nil)
	var stored remote.StateReply
	b.must(remote.PathState, remote.StateRequest{Member: b.Member, Keys: []evaluator.Key{state[0].Key}}, &stored)
	if len(stored.Saved) != 1 || stored.Saved[0].State != "" || len(stored.Saved[0].Open) != 1 {
		t.Errorf("stored %+v", stored.Saved)
	}
	b.must(remote.PathSave, remote.SaveRequest{Member: b.Member, States: state}, nil)
	b.must(remote.PathState, remote.StateRequest{Member: b.Member, Keys: []evaluator.Key{state[0].Key}}, &stored)
	if stored.Saved[0].State != "x" {
		t.Errorf("stored %+v", stored.Saved)
	}
	if taken, _ := b.send(b.batch(w, evaluate.Recovered, "web1")); taken.Fenced {
		t.Error("the second edge is fenced")
	}
	e.want(0, 2, 2)
}

// An instance that began since the counters of its watch were saved last has none: an edge that takes it over must know it.
func TestEdgeKnowsWhatIsOpenWithoutCounters(t *testing.T) {
	t.Parallel()
	m := newEdges(t).join("fra-1")
	m.sync(nil)
	w := m.watches[0]
	m.send(m.batch(w, evaluate.Begin, "web1"))
	key := evaluator.Key{Rule: w.Rule, Datasource: w.Source}
	var stored remote.StateReply
	m.must(remote.PathState, remote.StateRequest{Member: m.Member, Keys: []evaluator.Key{key}}, &stored)
	if len(stored.Saved) != 1 || stored.Saved[0].Rule != w.Rule || stored.Saved[0].Datasource != w.Source || len(stored.Saved[0].Open) != 1 {
		t.Errorf("stored %+v", stored.Saved)
	}
}

// A member that is alone keeps its slots over a cut, and a second one is given half of them, which the first hands over.
func TestEdgesShareSlots(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	a := e.join("fra-1")
	a.sync(nil)
	before := a.slots
	e.Clock.Add(10 * time.Minute)
	if a.sync(nil); fmt.Sprint(a.slots) != fmt.Sprint(before) {
		t.Error("a cut has changed the epochs")
	}
	b := e.join("fra-2")
	b.sync(nil)
	for range 5 {
		e.Clock.Add(5 * time.Second)
		a.sync(nil)
		b.sync(nil)
		for slot := range a.slots {
			if _, both := b.slots[slot]; both {
				t.Fatalf("slot %d has two owners", slot)
			}
		}
	}
	if len(a.slots) != 32 || len(b.slots) != 32 {
		t.Errorf("%d and %d slots", len(a.slots), len(b.slots))
	}
}

// After the server was out of reach its edges have a lease to come back: what each has found is its own.
func TestEdgesKeepSlotsOverOutage(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	e.look(5 * time.Second)
	a, b := e.join("fra-1"), e.join("fra-2")
	gone := e.join("fra-3")
	gone.sync(nil)
	for range 8 {
		e.look(5 * time.Second)
		a.sync(nil)
		b.sync(nil)
	}
	of := fmt.Sprint(a.slots, b.slots)
	if len(a.slots) != 32 || len(b.slots) != 32 {
		t.Fatalf("%d and %d slots", len(a.slots), len(b.slots))
	}
	e.Clock.Add(10 * time.Minute)
	b.sync(nil) // before the next look of the job
	e.look(10 * time.Second)
	b.sync(nil)
	a.sync(nil)
	if now := fmt.Sprint(a.slots, b.slots); now != of {
		t.Errorf("after an outage %s, before %s", now, of)
	}
	e.Clock.Add(10 * time.Minute)
	for range 4 { // the other does not come back
		e.look(5 * time.Second)
		b.sync(nil)
	}
	if len(b.slots) != 64 {
		t.Errorf("%d slots, want all", len(b.slots))
	}
}

func TestEdgeOfOtherProcessIsRefused(t *testing.T) {
	t.Parallel()
	m := newEdges(t).join("fra-1")
	m.sync(nil)
	old := m.batch(m.watches[0], evaluate.Begin, "web1")
	m.restart("fra-1", "2")
	m.Run = "1"
	if _, code := m.send(old); code != remote.CodeReplaced {
		t.Error(code)
	}
	m.want(0, 0, 0)
	m.EdgeID = "0000000000000000"
	if _, code := m.send(old); code != "ResourceNotFound" {
		t.Error(code)
	}
}

func TestEdgeSpeaksOfItsOwnAlone(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	m := e.join("fra-1")
	m.sync(nil)
	w := m.watches[0]
	other := w
	other.Source = 1 // of the server
	for id := uint64(1); id <= 3; id++ {
		if !slices.ContainsFunc(m.watches, func(w remote.Assigned) bool { return w.Source == id }) {
			other.Source = id
		}
	}
	unknown := w
	unknown.Rule = 99
	for _, one := range []remote.Assigned{other, unknown} {
		if taken, code := m.send(m.batch(one, evaluate.Begin, "web1")); code != "" || !taken.Gone && !taken.Fenced {
			t.Errorf("%+v: %v %s", one, taken, code)
		}
	}
	m.must(remote.PathSave, remote.SaveRequest{Member: m.Member, States: []evaluator.Saved{
		{Key: evaluator.Key{Account: apitest.AccountB, Rule: 99, Datasource: w.Source}, State: "x", Epoch: 1},
	}}, nil)
	m.must(remote.PathSync, remote.SyncRequest{Member: m.Member, Report: evaluator.Report{Watches: []evaluator.WatchState{
		{Key: evaluator.Key{Account: apitest.AccountB, Rule: w.Rule, Datasource: other.Source}, Unknown: true},
	}, Sources: []evaluator.SourceState{{Account: apitest.AccountA, ID: other.Source, Lost: true}}}}, nil)
	e.want(0, 0, 0)
	e.Read(func(tx *db.Tx) error {
		n, err := db.All(tx, db.Column[int64], `SELECT 1 FROM watch_state UNION ALL SELECT 2 FROM rule_watch UNION ALL SELECT 3 FROM own_alert`)
		if len(n) > 0 {
			t.Errorf("stored: %v", n)
		}
		return err
	})
	wrong := map[string]func(*evaluate.Transition){
		"key":      func(x *evaluate.Transition) { x.Key = "0" },
		"severity": func(x *evaluate.Transition) { x.Severity = "Ok" },
		"kind":     func(x *evaluate.Transition) { x.To = "done" },
		"check":    func(x *evaluate.Transition) { x.Check = "" },
		"reason":   func(x *evaluate.Transition) { x.To, x.Why = evaluate.Recovered, nil },
	}
	for name, change := range wrong {
		b := m.batch(w, evaluate.Begin, "web1")
		change(&b.Transitions[0])
		if _, code := m.send(b); code != "InvalidParameter" {
			t.Errorf("%s: %q", name, code)
		}
	}
}

func TestStrangerIsNoEdge(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	m := e.join("fra-1")
	m.sync(nil)
	genuine := m.key
	for _, key := range []string{"", "ek_0", apitest.KeyA} {
		m.key = key
		if m.call(remote.PathSync, remote.SyncRequest{Member: m.Member}, nil) != "Unauthorized" {
			t.Errorf("key %q", key)
		}
	}
	m.key = e.newKey("ams") // of another cluster
	if code := m.call(remote.PathSync, remote.SyncRequest{Member: m.Member}, nil); code != "ResourceNotFound" {
		t.Error(code)
	}
	code := ""
	for m.key = "ek_guess"; code != "RequestTooFrequently"; {
		code = m.call(remote.PathSync, nil, nil)
		if code != "Unauthorized" && code != "RequestTooFrequently" {
			t.Fatal(code)
		}
	}
	m.key = genuine
	m.must(remote.PathSync, remote.SyncRequest{Member: m.Member}, nil)
	e.Exec(`UPDATE edge_key SET status = 'disabled'`)
	if code := m.call(remote.PathSync, remote.SyncRequest{Member: m.Member}, nil); code != "Unauthorized" && code != "RequestTooFrequently" {
		t.Error(code)
	}
}

func TestEdgeWithWrongClockWritesNoFuture(t *testing.T) {
	t.Parallel()
	m := newEdges(t).join("fra-1")
	m.sync(nil)
	b := m.batch(m.watches[0], evaluate.Begin, "web1")
	b.AsOf = b.AsOf.Add(2 * time.Minute)
	b.Transitions[0].At, b.Transitions[0].Since = b.AsOf, b.AsOf
	m.send(b)
	m.Read(func(tx *db.Tx) error {
		at, err := db.All(tx, db.Column[int64], `SELECT at FROM rule_transition UNION SELECT since FROM rule_instance UNION SELECT repeated_at FROM rule_instance`)
		if len(at) != 1 || at[0] != m.Clock.Now().UnixMilli() {
			t.Errorf("stored at %v, now is %d", at, m.Clock.Now().UnixMilli())
		}
		return err
	})
}

func TestSlotsThatDifferAreNamed(t *testing.T) {
	t.Parallel()
	m := newEdges(t).join("fra-1")
	m.sync(nil)
	w := m.watches[0]
	m.send(m.batch(w, evaluate.Begin, "web1"))
	if reply := m.sync(nil); !slices.Equal(reply.Differ, []int64{w.Slot}) {
		t.Errorf("differ: %v, want %d", reply.Differ, w.Slot)
	}
	one := transition(m.Clock.Now(), evaluate.Begin, "web1")
	digest := evaluator.DigestOf(evaluator.Key{Rule: w.Rule, Datasource: w.Source}, one.Check, one.Key, one.Severity)
	if reply := m.sync(map[int64]uint64{w.Slot: digest}); len(reply.Differ) > 0 {
		t.Errorf("differ: %v", reply.Differ)
	}
}

func TestDatasourceThatChangesItsClusterKeepsInstances(t *testing.T) {
	t.Parallel()
	e := newEdges(t)
	a := e.join("fra-1")
	a.sync(nil)
	w := a.watches[0]
	a.send(a.batch(w, evaluate.Begin, "web1"))
	e.key = e.newKey("ams")
	b := e.join("ams-1")
	e.do("/monit/datasource/update", fmt.Sprintf(`{"id": %d, "edge_cluster_name": "ams", "type_ident": "prometheus", "name": "b", "payload": {"prometheus": {}}}`, w.Source))
	b.sync(nil)
	if len(b.watches) != 1 || b.watches[0].Source != w.Source {
		t.Fatalf("watches %+v", b.watches)
	}
	if taken, _ := a.send(a.batch(w, evaluate.Recovered, "web1")); !taken.Gone {
		t.Error("the old cluster was taken")
	}
	var stored remote.StateReply
	b.must(remote.PathState, remote.StateRequest{Member: b.Member, Keys: []evaluator.Key{{Rule: w.Rule, Datasource: w.Source}}}, &stored)
	if len(stored.Saved) != 1 || len(stored.Saved[0].Open) != 1 {
		t.Errorf("stored %+v", stored.Saved)
	}
	b.send(b.batch(b.watches[0], evaluate.Recovered, "web1"))
	e.want(0, 2, 2)
}
