package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// Release settles the notifications that became due while the server was held, or were tried before or waited to share a
// message. Those that their incident still needs are sent, the newest to each target, and those of alerts of Tocsin's own
// that have not ended. The others are cancelled: they are old by now, and all at once they would bury what matters.
func Release(tx *db.Tx, now time.Time) error {
	due, err := db.All(tx, scanNotification, `SELECT account_id, `+columns+` FROM notice
		WHERE settled_at = 0 AND (due_at <= $1 OR late = 1 OR attempts > 0)`, now.UnixMilli())
	if err != nil {
		return err
	}
	slices.SortFunc(due, func(a, b Notification) int { return cmp.Or(cmp.Compare(b.Created, a.Created), cmp.Compare(b.ID, a.ID)) })
	incidents, latest := map[string]maybeIncident{}, map[string]bool{}
	for i := range due {
		n := &due[i]
		of := fmt.Sprintf("%d/%s", n.Account, n.Incident)
		if _, known := incidents[of]; !known && n.Incident != "" {
			var about maybeIncident
			about.Incident, about.found, err = incident.Find(tx, n.Account, n.Incident)
			if err != nil {
				about.found = true // a corrupt one must not keep the server held: its message fails by itself
			}
			incidents[of] = about
		}
		why := unwanted(n, incidents[of], now)
		if n.Cause == Own {
			why = sentence.New("its_alert_over")
			if !latest[n.ownAlert()] && !strings.HasSuffix(n.Event, "_over") {
				why = ""
			}
			latest[n.ownAlert()] = latest[n.ownAlert()] || why != ""
		}
		if to := of + "/" + n.recipient(); why == "" && latest[to] {
			why = sentence.New("newer_sent")
		} else if why == "" {
			latest[to] = true
			continue
		}
		if err := tx.Do(`UPDATE notice SET status = 'cancelled', settled_at = $3, outcome = $4
			WHERE account_id = $1 AND notice_id = $2 AND settled_at = 0`, n.Account, n.ID, now.UnixMilli(),
			string(sentence.New("waited_held", why))); err != nil {
			return err
		}
	}
	return nil
}

// maybeIncident is an incident, if it was found.
type maybeIncident struct {
	incident.Incident
	found bool
}

// unwanted returns why a notification that waited is not sent any more; empty when it is.
func unwanted(n *Notification, about maybeIncident, now time.Time) sentence.Value {
	switch {
	case n.Incident == "":
		return sentence.New("no_open_incident")
	case n.Cause == Recovery && about.Progress == incident.Closed:
		return sentence.New("is_over")
	}
	return staleReason(n, &about.Incident, about.found, now)
}

// ownAlert identifies the alert of Tocsin's own that a notification is about. Its key ends in status and method.
func (n *Notification) ownAlert() string {
	key := n.Key[:max(0, strings.LastIndexByte(n.Key, '/'))]
	return fmt.Sprintf("%d/%s", n.Account, key[:max(0, strings.LastIndexByte(key, '/'))])
}

// recipient identifies the target of a notification among those of its incident. The key of a page ends in run, layer,
// repeat and target; repeats have the same target.
func (n *Notification) recipient() string {
	if n.Cause == Own {
		return n.Key
	}
	if n.Person != 0 {
		return fmt.Sprintf("%d/%s", n.Person, n.Method)
	}
	parts := strings.SplitN(n.Key, "/", 5)
	if n.Cause == Page && len(parts) == 5 {
		parts[3] = ""
	}
	return strings.Join(parts, "/")
}
