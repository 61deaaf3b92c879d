package channel

import (
	"cmp"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/check"
	"tocsin/internal/db"
	"tocsin/internal/fault"
	"tocsin/internal/filter"
)

// Rule is what silence rules and drop rules have in common.
type Rule struct {
	AccountID   int64         `json:"account_id" doc:"Owning account."`
	ChannelID   int64         `json:"channel_id" doc:"The channel it belongs to."`
	Priority    int64         `json:"priority" doc:"Lower is evaluated first."`
	RuleName    string        `json:"rule_name" doc:"1 to 39 characters."`
	Description string        `json:"description" doc:"At most 500 characters."`
	Filters     filter.Filter `json:"filters" doc:"What it applies to: groups joined by OR, the conditions of a group by AND."`
	Status      string        `json:"status" enum:"enabled,disabled" doc:"Whether it is in use."`
	RuleID      string        `json:"rule_id" doc:"24 hexadecimal digits."`
	UpdatedBy   int64         `json:"updated_by" doc:"The person who changed it last."`
	CreatedAt   int64         `json:"created_at" doc:"Unix seconds."`
	UpdatedAt   int64         `json:"updated_at" doc:"Unix seconds."`
	DeletedAt   int64         `json:"deleted_at,omitzero" doc:"Unix seconds; never set in a list, which leaves deleted rules out."`
}

const ruleColumns = `account_id, channel_id, priority, rule_name, description, filters, status, rule_id, updated_by, created_at, updated_at, deleted_at`

// ruleSelection is what a list holds, and in which order: that of evaluation.
const ruleSelection = ` WHERE account_id = $1 AND channel_id = $2 AND status <> 'deleted' AND deleted_at = 0 ORDER BY priority, created_at, rule_id`

// columns scans into ruleColumns; the filters come as text.
func (r *Rule) columns(filters *string) []any {
	return []any{&r.AccountID, &r.ChannelID, &r.Priority, &r.RuleName, &r.Description, filters, &r.Status, &r.RuleID, &r.UpdatedBy, &r.CreatedAt, &r.UpdatedAt, &r.DeletedAt}
}

func (r *Rule) values(account int64, filters []byte) []any {
	return []any{account, r.ChannelID, r.Priority, r.RuleName, r.Description, string(filters), r.Status, r.RuleID, r.UpdatedBy, r.CreatedAt, r.UpdatedAt, r.DeletedAt}
}

func (r *Rule) readFilters(text string) error {
	return fault.Wrap(json.Unmarshal([]byte(text), &r.Filters), "filters of rule %s", r.RuleID)
}

// normal fills in what a record may leave out; ids are compared in lower case.
func (r *Rule) normal() {
	r.RuleID = strings.ToLower(r.RuleID)
	r.Status = cmp.Or(r.Status, "enabled")
}

// check holds a record against the bounds of docs/api.md, 10, "Channel rules". A rule without
// conditions is refused, because some would read it as all alerts and some as none; so is one of a
// channel that is not there, because nothing could ever list or apply it.
func (r *Rule) check(tx *db.Tx, at check.At, account int64) error {
	if len(r.Filters) == 0 {
		return at.Invalid("filters", "must have at least one group of conditions")
	}
	if err := check.First(
		at.Account(r.AccountID, account),
		at.Object("rule_id", r.RuleID),
		at.Length("rule_name", r.RuleName, 1, 39),
		at.Length("description", r.Description, 0, 500),
		at.OneOf("status", r.Status, "enabled", "disabled", "deleted"),
		at.AtLeast("updated_by", r.UpdatedBy, 0),
		at.AtLeast("created_at", r.CreatedAt, 0),
		at.AtLeast("updated_at", r.UpdatedAt, 0),
		at.AtLeast("deleted_at", r.DeletedAt, 0),
		checkFilters(at, r.Filters),
	); err != nil {
		return err
	}
	_, found, err := Find(tx, account, r.ChannelID)
	if err == nil && !found {
		err = at.Invalid("channel_id", "channel %d does not exist", r.ChannelID)
	}
	return err
}

func checkFilters(at check.At, f filter.Filter) error {
	var wrong *filter.Error
	if errors.As(filter.Check(f), &wrong) {
		return at.Invalid("filters"+wrong.Path, "%s, got %.100q", wrong.Want, wrong.Value)
	}
	return nil
}
