package incident

import (
	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/platform/db"
)

// ShowAll returns the views of the incidents of some domain events of an account, in few statements: each incident as it was
// when its event happened if that carries it, else as it is now; nil when the account has no such incident. base is the
// server's public address, as in PageURL.
func ShowAll(tx *db.Tx, base string, account int64, items []activity.Item) ([]*View, error) {
	all, err := ofAll(tx, account, items)
	if err != nil {
		return nil, err
	}
	views := make([]*View, len(items))
	for i, r := range all {
		if r == nil {
			continue
		}
		v, err := show(tx, base, r)
		if err != nil {
			return nil, err
		}
		views[i] = &v
	}
	return views, nil
}

// showPage returns the views of incidents of an account, in few statements.
func (r *Service) showPage(tx *db.Tx, account int64, all []Incident) ([]View, error) {
	if len(all) == 0 {
		return []View{}, nil
	}
	ids := make([]string, len(all))
	for i := range all {
		ids[i] = all[i].IncidentID
	}
	counts, err := alert.CountsOf(tx, account, ids)
	if err != nil {
		return nil, err
	}
	leads, err := LeadsOf(tx, account, all)
	if err != nil {
		return nil, err
	}
	views := make([]View, len(all))
	for i := range all {
		views[i], err = show(tx, r.PublicURL, &withAlerts{all[i], counts[ids[i]], leads[ids[i]]})
		if err != nil {
			return nil, err
		}
	}
	return views, nil
}

// ofAll is Of for some domain events, with the counts and the lead of the alerts of each incident; nil: the account has no such incident.
func ofAll(tx *db.Tx, account int64, items []activity.Item) ([]*withAlerts, error) {
	all := make([]*withAlerts, len(items))
	var unread, uncounted []string
	for i, item := range items {
		r, known := of(item)
		if known {
			all[i] = &r
		} else {
			unread = append(unread, item.ID)
		}
		if r.alerts == (alert.Count{}) {
			uncounted = append(uncounted, item.ID)
		}
	}
	if len(uncounted) == 0 {
		return all, nil
	}
	var read map[string]*Incident
	var err error
	if len(unread) > 0 {
		read, err = findAll(tx, account, unread)
		if err != nil {
			return nil, err
		}
	}
	counts, err := alert.CountsOf(tx, account, uncounted)
	if err != nil {
		return nil, err
	}
	opened := map[string]string{} // by the incidents whose lead is not known
	for i, item := range items {
		if all[i] == nil && read[item.ID] != nil {
			all[i] = &withAlerts{Incident: *read[item.ID]}
		}
		if all[i] != nil && all[i].alerts == (alert.Count{}) {
			opened[item.ID] = all[i].DedupKey
		}
	}
	leads, err := alert.LeadsOf(tx, account, opened)
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		if _, unknown := opened[item.ID]; unknown && all[i] != nil && all[i].alerts == (alert.Count{}) {
			all[i].alerts, all[i].lead = counts[item.ID], leads[item.ID]
		}
	}
	return all, nil
}
