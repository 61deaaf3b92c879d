package incident

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
)

type removeRequest struct {
	Some
	api.DryRun
}

// beforeRemove closes many alerts in pieces. A dry run closes none.
func (r *Service) beforeRemove(c *api.Call, in removeRequest) (removeRequest, error) {
	if in.DryRun.Only {
		return in, nil
	}
	return in, r.closeFirst(c, in.ids(), func(Writer, *Incident) error { return nil })
}

func (r *Service) remove(c *api.Call, in removeRequest) (api.Removal, error) {
	_, err := r.each(c, in.ids(), func(d Writer, i *Incident) error {
		if i.Progress != Closed && !in.DryRun.Only { // cancels pending notifications, and does not leave active alerts without their incident
			if err := d.Resolve(i, "", ""); err != nil {
				return err
			}
		}
		name, err := i.NameNow(c.Tx)
		if err != nil {
			return err
		}
		c.Removed("incident", i.IncidentID, name)
		return d.Remove(i)
	})
	return api.Removal{}, err
}

// Remove deletes a closed incident with its feed. Its alerts stay, without an incident.
func (d Writer) Remove(r *Incident) error {
	if _, err := alert.Move(d.Tx, d.Account, r.IncidentID, "", d.Now); err != nil {
		return err
	}
	return remove(d.Tx, d.Account, r.IncidentID)
}
