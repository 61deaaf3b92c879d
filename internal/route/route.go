// Package route keeps the routes of shared integrations: to which channels their alerts go. Every version
// that ever was is kept.
//
// Deciding where an alert goes is pure (Match); it must never depend on anything but the route, the alert
// and the channels there are.
package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tocsin/internal/configstore"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
)

// Route is the route of one integration. The first case whose conditions an alert meets decides, and with
// fallthrough the next ones too; the default is for alerts that meet none.
type Route struct {
	IntegrationID int64     `json:"integration_id" doc:"The integration."`
	Cases         []Case    `json:"cases" doc:"Looked at in this order."`
	Sections      []Section `json:"sections,omitzero" doc:"Headings for people."`
	Default       *Default  `json:"default,omitzero" doc:"Where alerts go that meet no case; absent: they are dropped, with a record."`
	Status        string    `json:"status" enum:"enabled" doc:"Always enabled."`
	Version       int64     `json:"version" doc:"Counts the changes, from 1."`
	UpdatedBy     int64     `json:"updated_by" doc:"The person who changed it last."`
	CreatorID     int64     `json:"creator_id" doc:"The person who made it."`
	CreatedAt     int64     `json:"created_at" doc:"Unix seconds."`
	UpdatedAt     int64     `json:"updated_at" doc:"Unix seconds."`
}

// Case is one way for alerts to go.
type Case struct {
	If               filter.Group `json:"if" doc:"Conditions, all of which an alert must meet."`
	ChannelIDs       []int64      `json:"channel_ids" maxItems:"100" doc:"Where it goes, with routing_mode standard."`
	Fallthrough      bool         `json:"fallthrough" doc:"The next cases are looked at as well."`
	RoutingMode      string       `json:"routing_mode,omitzero" enum:"standard,name_mapping" doc:"standard, also when absent: to channel_ids; name_mapping: to the channel whose name a label has."`
	NameMappingLabel string       `json:"name_mapping_label,omitzero" maxLength:"128" doc:"That label, with name_mapping."`
}

// Section is a heading above the case at a position.
type Section struct {
	Name     string `json:"name" minLength:"1" maxLength:"128" doc:"What it says; no two alike."`
	Position int64  `json:"position" minimum:"0" doc:"The case it stands above, counted from 0."`
}

// Default is where alerts go that meet no case.
type Default struct {
	ChannelIDs []int64 `json:"channel_ids" maxItems:"100" doc:"The channels."`
}

// The ways of a case.
const (
	Standard    = "standard"
	NameMapping = "name_mapping"
)

// Kind is how routes are kept: one for each integration, by its id.
var Kind = configstore.Kind[Route]{
	Name: configstore.Route, Section: "routes",
	Head: func(r *Route) configstore.Head {
		return configstore.Head{ID: strconv.FormatInt(r.IntegrationID, 10), Name: fmt.Sprintf("route of integration %d", r.IntegrationID), Creator: r.CreatorID, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	},
	Refs: func(r *Route) (refs []configstore.Target) {
		r.channels(func(_ string, id int64) { refs = append(refs, configstore.RefTo(configstore.Channel, id)) })
		return refs
	},
	Check: func(_ *db.Tx, at configstore.RecordPath, _ int64, r *Route) error {
		if r.Status == "" {
			r.Status = "enabled"
		}
		r.Version = max(r.Version, 1)
		return configstore.FirstError(at.AtLeast("integration_id", r.IntegrationID, 1), at.OneOf("status", r.Status, "enabled"), r.check(at))
	},
}

// channels calls fn with every channel that is named and where it stands.
func (r *Route) channels(fn func(path string, id int64)) {
	for i, c := range r.Cases {
		for j, id := range c.ChannelIDs {
			fn(fmt.Sprintf("cases[%d].channel_ids[%d]", i, j), id)
		}
	}
	if r.Default != nil {
		for j, id := range r.Default.ChannelIDs {
			fn(fmt.Sprintf("default.channel_ids[%d]", j), id)
		}
	}
}

// check holds a route against what schemas cannot say.
func (r *Route) check(at configstore.RecordPath) error {
	if len(r.Cases) == 0 && r.Default == nil {
		return at.Invalid("cases", "or default is needed: without both every alert would be dropped")
	}
	if err := r.checkBounds(at); err != nil {
		return err
	}
	for i, s := range r.Sections {
		at := at.Element("sections", i)
		if err := at.Length("name", s.Name, 1, 128); err != nil {
			return err
		}
		if s.Position < 0 || s.Position > int64(len(r.Cases)) {
			return at.Invalid("position", "must be from 0 to %d, the number of cases, got %d", len(r.Cases), s.Position)
		}
		if slices.ContainsFunc(r.Sections[:i], func(o Section) bool { return o.Name == s.Name }) {
			return at.Twice("name", s.Name)
		}
	}
	return nil
}

// The bounds of a route. An alert may be sent to every channel of one that falls through.
const (
	maxCases    = 100 // and sections
	maxChannels = 100 // of a case, and of the default
	maxAll      = 500 // different channels of a route
)

// checkBounds holds the cases and what they add up to against their bounds.
func (r *Route) checkBounds(at configstore.RecordPath) error {
	if n := max(len(r.Cases), len(r.Sections)); n > maxCases {
		return at.Invalid("cases", "and sections must be at most %d each, got %d", maxCases, n)
	}
	var size filter.Size
	for i, c := range r.Cases {
		if err := c.check(at.Element("cases", i)); err != nil {
			return err
		}
		size = size.Add(filter.Measure(filter.Filter{c.If}))
	}
	if why := size.CheckList(); why != "" {
		return at.Invalid("cases", "%s", why)
	}
	if r.Default != nil && len(r.Default.ChannelIDs) > maxChannels {
		return at.Member("default").Invalid("channel_ids", "must be at most %d, got %d", maxChannels, len(r.Default.ChannelIDs))
	}
	all := map[int64]bool{}
	if r.channels(func(_ string, id int64) { all[id] = true }); len(all) > maxAll {
		return at.Invalid("cases", "and default must name at most %d channels together, got %d", maxAll, len(all))
	}
	return nil
}

func (c Case) check(at configstore.RecordPath) error {
	switch {
	case len(c.If) == 0:
		return at.Invalid("if", "must have at least one condition; what is for all alerts belongs into default")
	case c.RoutingMode == NameMapping && c.NameMappingLabel == "":
		return at.Invalid("name_mapping_label", "is required with routing_mode name_mapping")
	case c.RoutingMode != NameMapping && len(c.ChannelIDs) == 0:
		return at.Invalid("channel_ids", "must name at least one channel")
	case len(c.ChannelIDs) > maxChannels:
		return at.Invalid("channel_ids", "must be at most %d, got %d", maxChannels, len(c.ChannelIDs))
	case utf8.RuneCountInString(c.NameMappingLabel) > event.MaxLabelKey:
		return at.Length("name_mapping_label", c.NameMappingLabel, 0, event.MaxLabelKey)
	case c.RoutingMode != "" && c.RoutingMode != Standard && c.RoutingMode != NameMapping:
		return at.OneOf("routing_mode", c.RoutingMode, "", Standard, NameMapping)
	}
	if wrong, ok := filter.Check(filter.Filter{c.If}).(*filter.Error); ok {
		return at.Invalid("if"+strings.TrimPrefix(wrong.Path, "[0]"), "%s", wrong.Reason())
	}
	return nil
}

// Look is how an alert fared with one case.
type Look struct {
	Case     string  // case_0, case_1 and so on, or default
	Matched  bool    // the alert met its conditions, or none other was met
	Channels []int64 // where it sends the alert; none when no channel has the name of the label
	Why      string  // in words
	Over     bool    // it wanted more steps than a rule has, and counts as not met
}

// Ready is a route compiled once for all alerts. It is safe for concurrent use.
type Ready struct {
	Route
	conditions []*filter.Matcher // of the cases
}

// Compile makes a route ready. Conditions that are not well formed work as filter.Compile says.
func Compile(r Route) *Ready {
	ready := &Ready{r, make([]*filter.Matcher, len(r.Cases))}
	for i, c := range r.Cases {
		ready.conditions[i], _ = filter.Compile(filter.Filter{c.If})
	}
	return ready
}

// Match decides where an alert goes. byName finds channels by their exact name, for name_mapping. Channels
// come in the order in which they are found, each once; none: the alert is dropped. A case over the meter's budget
// is not met.
func (r *Ready) Match(meter *filter.Meter, alert filter.Fields, byName func(name string) []int64) (channels []int64, looks []Look) {
	for i, c := range r.Cases {
		look := Look{Case: fmt.Sprintf("case_%d", i)}
		look.Matched, look.Why = meter.Ask(r.conditions[i], alert)
		if look.Over = meter.Over(); !look.Matched {
			looks = append(looks, look)
			continue
		}
		look.Channels = c.ChannelIDs
		if c.RoutingMode == NameMapping {
			name, _ := alert.Label(c.NameMappingLabel)
			look.Channels = byName(name)
			look.Why += fmt.Sprintf("; the label %s is %q, the name of %d channels", c.NameMappingLabel, name, len(look.Channels))
		}
		looks = append(looks, look)
		channels = join(channels, look.Channels)
		if !c.Fallthrough {
			break
		}
	}
	if len(channels) == 0 && r.Default != nil {
		looks = append(looks, Look{Case: "default", Matched: true, Channels: r.Default.ChannelIDs, Why: "no case sends it anywhere"})
		channels = join(channels, r.Default.ChannelIDs)
	}
	return channels, looks
}

func join(all, more []int64) []int64 {
	for _, id := range more {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}
