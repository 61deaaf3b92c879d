package channel

import (
	"cmp"
	"strings"

	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// SilenceRule keeps matching alerts from becoming incidents: once, from one moment to another
// (TimeFilter), or again and again (TimeFilters). It has one of the two.
type SilenceRule struct {
	Rule
	Filters           filter.Filter   `json:"filters" doc:"What it applies to: groups joined by OR, the conditions of a group by AND."`
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

// Silences is how silence rules are kept. In an account file is_effective is accepted and not kept, because
// it depends on the moment.
var Silences = configstore.Kind[SilenceRule]{
	Name: configstore.Silence, Section: "silence_rules",
	Head:     func(r *SilenceRule) configstore.Head { return r.head() },
	Refs:     func(r *SilenceRule) []configstore.Target { return calendarRefs(r.TimeFilters) },
	CheckAll: checkAll[SilenceRule],
	Check: func(tx *db.Tx, at configstore.RecordPath, account int64, r *SilenceRule) error {
		r.normal(account)
		return configstore.FirstError(r.Rule.check(tx, at, account), r.check(at))
	},
}

// normal fills in what may be left out. A one-off window of zeros beside recurring ones is how some clients
// write "none".
func (r *SilenceRule) normal(account int64) {
	r.Rule.normal(account)
	r.IsEffective = nil
	r.FromIncidentID = strings.ToLower(cmp.Or(r.FromIncidentID, id.NilObject))
	if r.TimeFilter != nil && *r.TimeFilter == (OnceTimeFilter{}) && len(r.TimeFilters) > 0 {
		r.TimeFilter = nil
	}
}

func (r *SilenceRule) check(at configstore.RecordPath) error {
	if err := configstore.FirstError(checkFilters(at, "filters", r.Filters, true), at.Object("from_incident_id", r.FromIncidentID)); err != nil {
		return err
	}
	once := r.TimeFilter
	switch {
	case once == nil && len(r.TimeFilters) == 0:
		return at.Invalid("time_filter", "a silence rule needs time_filter or time_filters")
	case once != nil && len(r.TimeFilters) > 0:
		return at.Invalid("time_filter", "must be null beside time_filters")
	case once != nil && (once.StartTime < 1 || once.EndTime <= once.StartTime):
		return at.Invalid("time_filter", "start_time must be at least 1 and before end_time, got %d and %d", once.StartTime, once.EndTime)
	}
	return checkWindows(at, r.TimeFilters)
}

func checkWindows(at configstore.RecordPath, windows []TimeFilter) error {
	if err := atMost(at, "time_filters", len(windows), maxWindows); err != nil {
		return err
	}
	for i, w := range windows {
		if err := w.check(at.Element("time_filters", i)); err != nil {
			return err
		}
	}
	return nil
}

func calendarRefs(windows []TimeFilter) (refs []configstore.Target) {
	for _, w := range windows {
		refs = append(refs, configstore.RefTo(configstore.Calendar, w.calendar()))
	}
	return refs
}
