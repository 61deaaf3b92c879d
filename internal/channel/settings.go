package channel

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
)

// Settings is how a channel handles its alerts. What is not set is absent.
type Settings struct {
	AutoResolveTimeout      *int64    `json:"auto_resolve_timeout,omitzero" minimum:"0" maximum:"2592000" doc:"Seconds after which an incident resolves itself; absent or 0: never."`
	AutoResolveMode         *string   `json:"auto_resolve_mode,omitzero" enum:"trigger,update" doc:"Counted from when the incident began (trigger) or from its latest alert (update)."`
	Group                   *Group    `json:"group,omitzero" doc:"Which alerts become one incident; absent in an existing channel: each its own. A channel that is created without it groups by group_key: as the source of the alerts does."`
	Flapping                *Flapping `json:"flapping,omitzero" doc:"When an alert changes too often to notify about; absent: 4 changes in 60 minutes, and 15 minutes of quiet."`
	DisableOutlierDetection *bool     `json:"disable_outlier_detection,omitzero" doc:"Stored for clients that send it; there is no outlier detection."`
	DisableAutoClose        *bool     `json:"disable_auto_close,omitzero" doc:"An incident stays open when all of its alerts are over."`
	IsExternalReportEnabled *bool     `json:"is_external_report_enabled,omitzero" doc:"Stored for clients that send it; incidents are reported through the API."`
	PluginIDs               []int64   `json:"plugin_ids,omitzero" maxItems:"100" doc:"Stored as sent."`
	Reminder                *Reminder `json:"reminder,omitzero" doc:"When people are reminded of an incident that stays open, and what follows if they do not answer; absent: see its members."`
	JoinedInterval          *int64    `json:"joined_interval,omitzero" minimum:"1" maximum:"1440" doc:"Minutes in which alerts that join an acknowledged incident are one message to its responders; absent: 5."`
}

// Reminder holds after how many minutes people are reminded of an incident that stays open. Persons who have acknowledged
// the incident are reminded, else the persons of the last layer of its escalation.
type Reminder struct {
	Critical *int64      `json:"critical,omitzero" minimum:"0" maximum:"10080" doc:"Minutes from one reminder to the next, at least 5; 0: none; absent: 60 for an acknowledged incident, 240 for any other."`
	Warning  *int64      `json:"warning,omitzero" minimum:"0" maximum:"10080" doc:"Minutes for Warning, at least 5; 0: none; absent: 480 for an acknowledged incident, none for any other."`
	Info     *int64      `json:"info,omitzero" minimum:"0" maximum:"10080" doc:"Minutes for Info, at least 5; absent or 0: none."`
	Withdraw *Withdrawal `json:"withdraw,omitzero" doc:"When a reminder without an answer withdraws the acknowledgement, so that the escalation begins again; absent: see its members."`
}

// Withdrawal holds for how many minutes a reminder awaits its answer before the acknowledgement is withdrawn.
type Withdrawal struct {
	Critical *int64 `json:"critical,omitzero" minimum:"0" maximum:"1440" doc:"Minutes after the reminder was delivered, or could not be, at least 5; 0: it is not withdrawn; absent: 10."`
	Warning  *int64 `json:"warning,omitzero" minimum:"0" maximum:"1440" doc:"Minutes for Warning, at least 5; absent or 0: it is not withdrawn."`
	Info     *int64 `json:"info,omitzero" minimum:"0" maximum:"1440" doc:"Minutes for Info, at least 5; absent or 0: it is not withdrawn."`
}

// Group is the rule by which alerts become one incident.
type Group struct {
	Method            string     `json:"method" enum:"i,p,n" doc:"n: every alert is its own incident; p: those that agree in the dimensions of equals; i is treated as n."`
	Equals            [][]string `json:"equals,omitzero" innerMaxItems:"20" maxItems:"5" maxLength:"255" doc:"With p: lists of fields such as labels.service, or group_key: the group that the source puts the alert into. Alerts that agree in a list's fields belong together; the first list whose fields an alert has decides."`
	Cases             []Case     `json:"cases,omitzero" maxItems:"100" doc:"With p: other lists for alerts that match a filter; the first that matches decides."`
	AllEqualsRequired *bool      `json:"all_equals_required,omitzero" doc:"With p: an alert that lacks one of a list's fields is not grouped by it."`
	TimeWindow        *int64     `json:"time_window,omitzero" minimum:"0" maximum:"2592000" doc:"For how many minutes alerts join an incident; absent or 0: as long as it is open."`
	WindowType        *string    `json:"window_type,omitzero" enum:"tumbling,sliding" doc:"The window is counted from the incident's beginning (tumbling, the default) or from its latest alert."`
	StormThreshold    *int64     `json:"storm_threshold,omitzero" minimum:"0" maximum:"10000" doc:"How many alerts of one incident are a storm; absent or 0: none."`
	StormThresholds   []int64    `json:"storm_thresholds,omitzero" maxItems:"5" minimum:"2" maximum:"10000" doc:"Several such steps."`
	IKeys             []string   `json:"i_keys,omitzero" maxItems:"10" maxLength:"255" doc:"Stored as sent."`
	IScoreThreshold   *float64   `json:"i_score_threshold,omitzero" minimum:"0.5" maximum:"1" doc:"Stored as sent."`
}

// sourceGroups groups alerts as their sources do, such as Alertmanager by its group_by. Alerts of sources without groups
// are not grouped. A new channel has it unless its creator chooses.
func sourceGroups() *Group {
	return &Group{Method: "p", Equals: [][]string{{"group_key"}}}
}

// Case groups the alerts that match a filter by other fields. Its other members are stored as they were sent.
type Case struct {
	If     filter.Written            `json:"if,omitzero" doc:"Which alerts: groups joined by OR, the conditions of a group by AND, or the conditions of one group; absent: all."`
	Equals FieldLists                `json:"equals,omitzero" minLength:"1" maxLength:"255" doc:"As the group's, or the fields of one list."`
	Others map[string]jsontext.Value `json:",embed" hidden:"true" required:"false"`
}

// FieldLists are lists of fields, or the fields of the only list. Both shapes group alike.
type FieldLists = filter.Either[fieldLists, fieldList]

type (
	fieldLists []fieldList
	fieldList  []string
)

// MaxItems returns the bound of lists, for the schema.
func (fieldLists) MaxItems() int { return maxFieldLists }

// MaxItems returns the bound of fields, for the schema.
func (fieldList) MaxItems() int { return maxGroupFields }

// lists returns the lists of fields that the case groups by.
func (c Case) lists() (lists [][]string) {
	for _, fields := range c.Equals.Value {
		lists = append(lists, fields)
	}
	return lists
}

// Flapping is when an alert counts as flapping: it changes too often between active and over.
type Flapping struct {
	IsDisabled *bool  `json:"is_disabled,omitzero" doc:"Alerts never count as flapping."`
	MaxChanges *int64 `json:"max_changes,omitzero" minimum:"2" maximum:"100" doc:"How many changes between active and over are too many."`
	InMins     *int64 `json:"in_mins,omitzero" minimum:"1" maximum:"1440" doc:"Within how many minutes."`
	MuteMins   *int64 `json:"mute_mins,omitzero" minimum:"0" maximum:"1440" doc:"After how many minutes without a change it ends: until then one incident stays open and notifies once; absent or 0: it is only marked."`
}

// check holds the settings against the bounds that the schema of the tags does not have, or that account files
// need too.
func (s Settings) check(at configstore.RecordPath) error {
	if err := s.checkFollowUp(at); err != nil || s.Group == nil {
		return err
	}
	group := at.Member("group")
	if err := configstore.FirstError(
		checkEquals(group, s.Group.Equals, asLists),
		atMost(group, "cases", len(s.Group.Cases), maxCases),
		atMost(group, "storm_thresholds", len(s.Group.StormThresholds), 5),
		atMost(group, "i_keys", len(s.Group.IKeys), 10),
	); err != nil {
		return err
	}
	var size filter.Size
	for i, c := range s.Group.Cases {
		at := group.Element("cases", i)
		if err := configstore.FirstError(checkWritten(at, "if", c.If), checkEquals(at, c.lists(), c.Equals.Path)); err != nil {
			return err
		}
		size = size.Add(filter.Measure(c.If.Value))
	}
	if why := size.CheckList(); why != "" {
		return group.Invalid("cases", "%s", why)
	}
	return nil
}

// The bounds of grouping, as the tags have them.
const (
	maxCases       = 100
	maxFieldLists  = 5
	maxGroupFields = 20 // of a list
)

// asLists is the path into lists that were written as lists.
func asLists(path string) string { return path }

// checkEquals holds lists of fields against their bounds. written converts a path into them to their written shape.
func checkEquals(at configstore.RecordPath, equals [][]string, written func(path string) string) error {
	if err := atMost(at, "equals", len(equals), maxFieldLists); err != nil {
		return err
	}
	for i, fields := range equals {
		if n := len(fields); n > maxGroupFields {
			return at.Invalid("equals"+written(fmt.Sprintf("[%d]", i)), "must have at most %d elements, got %d", maxGroupFields, n)
		}
		for j, field := range fields {
			if err := at.Length("equals"+written(fmt.Sprintf("[%d][%d]", i, j)), field, 1, 255); err != nil {
				return err
			}
		}
	}
	return nil
}

// warnings returns a warning for each setting that has no effect or is probably not meant.
func (s Settings) warnings() (list []string) {
	if s.Group == nil {
		return nil
	}
	switch {
	case s.Group.Method == "i":
		list = append(list, "group.method: i is treated as n, every alert becomes its own incident")
	case s.Group.Method == "p" && len(s.Group.Equals) == 0 && len(s.Group.Cases) == 0:
		list = append(list, "group.equals: names no fields, so all alerts of the channel become one incident")
	case s.Group.Method == "n" && len(s.Group.Equals) > 0:
		list = append(list, "group.equals: has no effect with method n")
	}
	return list
}

func (s Settings) text() (string, error) {
	b, err := json.Marshal(s, json.Deterministic(true))
	return string(b), err
}
