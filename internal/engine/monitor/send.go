package monitor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alertrule"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/event"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/engine/triage"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// putAtOnce is how many transitions share a transaction, so that other writers do not wait for a large evaluation.
const putAtOnce = 250

// Why a batch is not taken.
var (
	errFenced = errors.New("another process evaluates the watch")
	errGone   = errors.New("the rule is not evaluated on the datasource any more")
)

// change is a transition on its way into the database.
type change struct {
	*sent
	*evaluate.Transition
	instance instance      // as it is afterwards
	open     bool          // it was open before
	past     bool          // it is history alone
	events   []event.Event // one for each channel; none: no event is sent
	bodies   []string
	record   string // the transition as it is stored
}

// sent is what the transitions of a batch have in common.
type sent struct {
	*evaluator.Batch
	from        *sender
	rule        *alertrule.Rule
	channels    []int64 // of the rule that take alerts
	unrouted    bool    // the rule names channels, and none takes alerts
	integration int64
	open        map[string]instance // of the watch, by check and key
}

// Send stores the transitions of an evaluation: what is open, what became of it, and an event for each channel. It may be called
// again with a batch of which a part was stored: a beginning of what is open and an end of what is not are left out.
func (r *Service) Send(ctx context.Context, b evaluator.Batch) (evaluator.Taken, error) {
	return r.sendAs(ctx, &sender{group: nodes}, b)
}

// sendAs is Send of the server itself, or of an edge.
func (r *Service) sendAs(ctx context.Context, from *sender, b evaluator.Batch) (evaluator.Taken, error) {
	taken, err := r.take(ctx, from, b)
	if !errors.Is(err, errMarked) {
		return taken, err
	}
	if err := r.settle(ctx, b.Watch.Key); err != nil {
		return evaluator.Taken{}, err
	}
	return r.take(ctx, from, b)
}

func (r *Service) take(ctx context.Context, from *sender, b evaluator.Batch) (evaluator.Taken, error) {
	account, now := b.Watch.Account, r.Clock.Now()
	s, err := r.common(ctx, from, &b)
	if errors.Is(err, errGone) {
		return evaluator.Taken{Gone: true}, nil
	}
	if err != nil {
		return evaluator.Taken{}, err
	}
	changes := make([]change, 0, len(b.Past)+len(b.Transitions))
	for i := range b.Past {
		changes = append(changes, change{sent: s, Transition: &b.Past[i], past: true})
	}
	for i := range b.Transitions {
		changes = append(changes, change{sent: s, Transition: &b.Transitions[i]})
	}
	work := jobs.Batch[change]{DB: r.DB, Prepare: r.prepare, Still: r.still, Do: r.store}
	for part := range slices.Chunk(changes, putAtOnce) {
		err := work.Process(&jobs.Round{Ctx: ctx, Account: account, Now: now}, part)
		switch {
		case errors.Is(err, errFenced):
			return evaluator.Taken{Fenced: true}, nil
		case errors.Is(err, errGone):
			return evaluator.Taken{Gone: true}, nil
		case err != nil:
			return evaluator.Taken{}, err
		}
	}
	return evaluator.Taken{}, nil
}

// common reads what the transitions of a batch need.
func (r *Service) common(ctx context.Context, from *sender, b *evaluator.Batch) (*sent, error) {
	s := &sent{Batch: b, from: from, open: map[string]instance{}}
	account := b.Watch.Account
	err := r.DB.Snapshot(db.For(ctx, account), func(tx *db.Tx) error {
		rule, found, err := alertrule.FindRule(tx, account, b.Watch.Key.Rule)
		if err != nil {
			return err
		}
		if !found {
			return errGone
		}
		if err := s.direct(tx, account, &rule); err != nil {
			return err
		}
		open, err := instancesOf(tx, b.Watch.Key)
		for _, i := range open {
			s.open[i.check+"/"+i.hash] = i
		}
		return err
	})
	return s, err
}

// direct reads where the alerts of a rule go.
func (s *sent) direct(tx *db.Tx, account int64, rule *alertrule.Rule) (err error) {
	s.rule = rule
	s.integration, err = integration.MonitorsOf(tx, account)
	if err != nil {
		return err
	}
	s.channels, s.unrouted, err = takers(tx, account, rule)
	return err
}

// prepare writes the texts and the events of transitions.
func (r *Service) prepare(t *jobs.Round, changes []change) ([]change, error) {
	arrived := t.Now.UnixNano()
	for n := range changes {
		c := &changes[n]
		c.instance, c.open = c.sent.open[c.Check+"/"+c.Key]
		if !c.open || c.past {
			c.begin()
		}
		c.instance.epoch = c.Epoch
		c.instance.severity = c.Severity
		if c.To != evaluate.Repeat {
			c.instance.Value = c.Value
		}
		c.instance.repeated = t.Now.UnixMilli()
		if !c.past && (!c.To.Ends() || !c.Silent) {
			r.write(c, t.Now)
		}
		for i := range c.events {
			c.events[i].Received = arrived // they are decided in this order
			arrived++
			body, err := c.events[i].AppendJSON(nil)
			if err != nil {
				return nil, err
			}
			c.bodies = append(c.bodies, string(body))
		}
		if c.To == evaluate.Repeat {
			continue
		}
		record, err := json.Marshal(c.recorded(), json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		c.record = string(record)
	}
	return changes, nil
}

// begin fills in an instance that begins.
func (c *change) begin() {
	w := c.Watch
	c.instance = instance{
		key: w.Key, check: c.Check, hash: c.Key, since: c.Since.UnixMilli(), channels: c.channels,
		alertKey: fmt.Sprintf("%d:%d:%s:%s:%s", w.Key.Rule, w.Source.ID, c.Query, c.Key, c.Check),
		instanceBody: instanceBody{
			Query: c.Query, Rule: c.rule.Name, Labels: c.Labels, Event: labels(c), Title: title(c.rule.Name, c.Labels), Unrouted: c.unrouted,
		},
	}
}

// still returns the transitions that are to be stored, in the account's transaction.
func (r *Service) still(tx *db.Tx, _ *jobs.Round, changes []change) (left []change, err error) {
	w, from := changes[0].Watch, changes[0].from
	has, err := from.has(tx, w.Slot, changes[0].Epoch)
	if err != nil {
		return nil, err
	}
	if !has {
		return nil, errFenced
	}
	if err := evaluated(tx, w.Key, from.cluster); err != nil {
		return nil, err
	}
	if late, err := from.late(tx, w.Key); err != nil || late {
		return nil, err
	}
	stored, err := timelinesOf(tx, changes)
	if err != nil {
		return nil, err
	}
	now, err := standingOf(tx, w.Key)
	if err != nil {
		return nil, err
	}
	open := map[string]instance{}
	for _, i := range now {
		before, had := changes[0].sent.open[i.check+"/"+i.hash]
		if i.marked() || had && !slices.Equal(i.channels, before.channels) {
			return nil, errMarked
		}
		open[i.check+"/"+i.hash] = i
	}
	for _, c := range changes {
		i, known := open[c.Check+"/"+c.Key]
		stays := known && i.closeAt == 0 // one that is being closed does not
		switch {
		case c.past && !stored.add(&c, i.severity):
		case c.past:
			left = append(left, c)
		case c.To == evaluate.Begin && stays, c.To.Ends() && !known, c.To != evaluate.Begin && !c.To.Ends() && !stays:
		default:
			left = append(left, c)
		}
	}
	return left, nil
}

// evaluated returns errGone unless the rule is evaluated on the datasource by a cluster; empty: by any.
func evaluated(tx *db.Tx, key evaluator.Key, cluster string) error {
	rule, found, err := alertrule.FindRule(tx, key.Account, key.Rule)
	if err != nil {
		return err
	}
	if !found || !rule.On() {
		return errGone
	}
	d, found, err := datasource.Find(tx, key.Account, key.Datasource)
	if err != nil {
		return err
	}
	if !found || !d.Enabled || !rule.Matches(&d) || cmp.Or(cluster, d.Cluster()) != d.Cluster() {
		return errGone
	}
	return nil
}

// store stores transitions with their events.
func (r *Service) store(tx *db.Tx, t *jobs.Round, changes []change) error {
	if err := changes[0].from.taken(tx, changes[0].Watch.Key, t.Now); err != nil {
		return err
	}
	var events []event.Event
	var bodies []string
	rows := db.Rows{Table: "rule_transition", Columns: db.Columns(transitionColumns)}
	for n := range changes {
		c := &changes[n]
		events, bodies = append(events, c.events...), append(bodies, c.bodies...)
		change := c.instance.save
		switch {
		case c.past:
			change = func(*db.Tx) error { return nil }
		case c.To.Ends():
			change = c.instance.remove
		}
		if err := change(tx); err != nil {
			return err
		}
		if c.To == evaluate.Repeat {
			continue
		}
		first := ""
		if len(c.events) > 0 {
			first = c.events[0].ID
		}
		rows.Values = append(rows.Values, c.instance.transition(t.Now, c.At, string(c.To), c.From, c.Severity, first, c.record))
		if (c.To == evaluate.Begin || c.To == evaluate.Rise) && c.unrouted && !c.past {
			if err := r.raiseUnrouted(tx, c, t.Now); err != nil {
				return err
			}
		}
	}
	if err := tx.Insert(rows); err != nil || len(events) == 0 {
		return err
	}
	tx.OnCommit(r.Decide.Raise)
	return triage.Accept(tx, t.Account, events, bodies)
}

// raiseUnrouted raises the alert that no channel of a rule takes alerts: the account's owner is notified.
func (r *Service) raiseUnrouted(tx *db.Tx, c *change, now time.Time) error {
	return r.Own.Raise(tx, selfalert.Alert{
		Account: c.Watch.Account, Key: fmt.Sprintf("monit/channels/%d", c.Watch.Key.Rule), Severity: c.Severity, Lasts: 24 * time.Hour,
		Title: fmt.Sprintf("The alert rule %s fires, and none of its channels takes alerts", c.rule.Name),
		Text:  "Set channel_ids of the rule to a channel that is enabled, or to none: then the route of the integration Monitors decides.",
	}, now)
}
