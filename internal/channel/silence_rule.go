package channel

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/check"
	"tocsin/internal/db"
	"tocsin/internal/fault"
	"tocsin/internal/id"
)

// SilenceRule keeps matching alerts from becoming incidents: once, from one moment to another
// (TimeFilter), or again and again (TimeFilters). It has one of the two.
type SilenceRule struct {
	Rule
	FromIncidentID    string          `json:"from_incident_id" doc:"The incident it was made from; 24 zeros: none."`
	TimeFilters       []TimeFilter    `json:"time_filters" doc:"Windows that come again; empty on a one-off rule."`
	TimeFilter        *OnceTimeFilter `json:"time_filter" doc:"The window of a one-off rule; null on a recurring rule."`
	IsDirectlyDiscard bool            `json:"is_directly_discard" doc:"Matching alerts leave no record."`
	IsEffective       *bool           `json:"is_effective,omitempty" required:"true" doc:"It is enabled and the moment of the call is in one of its windows."`
	IsAutoDelete      bool            `json:"is_auto_delete,omitzero" doc:"It goes away after its window."`
}

// OnceTimeFilter is a window that comes once.
type OnceTimeFilter struct {
	_         struct{} `nullable:"true"`
	StartTime int64    `json:"start_time" doc:"Unix seconds, inside the window."`
	EndTime   int64    `json:"end_time" doc:"Unix seconds, the first one after the window."`
}

const silenceColumns = ruleColumns + `, from_incident_id, time_filters, start_time, end_time, is_directly_discard, is_auto_delete`

func scanSilenceRule(scan db.Scan) (r SilenceRule, err error) {
	var windows, filters string
	var once OnceTimeFilter
	if err := scan(append(r.columns(&filters), &r.FromIncidentID, &windows, &once.StartTime, &once.EndTime, &r.IsDirectlyDiscard, &r.IsAutoDelete)...); err != nil {
		return r, err
	}
	if once.EndTime != 0 {
		r.TimeFilter = &once
	}
	if err := json.Unmarshal([]byte(windows), &r.TimeFilters); err != nil {
		return r, fault.Wrap(err, "time_filters of silence rule %s", r.RuleID)
	}
	return r, r.readFilters(filters)
}

// LoadSilenceRules checks the records of an account file's silence_rules and inserts them; the channels
// must be there. A record without a status is enabled; is_effective is accepted and not kept, because it
// depends on the moment. Errors are fault.Invalid with the record's path.
func LoadSilenceRules(tx *db.Tx, account int64, records []SilenceRule) error {
	for i, r := range records {
		at := check.Record("silence_rules", i)
		r.normal()
		if err := r.check(tx, at, account); err != nil {
			return err
		}
		n, err := r.insert(tx, account)
		if err != nil {
			return err
		}
		if n == 0 {
			return at.Twice("rule_id", r.RuleID)
		}
	}
	return nil
}

// normal fills in what a record may leave out. A one-off window of zeros beside recurring ones is how
// some clients write "none".
func (r *SilenceRule) normal() {
	r.Rule.normal()
	r.FromIncidentID = strings.ToLower(cmp.Or(r.FromIncidentID, id.NilObject))
	if r.TimeFilter != nil && *r.TimeFilter == (OnceTimeFilter{}) && len(r.TimeFilters) > 0 {
		r.TimeFilter = nil
	}
}

func (r *SilenceRule) check(tx *db.Tx, at check.At, account int64) error {
	return check.First(
		r.Rule.check(tx, at, account),
		at.Object("from_incident_id", r.FromIncidentID),
		r.checkTime(at),
	)
}

func (r *SilenceRule) checkTime(at check.At) error {
	once := r.TimeFilter
	switch {
	case once == nil && len(r.TimeFilters) == 0:
		return at.Invalid("time_filter", "a silence rule needs time_filter or time_filters")
	case once != nil && len(r.TimeFilters) > 0:
		return at.Invalid("time_filter", "must be null beside time_filters")
	case once != nil && (once.StartTime < 1 || once.EndTime <= once.StartTime):
		return at.Invalid("time_filter", "start_time must be at least 1 and before end_time, got %d and %d", once.StartTime, once.EndTime)
	}
	for i, w := range r.TimeFilters {
		if err := w.check(at.Element("time_filters", i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *SilenceRule) insert(tx *db.Tx, account int64) (int64, error) {
	filters, err := json.Marshal(r.Filters)
	if err != nil {
		return 0, err
	}
	windows, err := json.Marshal(r.TimeFilters)
	if err != nil {
		return 0, err
	}
	var once OnceTimeFilter
	if r.TimeFilter != nil {
		once = *r.TimeFilter
	}
	return tx.Exec(`INSERT INTO silence_rule (`+silenceColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) ON CONFLICT DO NOTHING`,
		append(r.values(account, filters), r.FromIncidentID, string(windows), once.StartTime, once.EndTime, r.IsDirectlyDiscard, r.IsAutoDelete)...)
}

// DumpSilenceRules reads all silence rules of an account, deleted ones too, by id, without is_effective.
func DumpSilenceRules(tx *db.Tx, account int64) ([]SilenceRule, error) {
	return db.All(tx, scanSilenceRule, `SELECT `+silenceColumns+` FROM silence_rule WHERE account_id = $1 ORDER BY rule_id`, account)
}
