package statuspage

import (
	"unicode/utf8"

	"tocsin/internal/configstore"
)

// changeKind is what references and the audit log call a change.
const changeKind = "status_page_change"

// The types of changes.
const (
	incident    = "incident"
	maintenance = "maintenance"
)

// Change is an incident or a maintenance that a page shows. Status, affected components and the end follow from its
// updates, and from the clock where auto_update_by_schedule is set; see shown.
type Change struct {
	ChangeID          int64      `json:"change_id" doc:"The change's identifier."`
	PageID            int64      `json:"page_id" doc:"The page that shows it."`
	Type              string     `json:"type" enum:"incident,maintenance" doc:"What it is."`
	Title             string     `json:"title" maxLength:"255" doc:"What readers see first."`
	Description       string     `json:"description" maxLength:"10000" doc:"Markdown, stored as it was sent."`
	Status            string     `json:"status" enum:"investigating,identified,monitoring,resolved,scheduled,ongoing,completed" doc:"The first four of an incident, the others of a maintenance."`
	Affected          []Affected `json:"affected_components,omitempty" maxItems:"200" doc:"The components that its updates name, with the latest status of each. Not in account files: it is computed."`
	ResponderIDs      []int64    `json:"responder_ids" maxItems:"100" doc:"The persons who work on it."`
	LinkedChangeIDs   []string   `json:"linked_change_ids" maxItems:"100" maxLength:"64" doc:"Identifiers of what it has to do with."`
	StartAt           int64      `json:"start_at_seconds" doc:"When it began or begins, Unix seconds."`
	CloseAt           int64      `json:"close_at_seconds,omitzero" doc:"When it ended or is to end, Unix seconds; absent: not known."`
	IsRetrospective   bool       `json:"is_retrospective" doc:"It was over before it was entered."`
	Updates           []Update   `json:"updates" maxItems:"100" doc:"Its timeline, oldest first."`
	NotifySubscribers bool       `json:"notify_subscribers" doc:"Subscribers are to be notified of it and of its updates."`
	AutoUpdate        bool       `json:"auto_update_by_schedule" doc:"A maintenance becomes ongoing at its start and completed at its end by itself."`
	CreatorID         int64      `json:"creator_id" doc:"The person who created it; 0: not known."`
	CreatedAt         int64      `json:"created_at" doc:"Unix seconds."`
	UpdatedAt         int64      `json:"updated_at" doc:"Unix seconds."`
}

// Update is an entry of a change's timeline.
type Update struct {
	UpdateID    string            `json:"update_id,omitempty" minLength:"1" maxLength:"64" doc:"Letters, digits, - and _; absent in a request: a new one."`
	At          int64             `json:"at_seconds" required:"false" minimum:"1" maximum:"9999999999" doc:"When, Unix seconds; absent in a request: now."`
	Status      string            `json:"status,omitempty" enum:"investigating,identified,monitoring,resolved,scheduled,ongoing,completed" doc:"The change's status from then on; absent: as before."`
	Description string            `json:"description" required:"false" maxLength:"10000" doc:"Markdown, stored as it was sent."`
	Components  []ComponentChange `json:"component_changes" required:"false" maxItems:"200" doc:"The components whose status it changes, each once."`
}

// ComponentChange is the new status of a component.
type ComponentChange struct {
	ComponentID string `json:"component_id" maxLength:"64" doc:"A component of the page."`
	Name        string `json:"component_name" required:"false" maxLength:"255" doc:"Its name, in replies; the last one, if the page has it no longer."`
	Status      string `json:"status" enum:"operational,degraded,partial_outage,full_outage,under_maintenance" doc:"For an incident any but the last; for a maintenance operational or under_maintenance."`
}

// Affected is a component that a change affects, with its status.
type Affected struct {
	Component
	Status string `json:"status" enum:"operational,degraded,partial_outage,full_outage,under_maintenance" doc:"Its status because of the change."`
}

// Bounds of one change.
const (
	maxUpdates = 100
	maxText    = 100_000 // characters of all descriptions together
)

// check returns a fault for a change that is not sound by itself. Its updates are in order.
func (c *Change) check(at configstore.RecordPath) error {
	if err := configstore.FirstError(
		at.OneOf("type", c.Type, incident, maintenance),
		at.Length("title", c.Title, 1, 255), at.Length("description", c.Description, 0, 10_000),
		within(at, "start_at_seconds", c.StartAt, maxTime), within(at, "close_at_seconds", c.CloseAt, maxTime),
		c.checkEnd(at),
	); err != nil {
		return err
	}
	if n := len(c.Updates); n < 1 || n > maxUpdates {
		return at.Invalid("updates", "must have 1 to %d elements, got %d", maxUpdates, n)
	}
	text, ids := utf8.RuneCountInString(c.Description), map[string]bool{}
	for i := range c.Updates {
		u := &c.Updates[i]
		if ids[u.UpdateID] {
			return at.Element("updates", i).Twice("update_id", u.UpdateID)
		}
		ids[u.UpdateID] = true
		text += utf8.RuneCountInString(u.Description)
		if err := u.check(at.Element("updates", i), c.Type); err != nil {
			return err
		}
	}
	if text > maxText {
		return at.Invalid("updates", "must have at most %d characters of descriptions together, got %d", maxText, text)
	}
	return c.checkTimeline(at)
}

// checkEnd returns a fault for an end or a schedule that the change cannot have.
func (c *Change) checkEnd(at configstore.RecordPath) error {
	switch {
	case c.AutoUpdate && (c.Type != maintenance || c.IsRetrospective):
		return at.Invalid("auto_update_by_schedule", "must be false unless it is a maintenance that is still to come or going on")
	case c.AutoUpdate && c.CloseAt == 0:
		return at.Invalid("close_at_seconds", "must be set with auto_update_by_schedule")
	case c.IsRetrospective && c.CloseAt == 0:
		return at.Invalid("close_at_seconds", "must be set for a retrospective change")
	case c.CloseAt != 0 && c.CloseAt <= c.StartAt:
		return at.Invalid("close_at_seconds", "must be later than start_at_seconds %d, got %d", c.StartAt, c.CloseAt)
	}
	return nil
}

// check returns a fault for an update that a change of this type cannot have.
func (u *Update) check(at configstore.RecordPath, of string) error {
	if !partID.MatchString(u.UpdateID) {
		return at.Invalid("update_id", "must be 1 to 64 letters, digits, - or _, got %.80q", u.UpdateID)
	}
	if u.Status != "" {
		if err := at.OneOf("status", u.Status, statuses[of]...); err != nil {
			return err
		}
	}
	if err := configstore.FirstError(
		within(at, "at_seconds", u.At, maxTime), at.Length("description", u.Description, 0, 10_000),
	); err != nil {
		return err
	}
	ids := map[string]bool{}
	for i, c := range u.Components {
		at := at.Element("component_changes", i)
		if ids[c.ComponentID] {
			return at.Twice("component_id", c.ComponentID)
		}
		ids[c.ComponentID] = true
		if err := configstore.FirstError(
			at.Length("component_id", c.ComponentID, 1, 64), at.OneOf("status", c.Status, componentStatuses[of]...),
		); err != nil {
			return err
		}
	}
	return nil
}
