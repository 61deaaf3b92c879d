package monitor

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/core/condition"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// ExplainRequest asks why an instance of a rule is as it is.
type ExplainRequest struct {
	RuleID uint64            `json:"rule_id" minimum:"1" doc:"The rule."`
	DSID   uint64            `json:"ds_id" minimum:"1" doc:"The datasource."`
	Labels map[string]string `json:"labels,omitzero" maxProperties:"50" maxLength:"2048" doc:"The labels of an instance; absent: whichever changed last."`
	Key    string            `json:"instance_key,omitzero" maxLength:"16" doc:"In place of labels: their key, as /monit/rule/state and /monit/rule/history show it."`
}

// Explanation explains a transition.
type Explanation struct {
	Sentences     []string        `json:"sentences" doc:"What was asked, what came, and what was decided; times are in the caller's time zone."`
	SentencesData []sentence.Data `json:"sentences_data" doc:"The sentences as data, see docs/sentences.md."`
	AsOf          int64           `json:"as_of" doc:"The moment that the queries asked about, Unix milliseconds."`
	Queries       []Asked         `json:"queries" doc:"The queries, each with the row of the instance."`
	Clauses       []string        `json:"clauses" doc:"The comparisons that decided, with their values."`
	EdgeID        string          `json:"edge_id,omitzero" doc:"The edge that asked, by name; absent: the server itself."`
}

// Asked is a query with what it returned for an instance.
type Asked struct {
	Name   string                      `json:"name" doc:"Its name in the rule."`
	Expr   string                      `json:"expr" doc:"The query; at most 1,000 characters are kept."`
	Values map[string]condition.Number `json:"values" doc:"The values of the instance's row, as texts; empty: it had no row."`
	Fields map[string]string           `json:"fields" doc:"Its other columns."`
}

func explain(c *api.Call, in ExplainRequest) (x Explanation, err error) {
	if err := known(c, in.RuleID); err != nil {
		return x, err
	}
	hash := in.Key
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
	x.AsOf, x.EdgeID = t.stored.AsOf, t.stored.Edge
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

func (x *Explanation) add(s sentence.Value) {
	x.Sentences = append(x.Sentences, s.English()+".")
	x.SentencesData = append(x.SentencesData, s.Data())
}

// sentences explain a transition: what was asked, and what was decided.
func (t *Transition) sentences(clock person.Clock) (all []sentence.Value) {
	if t.DSName != "" {
		all = append(all, sentence.New("mon_asked", t.DSName, clock.Second(t.stored.AsOf/1000)))
	}
	for _, q := range t.stored.Queries {
		all = append(all, sentence.New("mon_query", q.Name, q.Expr, q.answer()))
	}
	return append(all, t.stored.Why...)
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
func Explain(tx *db.Tx, account int64, key string, before time.Time, clock person.Clock) (at int64, sentences []sentence.Value, err error) {
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
	return t.At, t.sentences(clock), nil
}
