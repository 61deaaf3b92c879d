package incident

import (
	"cmp"
	"slices"

	"tocsin/internal/alert"
	"tocsin/internal/core/render"
	"tocsin/internal/platform/db"
)

// Headline returns the name under which people read of the incident everywhere, on one line, and the description that
// belongs to it. The name is that of the lead among its alerts, unless a person named the incident, or the source did and the
// severity has not risen since. A nil lead stands for the incident's first alert, as it was when it opened the incident.
func (r *Incident) Headline(lead *alert.Lead) (headline, description string) {
	byHand := r.CreatorID != 0 || slices.Contains(r.ManualOverrides, "title")
	if byHand || lead == nil || r.SourceTitle && !r.raisedBy(lead) {
		return render.Headline(r.Title, r.Labels, byHand), r.Description
	}
	description = lead.Description
	if lead.Title == r.Title {
		description = cmp.Or(description, r.Description)
	}
	if slices.Contains(r.ManualOverrides, "description") {
		description = r.Description
	}
	return render.Headline(lead.Title, lead.Labels, false), description
}

// raisedBy reports whether the lead, one of several alerts, raised the severity of the open incident: a name from before then is
// of another problem. A name for a single alert changes with the alert.
func (r *Incident) raisedBy(lead *alert.Lead) bool {
	return r.RoseAt != 0 && r.AlertCnt > 1 && r.Progress != Closed && lead.Severity == r.Severity &&
		!slices.Contains(r.ManualOverrides, "incident_severity")
}

// named returns the headline with the place of the alert, as messages name an incident of a single alert, and the description:
// the incidents of a storm have the same headline.
func (r *Incident) named(lead *alert.Lead) (name, description string) {
	labels := r.Labels
	if lead != nil {
		labels = lead.Labels
	}
	name, description = r.Headline(lead)
	return render.Placed(name, labels), description
}

// Name returns what messages and the console call the incident: its headline with the place of its lead.
func (r *Incident) Name(lead *alert.Lead) string {
	name, _ := r.named(lead)
	return name
}

// NameNow reads the lead of the incident and returns its Name.
func (r *Incident) NameNow(tx *db.Tx) (string, error) {
	lead, err := r.Lead(tx)
	if err != nil {
		return "", err
	}
	return r.Name(lead), nil
}

// Lead returns the alert that the incident is named after, for Headline; nil: it has no alerts.
func (r *Incident) Lead(tx *db.Tx) (*alert.Lead, error) {
	leads, err := alert.LeadsOf(tx, r.AccountID, map[string]string{r.IncidentID: r.DedupKey})
	return leads[r.IncidentID], err
}

// LeadsOf returns the leads of some incidents of an account, by incident; those without alerts are left out.
func LeadsOf(tx *db.Tx, account int64, all []Incident) (map[string]*alert.Lead, error) {
	opened := map[string]string{}
	for i := range all {
		opened[all[i].IncidentID] = all[i].DedupKey
	}
	return alert.LeadsOf(tx, account, opened)
}

// PageURL returns the address of the console's page of an incident; empty when base, the server's public address without
// a final slash, is not known.
func PageURL(base, incident string) string {
	if base == "" || incident == "" {
		return ""
	}
	return base + "/incidents/" + incident
}
