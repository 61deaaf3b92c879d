package statuspage

import (
	"cmp"
	"slices"

	"tocsin/internal/configstore"
)

// statuses lists the statuses of changes by type, the last one being its end.
var statuses = map[string][]string{
	incident:    {"investigating", "identified", "monitoring", "resolved"},
	maintenance: {"scheduled", "ongoing", "completed"},
}

// operational is the status of a component without trouble.
const operational = "operational"

// componentStatuses lists the statuses that a change of a type can give to a component.
var componentStatuses = map[string][]string{
	incident:    {operational, "degraded", "partial_outage", "full_outage"},
	maintenance: {operational, "under_maintenance"},
}

// isEnd reports whether a status ends a change.
func isEnd(status string) bool { return status == "resolved" || status == "completed" }

// mayFollow reports whether a status of a change may follow another one. An open incident may have its statuses in any
// order, because people find out that they were wrong; a maintenance goes forward only; what has ended stays ended.
func mayFollow(kind, before, after string) bool {
	switch {
	case before == "" || before == after:
		return true
	case isEnd(before):
		return false
	case kind == incident:
		return true
	}
	return slices.Index(statuses[kind], before) < slices.Index(statuses[kind], after)
}

// order sorts the timeline, oldest first. Of updates of the same moment the one that was added later comes last.
func (c *Change) order() {
	slices.SortStableFunc(c.Updates, func(a, b Update) int { return cmp.Compare(a.At, b.At) })
}

// add adds an update to the timeline.
func (c *Change) add(u Update) {
	c.Updates = append(c.Updates, u)
	c.order()
}

// written returns the status of the timeline, and the update by which the change ended; nil: none.
func (c *Change) written() (status string, end *Update) {
	for i := range c.Updates {
		u := &c.Updates[i]
		status = cmp.Or(u.Status, status)
		if isEnd(status) && end == nil {
			end = u
		}
	}
	return status, end
}

// statusAt returns the status at a moment in Unix seconds. A schedule moves a maintenance forward, and never back.
func (c *Change) statusAt(now int64) string {
	status, end := c.written()
	switch {
	case end != nil || !c.AutoUpdate:
		return status
	case now >= c.CloseAt:
		return "completed"
	case now >= c.StartAt:
		return "ongoing"
	}
	return status
}

// endsAt returns the moment in Unix seconds from which the change is over; never: it has no known end.
func (c *Change) endsAt() int64 {
	if _, end := c.written(); end != nil {
		return end.At
	}
	if c.AutoUpdate {
		return c.CloseAt
	}
	return never
}

// beginsAt returns the moment in Unix seconds at which a schedule makes the change ongoing; never: none does.
func (c *Change) beginsAt() int64 {
	if c.AutoUpdate {
		return c.StartAt
	}
	return never
}

// components returns the latest status of each component that the timeline names, in the order in which it names them.
func (c *Change) components() (list []ComponentChange) {
	at := map[string]int{}
	for _, u := range c.Updates {
		for _, one := range u.Components {
			i, known := at[one.ComponentID]
			if !known {
				i = len(list)
				at[one.ComponentID], list = i, append(list, one)
			}
			list[i] = one
		}
	}
	return list
}

// checkTimeline returns a fault for statuses in an order that is not legal, for a change that affects nothing or too
// much, and for one that ends and leaves a component in trouble.
func (c *Change) checkTimeline(at configstore.RecordPath) error {
	before := ""
	for i, u := range c.Updates {
		if u.Status == "" {
			continue
		}
		if !mayFollow(c.Type, before, u.Status) {
			return at.Element("updates", i).Invalid("status", "must not be %s after %s", u.Status, before)
		}
		before = u.Status
	}
	if before == "" {
		return at.Invalid("status", "must be set by one of the updates")
	}
	affected := c.components()
	if n := len(affected); n > maxAffected {
		return at.Invalid("updates", "must name at most %d components, got %d", maxAffected, n)
	}
	for _, one := range affected {
		if isEnd(before) && one.Status != operational {
			return at.Invalid("component_changes", "must make component %s operational when the change is %s, it is %s", one.ComponentID, before,
				one.Status)
		}
	}
	if c.IsRetrospective && (len(c.Updates) < 2 || !isEnd(before)) {
		return at.Invalid("updates", "must be at least 2 and end with %s for a retrospective change, got %d that end with %s",
			statuses[c.Type][len(statuses[c.Type])-1], len(c.Updates), before)
	}
	return nil
}

// maxAffected is the largest number of components that a change affects.
const maxAffected = 200

// shown returns the change as replies show it at a moment: with its status, its end, the names that components have now,
// and the components that it affects.
func (c Change) shown(page *Page, now int64) Change {
	c.Status = c.statusAt(now)
	if end := c.endsAt(); end != never && c.CloseAt == 0 {
		c.CloseAt = end
	}
	c.Updates = slices.Clone(c.Updates)
	for i := range c.Updates {
		u := &c.Updates[i]
		u.Components = slices.Clone(u.Components)
		for j := range u.Components {
			if component := page.component(u.Components[j].ComponentID); component != nil {
				u.Components[j].Name = component.Name
			}
		}
	}
	c.Affected = []Affected{}
	for _, one := range c.components() {
		affected := Affected{Component{ComponentID: one.ComponentID, Name: one.Name}, one.Status}
		if component := page.component(one.ComponentID); component != nil {
			affected.Component = *component
		}
		if isEnd(c.Status) {
			affected.Status = operational
		}
		c.Affected = append(c.Affected, affected)
	}
	return c
}
