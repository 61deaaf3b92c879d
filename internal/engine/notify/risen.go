package notify

import (
	"slices"

	"tocsin/internal/incident"
)

// risen returns the title of the alert that makes an open incident as severe as it is, and the alert's description, if its
// severity rose above that of its first alert: the incident's title names another problem then. empty: the title stays, also
// because a person has set it or the severity.
func (o *overview) risen(i *incident.Incident) (title, text string) {
	byHand := i.CreatorID != 0 || slices.Contains(i.ManualOverrides, "title") || slices.Contains(i.ManualOverrides, "incident_severity")
	if byHand || i.RoseAt == 0 || i.AlertCnt <= 1 || i.Progress == incident.Closed || o.worst == nil || o.worst.Severity != i.Severity {
		return "", ""
	}
	return o.worst.Title, o.worst.Description
}
