package monitor

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/core/condition"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// Transition is what became of an instance at a moment.
type Transition struct {
	TransitionID string            `json:"transition_id" doc:"24 hexadecimal digits."`
	DSID         uint64            `json:"ds_id" doc:"The datasource."`
	DSName       string            `json:"ds_name" doc:"Its name then; empty: the alert was closed by a person's change."`
	Check        string            `json:"check" doc:"threshold, anydata, nodata or too_many."`
	InstanceKey  string            `json:"instance_key" doc:"16 hexadecimal digits, of the labels."`
	Labels       map[string]string `json:"labels" doc:"The labels of the instance."`
	At           int64             `json:"at" doc:"The moment that was asked about, Unix milliseconds."`
	From         string            `json:"from" doc:"The severity before; empty: it began."`
	To           string            `json:"to" enum:"begin,rise,fall,recovered,gone,closed" doc:"What became of it."`
	Severity     string            `json:"severity" doc:"The severity then; of an end the last one."`
	Why          []string          `json:"why" doc:"Why, in sentences."`
	WhyData      []sentence.Data   `json:"why_data" doc:"The sentences as data, see docs/sentences.md."`
	EventID      string            `json:"event_id" doc:"Its event in the first channel; empty: none was sent."`

	stored record
}

const shownColumns = `transition_id, datasource_id, check_name, instance_key, at, change, from_severity, severity, event_id, body`

func scanTransition(scan db.Scan) (t Transition, err error) {
	var source int64
	var body string
	err = scan(&t.TransitionID, &source, &t.Check, &t.InstanceKey, &t.At, &t.To, &t.From, &t.Severity, &t.EventID, &body)
	if err != nil {
		return t, err
	}
	t.DSID = uint64(source)
	if err := json.Unmarshal([]byte(body), &t.stored); err != nil {
		return t, err
	}
	t.DSName, t.Labels = t.stored.Source, filled(t.stored.Labels)
	t.WhyData = append([]sentence.Data{}, t.stored.Why...)
	t.Why = []string{}
	for i := range t.WhyData {
		t.Why = append(t.Why, t.WhyData[i].English())
	}
	return t, nil
}

type historyRequest struct {
	ID uint64 `json:"id" minimum:"1" doc:"The rule."`
	api.CursorRequest
}

// history returns what became of the instances of a rule, the newest first. What a deleted rule found is not shown.
func history(c *api.Call, in historyRequest) (reply api.CursorPage[Transition], err error) {
	if err := known(c, in.ID); err != nil {
		return reply, err
	}
	binding := fmt.Sprint("rule history", c.Who.AccountID, in.ID)
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*) FROM rule_transition WHERE account_id = $1 AND rule_id = $2`,
		c.Who.AccountID, int64(in.ID))
	if err != nil {
		return reply, err
	}
	limit, offset := in.Window(20)
	found, err := db.All(c.Tx, scanTransition, `SELECT `+shownColumns+` FROM rule_transition
		WHERE account_id = $1 AND rule_id = $2 AND ($3 = '' OR transition_id < $3) ORDER BY transition_id DESC LIMIT $4 + 0 OFFSET $5 + 0`,
		c.Who.AccountID, int64(in.ID), from.ID, limit+1, offset)
	if err != nil {
		return reply, err
	}
	return api.NewCursorPage(c, found, limit, total, binding, func(t Transition) api.Position { return api.Position{ID: t.TransitionID} }), nil
}

func known(c *api.Call, rule uint64) error {
	_, found, err := alertrule.FindRule(c.Tx, c.Who.AccountID, rule)
	if err == nil && !found {
		return fault.Missing("alert rule", rule)
	}
	return err
}

type explainRequest struct {
	RuleID uint64            `json:"rule_id" minimum:"1" doc:"The rule."`
	DSID   uint64            `json:"ds_id" minimum:"1" doc:"The datasource."`
	Labels map[string]string `json:"labels,omitzero" doc:"The labels of an instance; absent: whichever changed last."`
}

// Explanation explains a transition.
type Explanation struct {
	Sentences     []string        `json:"sentences" doc:"What was asked, what came, and what was decided; times are in the caller's time zone."`
	SentencesData []sentence.Data `json:"sentences_data" doc:"The sentences as data, see docs/sentences.md."`
	AsOf          int64           `json:"as_of" doc:"The moment that the queries asked about, Unix milliseconds."`
	Queries       []Asked         `json:"queries" doc:"The queries, each with the row of the instance."`
	Clauses       []string        `json:"clauses" doc:"The comparisons that decided, with their values."`
}

// Asked is a query with what it returned for an instance.
type Asked struct {
	Name   string                      `json:"name" doc:"Its name in the rule."`
	Expr   string                      `json:"expr" doc:"The query; at most 1,000 characters are kept."`
	Values map[string]condition.Number `json:"values" doc:"The values of the instance's row, as texts; empty: it had no row."`
	Fields map[string]string           `json:"fields" doc:"Its other columns."`
}

func explain(c *api.Call, in explainRequest) (x Explanation, err error) {
	if err := known(c, in.RuleID); err != nil {
		return x, err
	}
	hash := ""
	if in.Labels != nil {
		hash = evaluate.Key(in.Labels)
	}
	t, found, err := db.One(c.Tx, scanTransition, `SELECT `+shownColumns+` FROM rule_transition WHERE account_id = $1 AND rule_id = $2
		AND datasource_id = $3 AND ($4 = '' OR instance_key = $4) ORDER BY transition_id DESC LIMIT 1`,
		c.Who.AccountID, int64(in.RuleID), int64(in.DSID), hash)
	if err != nil {
		return x, err
	}
	x = Explanation{Sentences: []string{}, SentencesData: []sentence.Data{}, Queries: []Asked{}, Clauses: []string{}}
	if !found {
		x.add(sentence.New("mon_no_change"))
		return x, nil
	}
	clock, err := person.ClockOf(c.Tx, c.Who, c.Now)
	if err != nil {
		return x, err
	}
	x.AsOf = t.stored.AsOf
	for _, q := range t.stored.Queries {
		x.Queries = append(x.Queries, Asked{q.Name, q.Expr, q.Values, filled(q.Fields)})
	}
	for _, clause := range t.stored.Clauses {
		x.Clauses = append(x.Clauses, fmt.Sprintf("%s: %v %s %v", clause.Text, clause.Left, clause.Op, clause.Right))
	}
	for _, one := range t.sentences(clock) {
		x.add(one)
	}
	return x, nil
}

func (x *Explanation) add(d sentence.Data) {
	x.Sentences = append(x.Sentences, d.English()+".")
	x.SentencesData = append(x.SentencesData, d)
}

// sentences explain a transition: what was asked, and what was decided.
func (t *Transition) sentences(clock person.Clock) (all []sentence.Data) {
	if t.DSName != "" {
		all = append(all, sentence.New("mon_asked", t.DSName, clock.Second(t.stored.AsOf/1000)))
	}
	for _, q := range t.stored.Queries {
		all = append(all, sentence.New("mon_query", q.Name, q.Expr, q.answer()))
	}
	return append(all, t.WhyData...)
}

// answer returns what a query returned for an instance, in words.
func (q *queried) answer() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(q.Values)) {
		parts = append(parts, strings.TrimPrefix(name+"="+q.Values[name].String(), "="))
	}
	for _, name := range slices.Sorted(maps.Keys(q.Fields)) {
		parts = append(parts, name+"="+event.Cut(q.Fields[name], maxAnswer))
	}
	if len(parts) == 0 {
		return "no row"
	}
	return strings.Join(parts, ", ")
}

// maxAnswer is how many characters of a column a sentence shows.
const maxAnswer = 100

// Explain returns the sentences about the transition that an event is about, and its moment in Unix milliseconds; none: the alert
// is not one of a rule. key is the key of the alert; later transitions than before are left out.
func Explain(tx *db.Tx, account int64, key string, before time.Time, clock person.Clock) (at int64, sentences []string, err error) {
	parts := strings.Split(key, ":") // rule, datasource, query, instance, check
	if len(parts) != 5 {
		return 0, nil, nil
	}
	rule, failed := strconv.ParseUint(parts[0], 10, 64)
	source, wrong := strconv.ParseUint(parts[1], 10, 64)
	if failed != nil || wrong != nil {
		return 0, nil, nil //nolint:nilerr // the key of another source
	}
	t, found, err := db.One(tx, scanTransition, `SELECT `+shownColumns+` FROM rule_transition WHERE account_id = $1 AND rule_id = $2
		AND datasource_id = $3 AND check_name = $4 AND instance_key = $5 AND transition_id < $6 ORDER BY transition_id DESC LIMIT 1`,
		account, int64(rule), int64(source), parts[4], parts[3], id.After(before))
	if err != nil || !found {
		return 0, nil, err
	}
	for _, one := range t.sentences(clock) {
		sentences = append(sentences, one.English()+".")
	}
	return t.At, sentences, nil
}
