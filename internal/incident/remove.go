package incident

import (
	"tocsin/internal/api"
	"tocsin/internal/news"
)

type removeRequest struct {
	Some
	api.DryRun
}

func (r *Room) remove(c *api.Call, in removeRequest) (api.Removal, error) {
	_, err := r.each(c, in.ids(), func(d Desk, i *Incident) error {
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
func (d Desk) Remove(r *Incident) error {
	if _, err := d.Tx.Exec(`UPDATE alert SET incident_id = '', updated_at = $3 WHERE account_id = $1 AND incident_id = $2`, d.Account, r.IncidentID, d.Now.Unix()); err != nil {
		return err
	}
	if _, err := d.Tx.Exec(`DELETE FROM incident WHERE account_id = $1 AND incident_id = $2`, d.Account, r.IncidentID); err != nil {
		return err
	}
	return news.Forget(d.Tx, d.Account, r.IncidentID)
}
