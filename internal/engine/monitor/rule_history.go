package monitor

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
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
	Why          []sentence.Words  `json:"why" doc:"Why, in sentences."`
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
	t.Why, t.WhyData = sentence.Shown(t.stored.Why)
	return t, nil
}

// HistoryRequest asks for what became of the instances of a rule.
type HistoryRequest struct {
	ID uint64 `json:"id" minimum:"1" doc:"The rule."`
	api.CursorRequest
}

// history returns what became of the instances of a rule, the newest first. What a deleted rule found is not shown.
func history(c *api.Call, in HistoryRequest) (reply api.CursorPage[Transition], err error) {
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
