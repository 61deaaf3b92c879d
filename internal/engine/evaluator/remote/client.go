package remote

import (
	"cmp"
	"context"
	"crypto/hpke"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
)

// Config holds the dependencies.
type Config struct {
	Server      string // its URL
	Key         string // ek_...
	Dir         string
	Name        string
	Version     string
	Types       []string          // of datasources that Open knows
	SecretEnv   querier.SecretEnv // that Open resolves
	StaleConfig time.Duration
	Timeout     time.Duration // of a call that the server does not hold; 0: 10 seconds
	Out         *egress.Client
	Open        func(querier.Datasource) (querier.Querier, *evaluate.Failure)
	Clock       *clock.Corrected // it is set to the server's
	Machine     clock.Clock      // of this machine, which others set
	Log         *slog.Logger
	Stop        func(error) // ends the program
}

// Center is the server, over HTTPS.
type Center struct {
	Config
	Journal *Journal
	key     hpke.PrivateKey
	member  Member
	seq     atomic.Int64
	asked   sync.WaitGroup // requests in progress

	mu          sync.Mutex
	server      string // that is called: Server, or that to which the account was moved
	told        string // the last address that a server named
	joined      bool
	kept        kept
	stored      time.Time // when kept was written
	read        time.Time // when the configuration was read from the server
	reached     time.Time // of this machine's clock
	have        string    // WatchesReply.Have of the configuration on the disk; empty: it has to be asked for
	unsupported []evaluator.WatchState
	evaluating  bool          // rules are evaluated: the server was reached since the start, or its last orders are followed
	wrong       bool          // Clock was, while they were evaluated since the server was last reached
	off         time.Duration // of Machine, when the server's time was last seen
}

// Errors that end a member.
var (
	errRevoked = errors.New("the server does not accept the key of this edge: it was disabled or deleted, or is not one;" +
		" the configuration was deleted")
	errReplaced = errors.New("another process has joined with this directory: one directory is for one process")
)

// New returns the center of the member that a directory holds, or of a new one.
func New(c Config) (*Center, error) {
	r := &Center{Config: c}
	if err := checkURL(c.Server); err != nil {
		return nil, err
	}
	r.Server = strings.TrimRight(c.Server, "/")
	r.server = r.Server
	if err := r.load(); err != nil {
		return nil, err
	}
	if r.kept.Given == r.Server { // else it was set since
		r.server = r.kept.Server
	}
	var err error
	r.Journal, err = OpenJournal(c.Dir, c.Log)
	if err != nil {
		return nil, err
	}
	r.member = Member{EdgeID: EdgeID(r.key.PublicKey().Bytes()), Run: rand.Text()}
	return r, nil
}

// checkURL refuses addresses to which a key would be sent in clear.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" {
		return fmt.Errorf("%q: want the server's address, such as https://tocsin.example.com", text)
	}
	if host := u.Hostname(); u.Scheme == "http" && host != "localhost" && host != "127.0.0.1" && host != "::1" {
		return fmt.Errorf("%q: the key would be sent in clear; http is for a server on this machine alone", text)
	}
	return nil
}

// follow goes on with the server to which the account was moved, unless the key would be sent there in clear.
func (c *Center) follow(to string) {
	to = strings.TrimRight(to, "/")
	err := checkURL(to)
	if err == nil && strings.HasPrefix(c.Server, "https:") && !strings.HasPrefix(to, "https:") {
		err = fmt.Errorf("%q: the key would be sent in clear", to)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	news := c.told != to
	c.told = to
	switch {
	case err != nil && news:
		c.Log.Error("the account of this edge has moved to an address that is not called: set --server", "error", err)
	case err == nil && c.server != to:
		c.server, c.joined = to, false
		if news {
			c.Log.Warn("the account of this edge has moved: set --server to its new address, with which it goes on", "server", to)
		}
	}
}

// arrived reports whether a server that does not know the key refuses it for good. One to which the account is being moved does not
// have it yet: the server that named it is asked again.
func (c *Center) arrived(server string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if server == c.Server || server == c.kept.Server {
		return true
	}
	c.server = c.Server
	return false
}

// callTimeout bounds a call that the server does not hold.
const callTimeout = 10 * time.Second

// maxReply bounds a reply, in bytes.
const maxReply = 256 << 20

// call makes a call, and reads its reply unless reply is nil.
func (c *Center) call(ctx context.Context, path string, body, reply any) error {
	c.mu.Lock()
	joined, server := c.joined, c.server
	c.mu.Unlock()
	if !joined && path != PathJoin {
		return errors.New("this edge has not joined yet")
	}
	text, err := Marshal(body)
	if err != nil {
		return err
	}
	timeout := cmp.Or(c.Timeout, callTimeout)
	if path == PathRequests {
		timeout += HoldRequests
	}
	var envelope struct {
		Data  jsontext.Value `json:"data"`
		Error *struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	got, err := c.Out.Do(ctx, egress.Request{
		URL: server + path, Body: text, Timeout: timeout, MaxReply: maxReply,
		Header: http.Header{"Authorization": {"Bearer " + c.Key}, "Content-Type": {"application/json"}},
		Read: func(_ egress.Attempt, body io.Reader) error {
			text, err := io.ReadAll(body)
			if err == nil {
				_ = Unmarshal(text, &envelope) // a reply of another program has neither data nor an error
			}
			return err
		},
	})
	if to := got.Header.Get(HeaderMoved); to != "" {
		c.follow(to)
	}
	switch {
	case err != nil:
		return err
	case envelope.Error == nil && got.Status == http.StatusOK && envelope.Data != nil:
		if reply == nil {
			return nil
		}
		return Unmarshal(envelope.Data, reply)
	case envelope.Error == nil:
		return fmt.Errorf("%s answered with HTTP status %d and is no Tocsin server", server, got.Status)
	case got.Status == http.StatusUnauthorized && c.arrived(server):
		c.Stop(errors.Join(errRevoked, c.forget()))
		return errRevoked
	case envelope.Error.Code == CodeReplaced:
		c.Stop(errReplaced)
		return errReplaced
	case got.Status == http.StatusNotFound && path != PathJoin: // the server was restored, or the member was deleted
		c.mu.Lock()
		c.joined = false
		c.mu.Unlock()
	}
	return fmt.Errorf("%s: %s", envelope.Error.Code, envelope.Error.Message)
}

// Reached returns when the server was last reached since the start; zero: never.
func (c *Center) Reached() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reached
}

// Join makes this process known to the server.
func (c *Center) Join(ctx context.Context) error {
	var reply JoinReply
	asked := c.Clock.Machine()
	err := c.call(ctx, PathJoin, JoinRequest{
		Name: c.Name, Version: c.Version, Types: c.Types, SecretEnv: c.SecretEnv, PublicKey: c.key.PublicKey().Bytes(),
		Run: c.member.Run, At: c.Machine.Now().UnixMilli(),
	}, &reply)
	if err != nil {
		return err
	}
	c.observe(asked, reply.Now)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept.Account != reply.Account || c.kept.Cluster != reply.Cluster {
		c.kept = kept{Account: reply.Account, Cluster: reply.Cluster}
		c.have = ""
	}
	c.joined = true
	c.kept.Server, c.kept.Given = c.server, c.Server
	c.stored = time.Time{} // the next orders are written with it
	c.Log.Info("this edge has joined", "edge_id", reply.EdgeID, "account_id", reply.Account, "cluster", reply.Cluster)
	return nil
}

// Differences to the server's clock. A call proves no difference below half of the time that it takes.
const (
	farOff    = 30 * time.Second // of this machine's clock, from which on it is logged
	mostWrong = 5 * time.Second  // of Clock, above which the moments by it count as untrue
)

// observe sets the clock by the server's.
func (c *Center) observe(asked time.Time, now int64) {
	before, theirs := c.Clock.Offset(), time.UnixMilli(now)
	c.Clock.Observe(asked, c.Clock.Machine(), theirs)
	off := c.Machine.Now().Sub(theirs)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = c.wrong || c.evaluating && (c.Clock.Offset()-before).Abs() > mostWrong
	if off.Abs() > farOff && (off-c.off).Abs() > farOff {
		c.Log.Warn("the clock of this machine is wrong: times are corrected to the server's", "off", off.Round(time.Second).String())
	}
	c.off = off
}

// Sync reports to the server. While it has not been reached since the start, the orders of before come with the error.
func (c *Center) Sync(ctx context.Context, report evaluator.Report) (evaluator.Orders, error) {
	orders, err := c.sync(ctx, report)
	if err == nil {
		return orders, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept.Slots) == 0 || ctx.Err() != nil {
		return evaluator.Orders{}, err
	}
	age := c.Clock.Now().Sub(c.kept.At)
	stale := age > c.StaleConfig
	switch {
	case c.evaluating && stale:
		c.Stop(fmt.Errorf("the configuration is %v old, more than --stale-config: the server was not reached since %s",
			age.Round(time.Minute), c.kept.At.UTC().Format(time.RFC3339)))
	case !c.evaluating && !stale:
		c.Log.Info("the server cannot be reached: rules are evaluated as they were", "configuration_age", age.Round(time.Second).String())
		c.evaluating = true
		return c.kept.orders(nil), err
	}
	return evaluator.Orders{}, err
}

func (c *Center) sync(ctx context.Context, report evaluator.Report) (evaluator.Orders, error) {
	c.mu.Lock()
	joined := c.joined
	c.mu.Unlock()
	if !joined {
		if err := c.Join(ctx); err != nil {
			return evaluator.Orders{}, err
		}
	}
	c.mu.Lock()
	asked := c.Clock.Machine()
	request := SyncRequest{Member: c.member, Report: report, Revision: c.kept.Revision, SpoolBytes: c.Journal.Bytes()}
	request.At = c.Machine.Now()
	request.Watches = append(report.Watches, c.unsupported...)
	if !c.read.IsZero() {
		request.ConfigAge = int64(c.Clock.Now().Sub(c.read).Seconds())
	}
	c.mu.Unlock()
	var reply SyncReply
	if err := c.call(ctx, PathSync, request, &reply); err != nil {
		return evaluator.Orders{}, err
	}
	c.observe(asked, reply.Now)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evaluating, c.reached = true, c.Clock.Machine()
	c.unsupported = c.unsupported[:0]
	orders := c.taken(reply)
	orders.More, orders.Wrong = reply.More, c.wrong
	c.wrong = false
	return orders, nil
}

// Watches returns the watches of this member.
func (c *Center) Watches(ctx context.Context, account int64) ([]evaluator.Watch, error) {
	c.mu.Lock()
	joined, have := c.joined, c.have
	c.mu.Unlock()
	reply, err := c.configuration(ctx, joined, have)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if joined {
		c.read = c.Clock.Now()
	}
	all, unsupported, err := reply.unpack(account, func(s Source) (querier.Datasource, error) {
		return open(c.key, SourceInfo(account, c.kept.Cluster, s.ID, c.member.EdgeID), s.Sealed)
	})
	for i := range unsupported {
		unsupported[i].Since = c.Clock.Now()
	}
	c.unsupported = unsupported
	return all, err
}

// configuration returns the watches of this member from the server, or those on the disk: they are not kept in memory, because an
// edge with many rules would have each of them twice.
func (c *Center) configuration(ctx context.Context, joined bool, have string) (WatchesReply, error) {
	var reply WatchesReply
	if joined {
		if err := c.call(ctx, PathWatches, WatchesRequest{c.member, have}, &reply); err != nil {
			return reply, err
		}
		if !reply.Unchanged {
			c.configure(reply)
			return reply, nil
		}
	}
	err := read(filepath.Join(c.Dir, watchesFile), &reply)
	if err == nil && reply.Have == have {
		return reply, nil
	}
	c.mu.Lock()
	c.have = "" // the next call asks for all of it
	c.mu.Unlock()
	return reply, errors.Join(errors.New("the configuration on the disk is not the newest"), err)
}

// State returns what the server has of watches.
func (c *Center) State(ctx context.Context, _ int64, keys []evaluator.Key) (map[evaluator.Key]evaluator.Saved, error) {
	var reply StateReply
	if err := c.call(ctx, PathState, StateRequest{c.member, keys}, &reply); err != nil {
		return nil, err
	}
	all := map[evaluator.Key]evaluator.Saved{}
	for _, s := range reply.Saved {
		all[s.Key] = s
	}
	return all, nil
}

// Save stores states, in calls of at most MaxBytes where no single state is larger.
func (c *Center) Save(ctx context.Context, _ int64, states []evaluator.Saved) error {
	for len(states) > 0 {
		n, size := 1, len(states[0].State)
		for ; n < len(states) && size+len(states[n].State) < MaxBytes/2; n++ {
			size += len(states[n].State) + 200
		}
		if err := c.call(ctx, PathSave, SaveRequest{c.member, states[:n]}, nil); err != nil {
			return err
		}
		states = states[n:]
	}
	return nil
}

// Send stores transitions: first what changes the open instances, then history.
func (c *Center) Send(ctx context.Context, b evaluator.Batch) (evaluator.Taken, error) {
	in := SendRequest{Member: c.member, Batch: b, Rule: b.Watch.Key.Rule, Source: b.Watch.Key.Datasource}
	text, err := Marshal(in)
	if n := len(b.Transitions) + len(b.Past); err == nil && n > 1 && (n > MaxSend || len(text) > MaxBytes) {
		first, rest := b, b
		now := min(n/2, len(b.Transitions))
		first.Transitions, rest.Transitions = b.Transitions[:now], b.Transitions[now:]
		first.Past, rest.Past = b.Past[:n/2-now], b.Past[n/2-now:]
		if taken, err := c.Send(ctx, first); err != nil || taken.Fenced || taken.Gone {
			return taken, err
		}
		return c.Send(ctx, rest)
	}
	in.Seq = c.seq.Add(1)
	var taken evaluator.Taken
	err = c.call(ctx, PathSend, in, &taken)
	return taken, err
}
