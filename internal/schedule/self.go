package schedule

import (
	"fmt"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/db"
)

// SelfRequest asks for the schedules that name a person.
type SelfRequest struct {
	PersonID int64 `json:"person_id,omitzero" minimum:"1" doc:"The person; absent: the caller."`
	Window
}

func (r *Service) self(c *api.Call, in SelfRequest) (api.Items[Schedule], error) {
	w, err := in.parse(maxSelfWindow)
	if err != nil {
		return api.Items[Schedule]{}, err
	}
	if in.PersonID == 0 {
		in.PersonID = c.Who.PersonID
	}
	found, err := naming(c.Tx, c.Who.AccountID, in.PersonID)
	if err != nil {
		return api.Items[Schedule]{}, err
	}
	items := []Schedule{}
	for _, s := range found {
		if err := s.attach(c.Tx); err != nil {
			return api.Items[Schedule]{}, err
		}
		e, err := s.engine(c.Who.Zone)
		if err != nil {
			return api.Items[Schedule]{}, err
		}
		if !isMember(e, in.PersonID, c.Unix()) || w != nil && !isOnCall(e, in.PersonID, *w) {
			continue
		}
		view, err := r.show(c, s)
		if err != nil {
			return api.Items[Schedule]{}, err
		}
		view.Layers = s.showLayers()
		items = append(items, view)
	}
	return api.Items[Schedule]{Items: items}, nil
}

// naming returns the schedules that may name a person, newest first, as their rows are: in a layer, or as the person who
// takes over by an override. A document that names a person contains the digits of the identifier. Other numbers may
// contain them too, so isMember decides.
func naming(tx *db.Tx, account, person int64) ([]*stored, error) {
	return db.All(tx, scanRow(account, false), `SELECT `+columns+` FROM schedule s WHERE account_id = $1
		AND (layers LIKE $2 OR EXISTS (SELECT 1 FROM schedule_override o
			WHERE o.account_id = s.account_id AND o.by_person = $3 AND o.schedule_id = s.schedule_id))`+newestFirst,
		account, fmt.Sprintf("%%%d%%", person), person)
}

// isMember reports whether a person is in any group of any layer, or covers others now or later.
func isMember(e *oncall.Schedule, person, now int64) bool {
	if slices.ContainsFunc(e.Covers, func(c oncall.Cover) bool { return c.By == person && c.End > now }) {
		return true
	}
	for i := range e.Layers {
		for _, g := range e.Layers[i].Groups {
			if hasPerson(g.Members, person) {
				return true
			}
		}
	}
	return false
}

// isOnCall reports whether a person is on call at some time in the window.
func isOnCall(e *oncall.Schedule, person int64, w window) bool {
	for _, p := range e.Window(w.from, w.to).Final {
		if hasPerson(p.Group.Members, person) {
			return true
		}
	}
	return false
}
