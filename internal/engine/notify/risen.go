package notify

import (
	"slices"

	"tocsin/internal/incident"
)

// risen returns title and description of the alert that determines an open incident's severity. The severity must have risen
// above that of the first alert: the incident's title names another problem then. Both are empty if the title stays, also
// because a person has set the title or the severity.
func (o *overview) risen(i *incident.Incident) (title, text string) {
	byHand := i.CreatorID != 0 || slices.Contains(i.ManualOverrides, "title") || slices.Contains(i.ManualOverrides, "incident_severity")
	if byHand || i.RoseAt == 0 || i.AlertCnt <= 1 || i.Progress == incident.Closed || o.worst == nil || o.worst.Severity != i.Severity {
		return "", ""
	}
	return o.worst.Title, o.worst.Description
}
