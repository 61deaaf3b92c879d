package route

import (
	"errors"
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
	Cases         []Case    `json:"cases" maxItems:"100" doc:"Evaluated in this order."`
	Sections      []Section `json:"sections,omitzero" maxItems:"100" doc:"Headings for people."`
	Default       *Default  `json:"default,omitzero" doc:"Where alerts go that meet no case; absent: they are dropped, with a record."`
	Status        string    `json:"status" enum:"enabled" doc:"Always enabled."`
	Version       int64     `json:"version" doc:"Counts the changes, from 1."`
	UpdatedBy     int64     `json:"updated_by" doc:"The person who changed it last."`
	CreatorID     int64     `json:"creator_id" doc:"The person who created it."`
	CreatedAt     int64     `json:"created_at" doc:"Unix seconds."`
	UpdatedAt     int64     `json:"updated_at" doc:"Unix seconds."`
}

// Case is a condition and the channels that alerts which meet it go to.
type Case struct {
	If               filter.Group `json:"if" doc:"Conditions, all of which an alert must meet."`
	ChannelIDs       []int64      `json:"channel_ids" required:"false" maxItems:"100" doc:"Where it goes, with routing_mode standard; not needed with name_mapping."`
	Fallthrough      bool         `json:"fallthrough" required:"false" doc:"The next cases are evaluated as well; absent: they are not."`
	RoutingMode      string       `json:"routing_mode,omitzero" enum:"standard,name_mapping" doc:"standard, also when absent: to channel_ids; name_mapping: to the channel whose name a label has."`
	NameMappingLabel string       `json:"name_mapping_label,omitzero" maxLength:"128" doc:"That label, with name_mapping."`
}

// Section is a heading above the case at a position.
type Section struct {
	Name     string `json:"name" minLength:"1" maxLength:"128" doc:"Its text, unique in the route."`
	Position int64  `json:"position" minimum:"0" required:"false" doc:"The case that it is above, counted from 0; absent: 0."`
}

// Default is the channels for alerts that no case sends anywhere.
type Default struct {
	ChannelIDs []int64 `json:"channel_ids,omitzero" maxItems:"100" doc:"The channels; none: these alerts reach no channel."`
}

// The values of Case.RoutingMode.
const (
	Standard    = "standard"
	NameMapping = "name_mapping"
)

// Kind is how routes are stored: one for each integration, by its id.
var Kind = configstore.Kind[Route]{
	Name: configstore.Route, Section: "routes",
	Head: func(r *Route) configstore.Head {
		return configstore.Head{
			ID:        strconv.FormatInt(r.IntegrationID, 10),
			Name:      fmt.Sprintf("route of integration %d", r.IntegrationID),
			Creator:   r.CreatorID,
			CreatedAt: r.CreatedAt,
			UpdatedAt: r.UpdatedAt,
		}
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
		return configstore.FirstError(
			at.AtLeast("integration_id", r.IntegrationID, 1),
			at.OneOf("status", r.Status, "enabled"),
			r.check(at),
		)
	},
}

// Channels returns the channels that the route names.
func (r *Route) Channels() (ids []int64) {
	r.channels(func(_ string, id int64) { ids = append(ids, id) })
	return ids
}

// channels calls fn with every channel of the route and its path.
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

// check holds a route against its bounds, and against the rules that the schema of the tags does not have.
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

// The bounds of a route. With fallthrough an alert may go to every channel of the route.
const (
	maxCases    = 100 // and sections
	maxChannels = 100 // of a case, and of the default
	maxAll      = 500 // different channels of a route
)

// checkBounds holds each case, and all cases together, against their bounds.
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
		return at.Invalid("if", "must have at least one condition; use default for all other alerts")
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
	var wrong *filter.Error
	if errors.As(filter.Check(filter.Filter{c.If}), &wrong) {
		return at.Invalid("if"+strings.TrimPrefix(wrong.Path, "[0]"), "%s", wrong.Clause())
	}
	return nil
}
