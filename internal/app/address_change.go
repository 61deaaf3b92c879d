package app

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/engine/notify"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// addressChanged notifies the old e-mail address of a person and the account's owner that the address was changed, because who
// has the new one may sign in with it. An owner who changes the own address learns of it at the old one.
func (a *App) addressChanged(tx *db.Tx, c person.AddressChange, now time.Time) error {
	by := "by " + c.ByName
	if c.By == c.Person {
		by = "with their own session or key"
	}
	n := notify.Notification{
		Account: c.Account, Event: "email_changed", Cause: notify.Own, Severity: "Warning",
		Detail: notify.Detail{Subject: "The e-mail address of " + c.Name + " was changed"},
	}
	if c.Old != "" && a.can("email") {
		old := n
		old.Method, old.Address, old.Reason = "email", notify.Address{To: c.Old}, "it was the address until now"
		old.Detail.Text = "Tocsin does not write to this address for " + c.Name + " any more: it was changed " + by +
			". If that is a surprise, tell the owner of the account."
		// Once an hour: a person who changes the own address to and fro must not fill a stranger's mailbox.
		old.Key = fmt.Sprintf("email-changed/%d/%x/%d", c.Person, sha256.Sum256([]byte(strings.ToLower(c.Old))), now.Unix()/3600)
		if err := a.notify.Put(tx, old, now); err != nil {
			return err
		}
	}
	owner, err := auth.OwnerOf(tx, c.Account)
	if err != nil || owner == c.Person && owner == c.By {
		return err
	}
	p, found, err := notify.Find(tx, c.Account, owner)
	if err != nil || !found {
		return err
	}
	n.Reason, n.Key = "the account's owner", fmt.Sprintf("email-changed/%d/owner/%d", c.Person, now.UnixMilli())
	n.Detail.Text = fmt.Sprintf("It was changed %s from %s to %s. Links to sign in that were made before do not work any more.",
		by, cmp.Or(c.Old, "none"), cmp.Or(c.New, "none"))
	return a.notify.PutFor(tx, p, nil, n.Severity, n, now)
}
