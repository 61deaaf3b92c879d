package notify

import (
	"slices"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/event"
	"tocsin/internal/platform/db"
)

// PutNeeded is Put, unless another notification about the same incident makes the notification superfluous. A repeat in
// quiet hours is superfluous, and a message about a severity that its target is informed of.
func (r *Service) PutNeeded(tx *db.Tx, n Notification, now time.Time) error {
	superfluous, err := held(tx, &n, now)
	if err != nil || superfluous {
		return err
	}
	return r.Put(tx, n, now)
}

// informed reports whether the target of a message about a rise needs no message. Either a message about the incident is
// still to be sent, and will show the severity. Or a message was stored for this severity since the rise.
func informed(tx *db.Tx, n *Notification) (bool, error) {
	all, err := OfIncident(tx, n.Account, n.Incident)
	queue, budget := n.queue(), n.budgetKey()
	return slices.ContainsFunc(all, func(o Notification) bool {
		switch {
		case o.Person != n.Person || o.Method != n.Method || o.Queue != queue || o.budget != budget:
			return false
		case o.Status == Waiting && slices.Contains(calls, o.Cause):
			return true
		}
		// A page of the second in which the severity rose may be older than the rise: a person may lower a severity and raise it.
		page := o.Cause == Page && (n.Cause == Page && o.Detail.Run == n.Detail.Run || n.Cause == Rise && o.Created > n.Rose)
		shows := page || o.Event == activity.IncidentSeverity || o.Event == activity.IncidentMerge
		return shows && (o.Status == Sent || o.Status == Sending || o.Status == Waiting) &&
			o.Created >= n.Rose && event.Rank(o.Detail.Severity) >= event.Rank(n.Severity)
	}), err
}

// calls are the causes of notifications that show the severity of an incident first.
var calls = []string{Page, Fallback, Assigned, Rise}

// Digest identifies an address without revealing it.
func (a Address) Digest() string { return digest(a) }
