package incident

import "strconv"

// Field returns the value of a field that filters test, and whether the incident has it.
func (r *Incident) Field(name string) (string, bool) {
	switch name {
	case "severity":
		return r.Severity, true
	case "status":
		return r.Progress, true
	case "title":
		return r.Title, true
	case "description":
		return r.Description, true
	case "dedup_key", "alert_key":
		return r.DedupKey, r.DedupKey != ""
	case "integration_id":
		if len(r.IntegrationIDs) > 0 {
			return strconv.FormatInt(r.IntegrationIDs[0], 10), true
		}
	}
	return "", false
}

// Label returns the value of a label, and whether the incident has it.
func (r *Incident) Label(name string) (string, bool) {
	value, ok := r.Labels[name]
	return value, ok
}
