package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// Release settles the notifications that became due while the server was held. Those of incidents that are still open
// and not acknowledged are sent, the newest to each target, and those of alerts of Tocsin's own that have not ended. The
// others are cancelled: they are old by now, and all at
// once they would bury what matters.
func Release(tx *db.Tx, now time.Time) error {
	due, err := db.All(tx, func(scan db.Scan) (n Notification, err error) {
		n, _, _, err = scanStored(scan)
		return n, err
	}, `SELECT account_id, `+columns+` FROM notice WHERE settled_at = 0 AND due_at <= $1`, now.UnixMilli())
	if err != nil {
		return err
	}
	slices.SortFunc(due, func(a, b Notification) int { return cmp.Or(cmp.Compare(b.Created, a.Created), cmp.Compare(b.ID, a.ID)) })
	wants, latest := map[string]string{}, map[string]bool{}
	for i := range due {
		n := &due[i]
		of := fmt.Sprintf("%d/%s", n.Account, n.Incident)
		if _, known := wants[of]; !known {
			if wants[of], err = unwanted(tx, n, now); err != nil {
				return err
			}
		}
		why := wants[of]
		if why == "" && n.Cause == Recovery {
			why = "its incident was opened again"
		}
		if n.Cause == Own {
			if why = "its alert is over"; !latest[n.ownAlert()] && !strings.HasSuffix(n.Event, "_over") {
				why = ""
			}
			latest[n.ownAlert()] = latest[n.ownAlert()] || why != ""
		}
		if to := of + "/" + n.recipient(); why == "" && latest[to] {
			why = "a newer one to the same target is sent"
		} else if why == "" {
			latest[to] = true
			continue
		}
		if _, err := tx.Exec(`UPDATE notice SET status = 'cancelled', settled_at = $3, outcome = $4
			WHERE account_id = $1 AND notice_id = $2 AND settled_at = 0`, n.Account, n.ID, now.UnixMilli(),
			"it waited while the server was held: "+why); err != nil {
			return err
		}
	}
	return nil
}

// unwanted returns why the notifications of an incident that waited are not sent any more; empty when they are.
func unwanted(tx *db.Tx, n *Notification, now time.Time) (string, error) {
	if n.Incident == "" {
		return "it is about no open incident", nil
	}
	i, found, err := incident.Find(tx, n.Account, n.Incident)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "its incident was removed", nil
	case i.Progress == incident.Closed:
		return "its incident is over", nil
	case i.Progress == incident.Processing:
		return "its incident was acknowledged", nil
	case i.SnoozedBefore > now.Unix():
		return "its incident is snoozed", nil
	}
	return "", nil
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
