package incident

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
)

type resolveRequest struct {
	Some
	RootCause  string `json:"root_cause,omitzero" maxLength:"1024" doc:"Why it happened, for each of them."`
	Resolution string `json:"resolution,omitzero" maxLength:"1024" doc:"What helped, likewise."`
}

func (r *Service) resolve(c *api.Call, in resolveRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Writer, i *Incident) error { return d.Resolve(i, in.RootCause, in.Resolution) })
}

// piece is how many alerts are closed in one transaction: other writers wait for it.
const piece = 200

// closeFirst closes the alerts of incidents that have many, piece by piece in transactions of their own, before the
// incidents are closed. If it is interrupted the incidents are still open, so that their notifications go on. Alerts that
// arrive meanwhile are closed with their incident.
func (r *Service) closeFirst(c *api.Call, in resolveRequest) (resolveRequest, error) {
	active := int64(0)
	err := c.Read(func() error {
		active = 0
		for _, id := range in.ids() {
			i, err := Permit(c.Tx, c.Who, id)
			if err != nil {
				return err
			}
			d := r.writer(c)
			if err := d.move(&i, Resolve); err != nil {
				return err
			}
			n, err := d.active(i.IncidentID)
			if err != nil {
				return err
			}
			active += n
		}
		return nil
	})
	if err != nil || active <= piece {
		return in, err
	}
	for _, id := range in.ids() {
		if err := r.closePieces(c, id); err != nil {
			return in, err
		}
	}
	return in, nil
}

// closePieces closes the alerts of an incident, unless it was closed meanwhile.
func (r *Service) closePieces(c *api.Call, id string) error {
	for offset, more := int64(0), true; more; offset += piece {
		err := c.Write(func() error {
			d := r.writer(c)
			i, err := d.Get(id)
			if err != nil {
				return err
			}
			alerts, err := alert.OfIncident(c.Tx, c.Who.AccountID, id, piece, offset)
			more = len(alerts) == piece && i.Progress != Closed
			if err != nil || i.Progress == Closed {
				return err
			}
			return d.closeActive(alerts)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
