package incident

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
)

type removeRequest struct {
	Some
	api.DryRun
}

func (r *Service) remove(c *api.Call, in removeRequest) (api.Removal, error) {
	_, err := r.each(c, in.ids(), func(d Writer, i *Incident) error {
		if i.Progress != Closed { // whoever waits to be told of it is not, and its alerts do not stay open without it
			if err := d.Resolve(i, "", ""); err != nil {
				return err
			}
		}
		c.Removed("incident", i.IncidentID, i.Title)
		return d.Remove(i)
	})
	return api.Removal{}, err
}

// Remove takes a closed incident away, with its feed. Its alerts stay, and belong to none.
func (d Writer) Remove(r *Incident) error {
	if _, err := alert.Move(d.Tx, d.Account, r.IncidentID, "", d.Now); err != nil {
		return err
	}
	return remove(d.Tx, d.Account, r.IncidentID)
}
