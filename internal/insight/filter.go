package insight

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/platform/fault"
)

// Filter is the part that the requests of all figures of incidents have.
type Filter struct {
	Window
	TeamIDs               []int64                   `json:"team_ids,omitzero" maxItems:"100" doc:"Only incidents of channels that these teams own."`
	ChannelIDs            []int64                   `json:"channel_ids,omitzero" maxItems:"100" doc:"Only incidents of these channels; 0: of none."`
	ResponderIDs          []int64                   `json:"responder_ids,omitzero" maxItems:"100" doc:"Only incidents for which one of these persons is or was responsible."`
	Severities            []string                  `json:"severities,omitzero" maxItems:"3" enum:"Critical,Warning,Info,Ok" doc:"Only incidents of these severities; none is Ok."`
	IncidentIDs           []string                  `json:"incident_ids,omitzero" maxItems:"100" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Only these incidents."`
	Query                 string                    `json:"query,omitzero" maxLength:"200" doc:"Text that the title, the headline or the description contains, in upper or lower case."`
	Labels                map[string]string         `json:"labels,omitzero" maxProperties:"20" maxLength:"6144" doc:"Only incidents with all these labels."`
	Fields                map[string]jsontext.Value `json:"fields,omitzero" maxProperties:"20" doc:"Only incidents with all these values of custom fields."`
	OrderBy               string                    `json:"orderby,omitzero" enum:"created_at" doc:"Accepted; always by the time at which incidents began."`
	Asc                   bool                      `json:"asc,omitzero" doc:"Oldest first."`
	IsMyTeam              bool                      `json:"is_my_team,omitzero" doc:"Only incidents of channels that the caller's teams own."`
	SecondsToCloseFrom    *int64                    `json:"seconds_to_close_from,omitzero" minimum:"0" doc:"Only closed incidents that took at least so long."`
	SecondsToCloseTo      *int64                    `json:"seconds_to_close_to,omitzero" minimum:"0" doc:"Only closed incidents that took less."`
	SecondsToAckFrom      *int64                    `json:"seconds_to_ack_from,omitzero" minimum:"0" doc:"Only acknowledged incidents whose acknowledgement took at least so long."`
	SecondsToAckTo        *int64                    `json:"seconds_to_ack_to,omitzero" minimum:"0" doc:"Only acknowledged incidents whose acknowledgement took less."`
	ExportFields          []string                  `json:"export_fields,omitzero" maxItems:"50" maxLength:"64" doc:"Of exports: the columns, in this order; absent: all."`
	DescriptionHTMLToText bool                      `json:"description_html_to_text,omitzero" doc:"Of exports: descriptions without HTML."`
}

// Window is a period and the time zone whose days it has.
type Window struct {
	StartTime int64  `json:"start_time" minimum:"1" maximum:"9999999999" doc:"Start of the window in which incidents began, Unix seconds."`
	EndTime   int64  `json:"end_time" minimum:"1" maximum:"9999999999" doc:"Its end, exclusive, at most 366 days later."`
	TimeZone  string `json:"time_zone,omitzero" maxLength:"64" doc:"IANA name of the time zone of days and hours; absent: the account's."`
}

const (
	day = 86400
	// maxWindow is the longest window, in seconds: a year.
	maxWindow = 366 * day
)

// Check holds the window against its bounds.
func (w Window) Check() error {
	switch span := w.EndTime - w.StartTime; {
	case span <= 0:
		return fault.Invalid("end_time", "must be greater than start_time %d, got %d", w.StartTime, w.EndTime)
	case span > maxWindow:
		return fault.Invalid("end_time", "must be at most 366 days (%d seconds) after start_time, got %d seconds", maxWindow, span)
	}
	_, err := w.zone(time.UTC)
	return err
}

// zone returns the time zone of the request, or the account's.
func (w Window) zone(account *time.Location) (*time.Location, error) {
	if w.TimeZone == "" {
		return account, nil
	}
	zone, err := time.LoadLocation(w.TimeZone)
	if err != nil || w.TimeZone == "Local" {
		return nil, fault.Invalid("time_zone", "must be a time zone such as Europe/Berlin, got %.60q", w.TimeZone)
	}
	return zone, nil
}

// Check holds the filter against its bounds.
func (in Filter) Check() error {
	if err := in.Window.Check(); err != nil {
		return err
	}
	if err := ordered("seconds_to_close", in.SecondsToCloseFrom, in.SecondsToCloseTo); err != nil {
		return err
	}
	return ordered("seconds_to_ack", in.SecondsToAckFrom, in.SecondsToAckTo)
}

func ordered(name string, from, to *int64) error {
	if from != nil && to != nil && *to <= *from {
		return fault.Invalid(name+"_to", "must be greater than %s_from %d, got %d", name, *from, *to)
	}
	return nil
}

// Divided is the part that the requests have whose figures may be divided.
type Divided struct {
	AggregateUnit string `json:"aggregate_unit,omitzero" enum:"day,week,month" doc:"A row for each day (of at most 31), week from Monday, or month, by the time at which incidents began; the window must be a day or longer."`
	SplitHours    bool   `json:"split_hours,omitzero" doc:"A row for each of work (Monday to Friday 09:00 to 18:00), sleep (22:00 to 06:00) and off, by the time at which incidents began."`
}

func (in Divided) check(w Window) error {
	span := w.EndTime - w.StartTime
	switch {
	case in.AggregateUnit == "":
	case span < day:
		return fault.Invalid("aggregate_unit", "needs a window of at least 24 hours, got %d seconds", span)
	case in.AggregateUnit == "day" && span > 31*day+3600: // a window of 31 days in which the clock is put back
		return fault.Invalid("aggregate_unit", "day needs a window of at most 31 days, got %d seconds; choose week or month", span)
	}
	return nil
}

// narrowsByTime reports whether the filter tests figures.
func (in Filter) narrowsByTime() bool {
	return in.SecondsToAckFrom != nil || in.SecondsToAckTo != nil || in.SecondsToCloseFrom != nil || in.SecondsToCloseTo != nil
}

// within reports whether a time is in the bounds that are set.
func within(known bool, seconds int64, from, to *int64) bool {
	if from == nil && to == nil {
		return true
	}
	return known && (from == nil || seconds >= *from) && (to == nil || seconds < *to)
}

// sameJSON reports whether two values are equal, however they are written.
func sameJSON(a, b jsontext.Value) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	return a.Canonicalize() == nil && b.Canonicalize() == nil && strings.Compare(string(a), string(b)) == 0
}
