package schedule

import (
	"fmt"

	"tocsin/internal/api"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/db"
)

type selfRequest struct{ Window }

func (r *Service) self(c *api.Call, in selfRequest) (api.Items[Schedule], error) {
	w, err := in.asked(maxSelfWindow)
	if err != nil {
		return api.Items[Schedule]{}, err
	}
	// A document that names a person holds the person's digits. Not the other way round, so the layers
	// are looked at again below.
	found, err := db.All(c.Tx, row(c.Who.AccountID, false),
		`SELECT `+columns+` FROM schedule WHERE account_id = $1 AND layers LIKE $2`+newestFirst,
		c.Who.AccountID, fmt.Sprintf("%%%d%%", c.Who.PersonID))
	if err != nil {
		return api.Items[Schedule]{}, err
	}
	items := []Schedule{}
	for _, s := range found {
		e, err := s.engine(c.Who.Zone)
		if err != nil {
			return api.Items[Schedule]{}, err
		}
		if !names(e, c.Who.PersonID) || w != nil && !serves(e, c.Who.PersonID, *w) {
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

// names tells whether a person is in any group of any layer.
func names(e *oncall.Schedule, person int64) bool {
	for i := range e.Layers {
		for _, g := range e.Layers[i].Groups {
			if has(g.Members, person) {
				return true
			}
		}
	}
	return false
}

// serves tells whether a person is on call at some moment of the window.
func serves(e *oncall.Schedule, person int64, w window) bool {
	for _, p := range e.Window(w.from, w.to).Final {
		if has(p.Group.Members, person) {
			return true
		}
	}
	return false
}
