package channel

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
)

// Rule is what all rules of a channel have in common.
type Rule struct {
	AccountID   int64  `json:"account_id" doc:"Owning account."`
	ChannelID   int64  `json:"channel_id" doc:"The channel it belongs to."`
	Priority    int64  `json:"priority" doc:"Lower is evaluated first."`
	RuleName    string `json:"rule_name" maxLength:"39" doc:"1 to 39 characters."`
	Description string `json:"description" maxLength:"500" doc:"At most 500 characters."`
	Status      string `json:"status" enum:"enabled,disabled,deleted" doc:"Whether it is in use; deleted: in account files only."`
	RuleID      string `json:"rule_id" maxLength:"24" doc:"24 hexadecimal digits."`
	UpdatedBy   int64  `json:"updated_by" doc:"The person who changed it last."`
	CreatedAt   int64  `json:"created_at" doc:"Unix seconds."`
	UpdatedAt   int64  `json:"updated_at" doc:"Unix seconds."`
	DeletedAt   int64  `json:"deleted_at,omitzero" doc:"Unix seconds; never set in a list, which omits deleted rules."`
}

func (r *Rule) rule() *Rule { return r }

// head returns the columns that the store keeps of a rule.
func (r *Rule) head() configstore.Head {
	return configstore.Head{
		ID:        r.RuleID,
		Parent:    strconv.FormatInt(r.ChannelID, 10),
		Rank:      r.Priority,
		Name:      r.RuleName,
		CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt,
	}
}

// normalise fills in what a record may leave out. Ids are stored and compared in lower case.
func (r *Rule) normalise(account int64) {
	r.RuleID = strings.ToLower(r.RuleID)
	r.Status = cmp.Or(r.Status, "enabled")
	if r.AccountID == 0 {
		r.AccountID = account
	}
}

// check holds a record against the bounds of docs/api.md, 10, "Channel rules". It also rejects a rule of a
// channel that does not exist, because no operation could ever list or apply it.
func (r *Rule) check(tx *db.Tx, at configstore.RecordPath, account int64) error {
	if err := configstore.FirstError(
		at.Account(r.AccountID, account),
		at.Object("rule_id", r.RuleID),
		at.Length("rule_name", r.RuleName, 1, 39),
		at.Length("description", r.Description, 0, 500),
		at.OneOf("status", r.Status, "enabled", "disabled", "deleted"),
		at.AtLeast("updated_by", r.UpdatedBy, 0),
		at.AtLeast("created_at", r.CreatedAt, 0),
		at.AtLeast("updated_at", r.UpdatedAt, 0),
		at.AtLeast("deleted_at", r.DeletedAt, 0),
	); err != nil {
		return err
	}
	_, found, err := Find(tx, account, r.ChannelID)
	if err != nil {
		return err
	}
	if !found {
		return at.Invalid("channel_id", "channel %d does not exist", r.ChannelID)
	}
	return nil
}

// checkFilters rejects a malformed filter, or one beyond its bounds. Where conditions are needed it rejects an
// empty filter, because some readers take it for all alerts and some for none.
func checkFilters(at configstore.RecordPath, f filter.Filter, needed bool) error {
	if needed && len(f) == 0 {
		return at.Invalid("filters", "must have at least one group of conditions")
	}
	return checkWritten(at, "filters", filter.Groups(f))
}

// checkWritten is checkFilters for a filter in either shape, which may be empty.
func checkWritten(at configstore.RecordPath, member string, w filter.Written) error {
	var wrong *filter.Error
	if errors.As(filter.CheckWritten(w), &wrong) {
		return at.Invalid(member+wrong.Path, "%s", wrong.Clause())
	}
	return nil
}
