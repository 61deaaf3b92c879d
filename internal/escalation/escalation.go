// Package escalation tells the right people of an incident, one layer of a rule after the other, until
// somebody takes care. What is to be done is a row with the moment at which it is due; what the layers' turn
// is, is decided by the pure escalate.
//
// It must never leave an incident with nobody told and nothing said: a layer without anybody to tell is
// skipped, waits or falls back, and when all end without a person told the account's owner is.
package escalation

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/auth"
	"tocsin/internal/calendar"
	"tocsin/internal/channel"
	"tocsin/internal/db"
	"tocsin/internal/escalate"
	"tocsin/internal/filter"
	"tocsin/internal/incident"
	"tocsin/internal/news"
	"tocsin/internal/notify"
	"tocsin/internal/seal"
	"tocsin/internal/work"
)

// Room escalates.
type Room struct {
	DB     *db.DB
	Bus    *news.Bus
	Box    *seal.Box
	Log    *slog.Logger
	Notify *notify.Room
	Wake   func() // called when notices have been made; may be nil
	// Silenced tells whether silence rules hold all active alerts of an incident, until when (Unix seconds, 0:
	// they do not) and which, in words; may be nil.
	Silenced func(tx *db.Tx, account, channel int64, incident string, now time.Time) (until int64, why string, err error)
}

// Task is the room's background work.
func (r *Room) Task() work.Task { return work.Task{Name: "escalate", Idle: time.Second, Run: r.due} }

// run is one escalation of an incident.
type run struct {
	account  int64
	incident string
	number   int64
	ruleID   string
	ruleName string
	rule     channel.EscalateRule // secrets sealed
	timing   timing
	started  int64
	done     int
	next     int64 // 0: ended
	ended    string
}

// timing is how a run has come along.
type timing struct {
	escalate.Rule
	Still []escalate.Span // when its clock stood still: a layer waited for somebody, or silences held the incident
	Held  int64           // since when silences hold it, Unix seconds; 0: they do not
}

const columns = `account_id, incident_id, run, rule_id, rule_name, rule, timing, started_at, done, next_at, ended`

func scanRun(scan db.Scan) (e run, err error) {
	s, err := scanStored(scan)
	if err != nil {
		return e, err
	}
	return s.read()
}

// stored is a run whose rule is read when its turn has come, so that one that cannot be read is its own problem.
type stored struct {
	run
	ruleText, timingText string
}

func scanStored(scan db.Scan) (s stored, err error) {
	return s, scan(&s.account, &s.incident, &s.number, &s.ruleID, &s.ruleName, &s.ruleText, &s.timingText, &s.started, &s.done, &s.next, &s.ended)
}

func (s *stored) read() (run, error) {
	if err := json.Unmarshal([]byte(s.ruleText), &s.rule); err != nil {
		return s.run, err
	}
	return s.run, json.Unmarshal([]byte(s.timingText), &s.timing)
}

func (e *run) save(tx *db.Tx) error {
	timing, err := json.Marshal(e.timing)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE escalation SET timing = $4, done = $5, next_at = $6, ended = $7 WHERE account_id = $1 AND incident_id = $2 AND run = $3`,
		e.account, e.incident, e.number, string(timing), e.done, e.next, e.ended)
	return err
}

// latest is the last escalation of an incident; nil: there was none.
func latest(tx *db.Tx, account int64, incident string) (*run, error) {
	e, found, err := db.One(tx, scanRun, `SELECT `+columns+` FROM escalation WHERE account_id = $1 AND incident_id = $2 ORDER BY run DESC LIMIT 1`, account, incident)
	if err != nil || !found {
		return nil, err
	}
	return &e, nil
}

// begin escalates an incident by a rule from one of its layers on, in place of what went on before.
func (r *Room) begin(tx *db.Tx, i *incident.Incident, rule channel.EscalateRule, layer int, now time.Time) error {
	before, err := latest(tx, i.AccountID, i.IncidentID)
	if err != nil {
		return err
	}
	number := int64(1)
	if before != nil {
		number = before.number + 1
		if before.next > 0 {
			before.next, before.ended = 0, "replaced"
			if err := before.save(tx); err != nil {
				return err
			}
		}
	}
	timing := timing{Rule: rule.Timing()}
	done := 0
	if layer > 0 && layer < len(timing.Layers) { // those before it are as good as done
		timing.Wait = 0
		for n := range layer {
			done = timing.Skip(escalate.Step{Layer: n})
		}
	}
	text, err := json.Marshal(rule, json.Deterministic(true))
	if err != nil {
		return err
	}
	times, err := json.Marshal(timing)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO escalation (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '')`,
		i.AccountID, i.IncidentID, number, rule.RuleID, rule.RuleName, string(text), string(times), now.Unix(), done, now.Unix()+timing.Wait)
	return err
}

// Look is how an incident fared with one rule.
type Look struct {
	RuleID   string `json:"rule_id" doc:"The rule."`
	RuleName string `json:"rule_name" doc:"Its name."`
	Matched  bool   `json:"matched" doc:"It escalates the incident."`
	Why      string `json:"why" doc:"The condition that was met or not, in words."`
}

// Choose finds the rule that escalates an incident: the first of its channel's, by priority, that is enabled,
// holds at the moment and matches. found is false when none does.
func Choose(tx *db.Tx, i *incident.Incident, now time.Time) (rule channel.EscalateRule, looks []Look, found bool, err error) {
	rules, err := channel.Escalates.Of(tx, i.AccountID, fmt.Sprint(i.ChannelID))
	if err != nil {
		return rule, nil, false, err
	}
	for _, rule := range rules {
		look := Look{RuleID: rule.RuleID, RuleName: rule.RuleName}
		m, _ := filter.Compile(rule.Filters)
		var trace filter.Trace
		switch {
		case rule.Status != "enabled":
			look.Why = "it is disabled"
		case !m.Match(i, &trace):
			look.Why = trace.Why()
		default:
			look.Matched, look.Why = true, trace.Why()
			if len(rule.TimeFilters) > 0 {
				var ids []string
				for _, w := range rule.TimeFilters {
					if w.CalID != nil {
						ids = append(ids, *w.CalID)
					}
				}
				days, err := calendar.Load(tx, i.AccountID, ids)
				if err != nil {
					return rule, nil, false, err
				}
				zone, err := zoneOf(tx, i.AccountID)
				if err != nil {
					return rule, nil, false, err
				}
				if !channel.InWindow(rule.TimeFilters, now, zone, days) {
					look.Matched, look.Why = false, "it does not hold at this time: "+look.Why
				}
			}
		}
		looks = append(looks, look)
		if look.Matched {
			return rule, looks, true, nil
		}
	}
	return rule, looks, false, nil
}

func zoneOf(tx *db.Tx, account int64) (*time.Location, error) {
	name, _, err := db.One(tx, db.Column[string], `SELECT time_zone FROM account WHERE account_id = $1`, account)
	if err != nil {
		return nil, err
	}
	return time.LoadLocation(name)
}

// Failing is why an escalation has ended that goes wrong each time: it has not, and is tried again.
const Failing = "failing"

// pause is until an escalation that went wrong is tried again, in seconds.
const pause = 60

// due does what is due of all escalations. One that goes wrong holds up no other.
func (r *Room) due(ctx context.Context, now time.Time) (again time.Time, err error) {
	const batch = 100
	next := int64(0)
	soonest := func(tx *db.Tx) (err error) {
		next, _, err = db.One(tx, db.Column[int64], `SELECT coalesce(min(next_at), 0) FROM escalation WHERE next_at > 0`)
		return err
	}
	if err := r.DB.Read(ctx, soonest); err != nil || next == 0 || next > now.Unix() { // those who write do not wait for nothing
		return moment(next), err
	}
	more, told := false, false
	err = r.DB.Write(ctx, func(tx *db.Tx) error {
		runs, err := db.All(tx, scanStored, `SELECT `+columns+` FROM escalation WHERE next_at > 0 AND next_at <= $1 ORDER BY next_at LIMIT $2 + 0`, now.Unix(), batch)
		for i := 0; i < len(runs) && err == nil; i++ {
			err = r.one(tx, &runs[i], now)
		}
		more, told = len(runs) == batch, len(runs) > 0
		if err == nil {
			err = soonest(tx)
		}
		return err
	})
	if told && r.Wake != nil {
		r.Wake()
	}
	if more {
		return now, err
	}
	return moment(next), err
}

// moment is a time in Unix seconds; 0 is none.
func moment(unix int64) (t time.Time) {
	if unix > 0 {
		t = time.Unix(unix, 0)
	}
	return t
}

// one does what is due of one escalation. When that goes wrong the account's owner is told instead, once, and it is
// tried again later.
func (r *Room) one(tx *db.Tx, s *stored, now time.Time) error {
	failed, err := tx.Try(func() error {
		e, err := s.read()
		if err != nil {
			return err
		}
		return r.step(tx, &e, now)
	})
	if err != nil || failed == nil {
		return err
	}
	r.Log.Error("an escalation went wrong", "incident_id", s.incident, "account_id", s.account, "run", s.number, "error", failed)
	next, ended := now.Unix()+pause, Failing
	unsaid, err := tx.Try(func() error {
		i, found, err := incident.Find(tx, s.account, s.incident)
		switch {
		case err != nil:
			return err
		case !found || i.Progress == incident.Closed:
			next, ended = 0, string(escalate.Resolved)
		case s.ended != Failing && i.Progress == incident.Triggered:
			return r.tellOwner(tx, &i, s.number, "its escalation cannot go on; the server's log says why", now)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if unsaid != nil {
		r.Log.Error("nor could the owner be told", "incident_id", s.incident, "account_id", s.account, "error", unsaid)
	}
	_, err = tx.Exec(`UPDATE escalation SET next_at = $4, ended = $5 WHERE account_id = $1 AND incident_id = $2 AND run = $3`, s.account, s.incident, s.number, next, ended)
	return err
}

// step does what is due of one escalation, and settles when to look again.
func (r *Room) step(tx *db.Tx, e *run, now time.Time) error {
	i, found, err := incident.Find(tx, e.account, e.incident)
	if err != nil {
		return err
	}
	if !found {
		e.next, e.ended = 0, "removed"
		return e.save(tx)
	}
	if e.ended == string(escalate.Exhausted) { // waits for what became of its notices
		return r.exhausted(tx, e, &i, now)
	}
	e.ended = "" // it goes on, if it was failing
	for range maxTurns {
		a := escalate.Next(e.timing.Rule, e.started, e.done, e.state(&i), now.Unix())
		if stays, err := r.held(tx, e, &i, a, now); stays || err != nil {
			return err
		}
		if e.next, e.ended = a.Next, ""; e.next == 0 {
			e.ended = string(a.Why)
		}
		again, err := r.turns(tx, e, &i, a.Due, now)
		switch {
		case err != nil:
			return err
		case again:
			continue
		case e.ended == string(escalate.Exhausted):
			return r.exhausted(tx, e, &i, now)
		}
		return e.save(tx)
	}
	return fmt.Errorf("it has not come to an end after %d turns", maxTurns)
}

// maxTurns is how often one step may change the plan: each layer can be skipped, wait and be held.
const maxTurns = 100

// turns does the steps that are due, and tells whether the plan has changed on the way.
func (r *Room) turns(tx *db.Tx, e *run, i *incident.Incident, due []escalate.Verdict, now time.Time) (again bool, err error) {
	for _, v := range due {
		what := told
		if v.Tell {
			if what, err = r.layer(tx, e, i, v, now); err != nil {
				return false, err
			}
		}
		switch what {
		case waits: // its step is still to come
			return true, nil
		case skipped: // the next one is due
			e.done = e.timing.Skip(v.Step)
			return true, nil
		}
		e.done++
	}
	return false, nil
}

// held lets an escalation stand still while silence rules hold all of the incident's alerts, although they
// were open before: in maintenance nobody is paged for it. Its clock goes on when the first of them ends.
func (r *Room) held(tx *db.Tx, e *run, i *incident.Incident, a escalate.Answer, now time.Time) (stays bool, err error) {
	first := slices.IndexFunc(a.Due, func(v escalate.Verdict) bool { return v.Tell })
	if first < 0 {
		return false, nil
	}
	until, why, err := r.silenced(tx, i, now)
	switch {
	case err != nil:
		return false, err
	case until <= now.Unix() && e.timing.Held > 0:
		e.timing.Still = append(e.timing.Still, escalate.Span{From: e.timing.Held, Until: now.Unix()})
		e.timing.Held = 0
		return true, r.step(tx, e, now)
	case until <= now.Unix():
		return false, nil
	}
	said := e.timing.Held > 0
	if !said {
		e.timing.Held = a.Due[first].At
	}
	e.next = until
	if err := e.save(tx); err != nil || said {
		return true, err
	}
	return true, r.Bus.Tell(tx, news.Item{Account: i.AccountID, Type: news.IncidentNotify, ID: i.IncidentID, Channel: i.ChannelID, At: now,
		Detail: map[string]any{"layer_idx": a.Due[first].Layer, "escalate_rule_id": e.ruleID, "escalate_rule_name": e.ruleName, "by": "nobody", "reason": why, "then": "wait", "until": until}})
}

// silenced tells until when silence rules hold all of an incident's alerts, and which; 0: they do not.
func (r *Room) silenced(tx *db.Tx, i *incident.Incident, now time.Time) (until int64, why string, err error) {
	if r.Silenced == nil {
		return 0, "", nil
	}
	return r.Silenced(tx, i.AccountID, i.ChannelID, i.IncidentID, now)
}

// state is what has become of the incident, and when the clock stood still.
func (e *run) state(i *incident.Incident) escalate.State {
	s := stateOf(i)
	s.Snoozes = append(s.Snoozes, e.timing.Still...)
	return s
}

func stateOf(i *incident.Incident) escalate.State {
	s := escalate.State{}
	if i.Progress == incident.Closed {
		s.Resolved = max(i.CloseTime, 1)
	}
	if i.Progress == incident.Processing {
		s.Acknowledged = max(i.AckTime, 1)
		for _, a := range i.Assignments {
			if a.RemovedAt == 0 && a.AcknowledgedAt > 0 {
				s.Acknowledged = max(s.Acknowledged, a.AcknowledgedAt)
			}
		}
	}
	for _, z := range i.Snoozes {
		s.Snoozes = append(s.Snoozes, escalate.Span{From: z.From, Until: z.Until})
	}
	return s
}

// settling is how long to wait for notices on their way before looking again, in seconds.
const settling = 5

// exhausted ends an escalation whose layers have all had their turn. When not one person was told, the
// account's owner is, and the incident says so.
func (r *Room) exhausted(tx *db.Tx, e *run, i *incident.Incident, now time.Time) error {
	e.next, e.ended = 0, string(escalate.Exhausted)
	if i.Progress != incident.Triggered {
		return e.save(tx)
	}
	told, open, err := reached(tx, e)
	if err != nil {
		return err
	}
	switch {
	case told:
		return e.save(tx)
	case open > 0:
		e.next = max(open, now.Unix()+settling)
		return e.save(tx)
	}
	until, _, err := r.silenced(tx, i, now)
	if err != nil {
		return err
	}
	if until = max(until, i.SnoozedBefore); until > now.Unix() { // nor is the owner disturbed then
		e.next = until
		return e.save(tx)
	}
	if err := e.save(tx); err != nil {
		return err
	}
	return r.tellOwner(tx, i, e.number, "escalation ended and no person was told", now)
}

// reached tells whether a notice to a person was taken in this escalation, and when one may be that was not yet, Unix
// seconds; 0: none is left. Of a rule that tells chats only, chats count: that nobody is paged is what its makers
// wanted.
func reached(tx *db.Tx, e *run) (told bool, open int64, err error) {
	persons := false
	for _, l := range e.rule.Layers {
		t := l.Target
		persons = persons || len(t.Emails) > 0 || t.By != nil && len(t.PersonIDs)+len(t.TeamIDs)+len(t.ScheduleToRoleIDs) > 0
	}
	notices, err := notify.OfIncident(tx, e.account, e.incident)
	for _, n := range notices {
		if n.Cause != notify.Page || n.Detail.Run != e.number || persons && n.Person == 0 && n.Way != "email" {
			continue
		}
		told = told || n.Status == notify.Sent
		if due := max(n.Due/1000, 1); n.Settled == 0 && (open == 0 || due < open) {
			open = due
		}
	}
	return told, open, err
}

func (r *Room) tellOwner(tx *db.Tx, i *incident.Incident, number int64, why string, now time.Time) error {
	owner, err := auth.OwnerOf(tx, i.AccountID)
	if err != nil {
		return err
	}
	if err := r.Bus.Tell(tx, news.Item{Account: i.AccountID, Type: news.IncidentExhausted, ID: i.IncidentID, Channel: i.ChannelID, At: now, Detail: map[string]any{"reason": why, "to": []int64{owner}}}); err != nil {
		return err
	}
	return r.person(tx, i, teller{cause: notify.Owner, event: news.IncidentNew, key: fmt.Sprintf("%s/%d/owner", i.IncidentID, number), reason: "the account's owner, and " + why}, owner, now)
}
