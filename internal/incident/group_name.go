package incident

import "slices"

// GroupName is the source's name of the group of an alert, such as "7 new issues in 2.0.1".
type GroupName struct {
	Title, Text string // empty: the source does not name it
	Key         string // the group key of the alert in its channel
	BySource    bool   // the key is the source's group alone
}

// rename sets title and description to the source's name of the group, and reports whether they changed. The
// incident must hold that group alone, since the name would not fit the alerts of others. Texts that a person has set stay.
func (r *Incident) rename(n GroupName) bool {
	whole := n.BySource && n.Key == r.GroupKey || r.AlertCnt <= 1
	if n.Title == "" || !whole || r.CreatorID != 0 {
		return false
	}
	title, description := r.Title, r.Description
	if !slices.Contains(r.ManualOverrides, "title") {
		r.Title, r.SourceTitle = n.Title, true
	}
	if !slices.Contains(r.ManualOverrides, "description") {
		r.Description = n.Text
	}
	return title != r.Title || description != r.Description
}
