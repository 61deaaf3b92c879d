package remote_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/evaluator/remote"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// host is the server's side of the calls of members.
type host struct {
	*testing.T
	url string

	mu      sync.Mutex
	status  int // of an error; 0: none
	code    string
	away    bool
	moved   string // the address to which the account was moved; empty: it is here
	called  int
	key     []byte // of the member that joined last
	member  string
	watches []evaluator.Watch
	rules   func(jsontext.Value) jsontext.Value
	synced  remote.SyncRequest
	sent    []remote.SendRequest
	packed  int
}

func newHost(t *testing.T) *host {
	h := &host{T: t}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	h.url = s.URL
	return h
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.away {
		panic(http.ErrAbortHandler)
	}
	h.called++
	if h.moved != "" {
		w.Header().Set(remote.HeaderMoved, h.moved)
		w.WriteHeader(503)
		fmt.Fprintf(w, `{"request_id":"x","error":{"code":"ServiceUnavailable","message":"the account of this key has moved to %s"}}`, h.moved)
		return
	}
	if r.Header.Get("Authorization") != "Bearer ek_test" {
		h.status, h.code = 401, "Unauthorized"
	}
	if h.status != 0 {
		w.WriteHeader(h.status)
		fmt.Fprintf(w, `{"request_id":"x","error":{"code":%q,"message":"no"}}`, h.code)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		h.Error(err)
	}
	reply, err := h.reply(r.URL.Path, body)
	if err != nil {
		h.Error(err)
	}
	text, err := remote.Marshal(map[string]any{"request_id": "x", "data": reply})
	if err != nil {
		h.Error(err)
	}
	_, _ = w.Write(text) // the member may be gone
}

func (h *host) reply(path string, body []byte) (any, error) {
	switch path {
	case remote.PathJoin:
		var in remote.JoinRequest
		err := remote.Unmarshal(body, &in)
		h.key, h.member = in.PublicKey, remote.EdgeID(in.PublicKey)
		return remote.JoinReply{EdgeID: h.member, Account: 5, Cluster: "fra", Now: noon.UnixMilli()}, err
	case remote.PathSync:
		h.synced = remote.SyncRequest{}
		err := remote.Unmarshal(body, &h.synced)
		return remote.SyncReply{Now: noon.UnixMilli(), Slots: map[int64]int64{3: 9}, Revision: 4}, err
	case remote.PathWatches:
		var in remote.WatchesRequest
		if err := remote.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		reply, err := remote.Pack(in.Have, h.watches, func(id uint64, d querier.Datasource) ([]byte, error) {
			h.packed++
			return remote.SealTo(h.key, remote.SourceInfo(5, "fra", id, h.member), d)
		})
		for i := range reply.Rules {
			if h.rules != nil {
				reply.Rules[i] = h.rules(reply.Rules[i])
			}
		}
		return reply, err
	case remote.PathSend:
		var in remote.SendRequest
		err := remote.Unmarshal(body, &in)
		h.sent = append(h.sent, in)
		return evaluator.Taken{}, err
	}
	return struct{}{}, nil
}

// machine is the clock of a machine that is not set meanwhile.
type machine struct{ *clock.Corrected }

func (m machine) Now() time.Time { return m.Machine() }

// center returns the center of a process that starts in a directory.
func (h *host) center(dir string, now *clock.Corrected, log io.Writer, stop func(error)) *remote.Center {
	h.Helper()
	c, err := remote.New(remote.Config{
		Server: h.url, Key: "ek_test", Dir: dir, Name: "a", StaleConfig: time.Hour, Log: slog.New(slog.NewTextHandler(log, nil)), Stop: stop,
		Clock: now, Machine: machine{now},
		Out: egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
	})
	if err != nil {
		h.Fatal(err)
	}
	return c
}

func watch(t *testing.T) evaluator.Watch {
	schedule, err := evaluate.ParseSchedule("@every 30s")
	if err != nil {
		t.Fatal(err)
	}
	return evaluator.Watch{
		Key: evaluator.Key{Account: 5, Rule: 1, Datasource: 2}, Slot: 3, Schedule: schedule, Delay: time.Second, Severity: "Critical",
		Rule: evaluate.Rule{ID: 1, Name: "hot", Interval: 30 * time.Second, Config: evaluate.Config{Queries: []evaluate.Query{{Name: "A", Expr: "up"}}}},
		Source: evaluator.Source{ID: 2, Version: 8, Datasource: querier.Datasource{
			Type: "prometheus", Name: "p", Address: "http://p:9090", Payload: []byte(`{"password":"hunter2"}`),
		}},
	}
}

func TestMemberGetsItsWatchesSealed(t *testing.T) {
	t.Parallel()
	h, dir := newHost(t), t.TempDir()
	h.watches = []evaluator.Watch{watch(t)}
	var log strings.Builder
	c := h.center(dir, clock.Correct(clock.At(noon.Add(2*time.Minute))), &log, func(err error) { t.Error(err) })
	orders, err := c.Sync(t.Context(), evaluator.Report{})
	if err != nil || orders.Slots[3] != 9 || orders.Accounts[5] != 4 {
		t.Fatal(orders, err)
	}
	if off := c.Clock.Now().Sub(noon); off.Abs() > time.Second || !strings.Contains(log.String(), "clock of this machine is wrong") {
		t.Errorf("the clock is %v off; log: %s", off, log.String())
	}
	for range 2 { // the second time from what the first brought
		got, err := c.Watches(t.Context(), 5)
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		w, want := got[0], watch(t)
		if w.Key != want.Key || w.Slot != 3 || w.Rule.Name != "hot" || w.Schedule.Every != 30*time.Second || w.Delay != time.Second ||
			string(w.Source.Payload) != string(want.Source.Payload) || w.Source.Address != want.Source.Address || w.Source.Version != 8 {
			t.Errorf("%+v", w)
		}
	}
	if h.packed != 1 {
		t.Errorf("sealed %d times", h.packed)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}
	for _, name := range []string{"watches", "member", "journal"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "ek_test") {
			t.Errorf("%s: a secret, or %v", name, err)
		}
	}
}

func TestRuleWithUnknownMemberIsUnsupported(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.watches = []evaluator.Watch{watch(t)}
	h.rules = func(text jsontext.Value) jsontext.Value {
		return jsontext.Value(strings.Replace(string(text), `"Config":{`, `"Config":{"check_forecast":{},`, 1))
	}
	c := h.center(t.TempDir(), clock.Correct(clock.At(noon)), io.Discard, func(err error) { t.Error(err) })
	_, err := c.Sync(t.Context(), evaluator.Report{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Watches(t.Context(), 5); err != nil || len(got) != 0 {
		t.Fatal(got, err)
	}
	_, err = c.Sync(t.Context(), evaluator.Report{})
	if err != nil || len(h.synced.Watches) != 1 || h.synced.Watches[0].Kind != evaluate.Unsupported ||
		!strings.Contains(h.synced.Watches[0].Message, "check_forecast") || h.synced.Watches[0].Rule != "hot" {
		t.Errorf("%+v %v", h.synced.Watches, err)
	}
}

func TestRestartWithoutServerGoesOnUntilConfigurationIsStale(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := t.TempDir()
	machine := clock.At(noon)
	h.watches = []evaluator.Watch{watch(t)}
	c := h.center(dir, clock.Correct(machine), io.Discard, func(err error) { t.Error(err) })
	if _, err := c.Sync(t.Context(), evaluator.Report{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Watches(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	h.away = true
	h.mu.Unlock()
	var stopped error
	c = h.center(dir, clock.Correct(machine), io.Discard, func(err error) { stopped = err })
	machine.Add(time.Minute)
	orders, err := c.Sync(t.Context(), evaluator.Report{})
	if err == nil || orders.Slots[3] != 9 {
		t.Fatal(orders, err)
	}
	if got, err := c.Watches(t.Context(), 5); err != nil || len(got) != 1 || got[0].Source.Address != "http://p:9090" {
		t.Error(got, err)
	}
	machine.Add(time.Hour)
	if _, err := c.Sync(t.Context(), evaluator.Report{}); err == nil || stopped == nil || !strings.Contains(stopped.Error(), "--stale-config") {
		t.Error(err, stopped)
	}
	c = h.center(dir, clock.Correct(machine), io.Discard, func(err error) { t.Error(err) })
	if orders, err := c.Sync(t.Context(), evaluator.Report{}); err == nil || orders.Slots != nil {
		t.Error("a stale configuration is evaluated after a restart", orders)
	}
}

// A member that starts with a wrong clock and without its server learns of it when the server is back, even if that is away again
// between two calls.
func TestMemberLearnsThatItsClockWasWrong(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{0, 3 * time.Second, -time.Minute, time.Minute} {
		h, dir := newHost(t), t.TempDir()
		start := func(off time.Duration) *remote.Center {
			return h.center(dir, clock.Correct(clock.At(noon.Add(off))), io.Discard, func(err error) { t.Error(err) })
		}
		c := start(off)
		if orders, err := c.Sync(t.Context(), evaluator.Report{}); err != nil || orders.Wrong {
			t.Fatal(orders, err) // nothing was evaluated before
		}
		if _, err := c.Watches(t.Context(), 5); err != nil {
			t.Fatal(err)
		}
		h.set(func() { h.away = true })
		c = start(off)
		if orders, err := c.Sync(t.Context(), evaluator.Report{}); err == nil || orders.Slots == nil {
			t.Fatal(orders, err)
		}
		h.set(func() { h.away = false })
		if err := c.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.set(func() { h.away = true })
		if _, err := c.Sync(t.Context(), evaluator.Report{}); err == nil {
			t.Fatal("a server that is away answers")
		}
		h.set(func() { h.away = false })
		for n := range 2 {
			orders, err := c.Sync(t.Context(), evaluator.Report{})
			if want := n == 0 && off.Abs() > 5*time.Second; err != nil || orders.Wrong != want {
				t.Errorf("%s: wrong %v, want %v, %v", off, orders.Wrong, want, err)
			}
		}
	}
}

// A clock of the machine that is set while the member runs moves no time.
func TestMachineThatIsSetMovesNoTime(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	var log strings.Builder
	c := h.center(t.TempDir(), clock.Correct(clock.At(noon)), &log, func(err error) { t.Error(err) })
	c.Machine = clock.At(noon.Add(-time.Hour))
	for range 2 {
		if _, err := c.Sync(t.Context(), evaluator.Report{}); err != nil {
			t.Fatal(err)
		}
	}
	if now := c.Clock.Now(); !now.Equal(noon) || !h.synced.At.Equal(noon.Add(-time.Hour)) {
		t.Errorf("it is %s, reported as %s", now, h.synced.At)
	}
	if n := strings.Count(log.String(), "clock of this machine is wrong"); n != 1 {
		t.Errorf("%d warnings: %s", n, log.String())
	}
}

func TestMemberStopsWhenItsKeyIsDisabled(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]string{401: "Unauthorized", 409: remote.CodeReplaced} {
		h, dir := newHost(t), t.TempDir()
		var stopped error
		c := h.center(dir, clock.Correct(clock.At(noon)), io.Discard, func(err error) { stopped = err })
		if _, err := c.Sync(t.Context(), evaluator.Report{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Watches(t.Context(), 5); err != nil {
			t.Fatal(err)
		}
		h.mu.Lock()
		h.status, h.code = status, code
		h.mu.Unlock()
		if _, err := c.Sync(t.Context(), evaluator.Report{}); err == nil || stopped == nil {
			t.Errorf("%d: %v, stopped %v", status, err, stopped)
		}
		_, member := os.Stat(filepath.Join(dir, "member"))
		_, watches := os.Stat(filepath.Join(dir, "watches"))
		if gone := os.IsNotExist(member) && os.IsNotExist(watches); gone != (status == 401) {
			t.Errorf("%d: the configuration is deleted: %v", status, gone)
		}
	}
}

// A member whose account is being moved goes on until the account has arrived, and then with the new server. Only there its key can
// be refused for good.
func TestMemberFollowsItsAccount(t *testing.T) {
	t.Parallel()
	old, fresh := newHost(t), newHost(t)
	var log strings.Builder
	var stopped error
	dir := t.TempDir()
	c := old.center(dir, clock.Correct(clock.At(noon)), &log, func(err error) { stopped = err })
	sync := func(want bool) {
		t.Helper()
		_, err := c.Sync(t.Context(), evaluator.Report{})
		if err == nil {
			_, err = c.Watches(t.Context(), 5)
		}
		if (err == nil) != want || stopped != nil {
			t.Errorf("%v, stopped: %v", err, stopped)
		}
	}
	sync(true)
	old.set(func() { old.moved = fresh.url })
	fresh.set(func() { fresh.status, fresh.code = 401, "Unauthorized" })
	for range 3 {
		sync(false) // the old server names the new one
		sync(false) // which does not have the account yet
	}
	fresh.set(func() { fresh.status = 0 })
	sync(false)
	sync(true)
	asked := old.called
	sync(true)
	if old.called != asked || fresh.member == "" {
		t.Errorf("the old server was called %d times more; %q has joined", old.called-asked, fresh.member)
	}
	if n := strings.Count(log.String(), "set --server to its new address"); n != 1 || strings.Contains(log.String(), "ek_test") {
		t.Errorf("log: %s", log.String())
	}
	other := newHost(t)
	for _, given := range []struct{ server, called *host }{{old, fresh}, {other, other}, {fresh, fresh}} { // --server as it was, and others
		asked := given.called.called
		c = given.server.center(dir, clock.Correct(clock.At(noon)), &log, func(err error) { stopped = err })
		if sync(true); given.called.called == asked {
			t.Error("another server was called after a start")
		}
	}
	fresh.set(func() { fresh.status = 401 })
	if _, err := c.Sync(t.Context(), evaluator.Report{}); err == nil || stopped == nil {
		t.Errorf("%v, stopped: %v", err, stopped)
	}
}

// set changes a server.
func (h *host) set(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

func TestMemberFollowsToNoServerInClear(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	c, err := remote.New(remote.Config{Server: "https://one.example.com", Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"http://two.example.com", "http://localhost:8080", "two", "https://u:p@two.example.com"} {
		if at := c.Follow(to); at != "https://one.example.com" {
			t.Errorf("%s: %s is called", to, at)
		}
	}
	if !strings.Contains(log.String(), "sent in clear") {
		t.Errorf("log: %s", log.String())
	}
	if at := c.Follow("https://two.example.com/"); at != "https://two.example.com" {
		t.Errorf("%s is called", at)
	}
}

// TestLargeBatchIsSentInParts: what changes what is open goes before the history, each once.
func TestLargeBatchIsSentInParts(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	c := h.center(t.TempDir(), clock.Correct(clock.At(noon)), io.Discard, func(err error) { t.Error(err) })
	if err := c.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := watch(t)
	b := evaluator.Batch{Watch: &w, Epoch: 9}
	for n := range 1700 {
		b.Transitions = append(b.Transitions, evaluate.Transition{Key: fmt.Sprint(n)})
		b.Past = append(b.Past, evaluate.Transition{Key: fmt.Sprint(-n)})
	}
	if _, err := c.Send(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	var open, past int
	last := int64(0)
	for _, s := range h.sent {
		if s.Seq <= last || len(s.Transitions)+len(s.Past) > remote.MaxSend {
			t.Errorf("seq %d after %d, %d", s.Seq, last, len(s.Transitions))
		}
		last = s.Seq
		open, past = open+len(s.Transitions), past+len(s.Past)
		if open < 1700 && past > 0 {
			t.Error("history goes first")
		}
	}
	if open != 1700 || past != 1700 {
		t.Errorf("%d and %d arrived", open, past)
	}
}

func TestKeyIsNotSentInClear(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://tocsin.example.com", "tocsin.example.com", "ftp://localhost", "https://u:p@tocsin.example.com", "https://"} {
		_, err := remote.New(remote.Config{Server: url, Dir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), "sent in clear") && !strings.Contains(err.Error(), "want the server's address") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
