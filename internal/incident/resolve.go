package incident

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/platform/db"
)

// ResolveRequest asks to close incidents.
type ResolveRequest struct {
	Some
	RootCause  string `json:"root_cause,omitzero" maxLength:"1024" doc:"Why it happened, for each of them."`
	Resolution string `json:"resolution,omitzero" maxLength:"1024" doc:"What helped, likewise."`
}

func (r *Service) beforeResolve(c *api.Call, in ResolveRequest) (ResolveRequest, error) {
	return in, r.closeFirst(c, in.ids(), func(d Writer, i *Incident) error { return d.move(i, Resolve) })
}

func (r *Service) resolve(c *api.Call, in ResolveRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Writer, i *Incident) error { return d.Resolve(i, in.RootCause, in.Resolution) })
}

// piece is how many alerts are closed in one transaction: other writers wait for it.
const piece = 200

// closeFirst calls CloseFirst for incidents that have many alerts together, if the caller may read all of them and check
// refuses none.
func (r *Service) closeFirst(c *api.Call, ids []string, check func(Writer, *Incident) error) error {
	many := false
	err := c.Read(func() (err error) {
		for _, id := range ids {
			i, err := Permit(c.Tx, c.Who, id)
			if err != nil {
				return err
			}
			if err := check(r.writer(c), &i); err != nil {
				return err
			}
		}
		many, err = HaveMany(c.Tx, c.Who.AccountID, ids...)
		return err
	})
	if err != nil || !many {
		return err
	}
	write := func(fn func(*db.Tx) error) error { return c.Write(func() error { return fn(c.Tx) }) }
	for _, id := range ids {
		if err := CloseFirst(write, r.writer(c), id, nil); err != nil {
			return err
		}
	}
	return nil
}

// HaveMany reports whether incidents together have more active alerts than one transaction should close.
func HaveMany(tx *db.Tx, account int64, incidents ...string) (bool, error) {
	counts, err := alert.CountsOf(tx, account, incidents)
	active := int64(0)
	for _, count := range counts {
		active += count.Active
	}
	return active > piece, err
}

// CloseFirst closes the alerts of an incident piece by piece, each in a transaction of write, before the incident is closed.
// If it is interrupted the incident is still open, so that its notifications go on. Alerts that arrive meanwhile are closed
// with the incident. It ends early if the incident was closed meanwhile, or if due reports false; nil: it is always due.
func CloseFirst(write func(func(*db.Tx) error) error, d Writer, incident string, due func(*Incident) bool) error {
	for offset, more := int64(0), true; more; offset += piece {
		err := write(func(tx *db.Tx) error {
			d.Tx, more = tx, false
			i, found, err := Find(tx, d.Account, incident)
			if err != nil || !found || i.Progress == Closed || due != nil && !due(&i) {
				return err
			}
			alerts, err := alert.OfIncident(tx, d.Account, incident, piece, offset)
			if err != nil {
				return err
			}
			more = len(alerts) == piece
			return d.closeActive(alerts)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
