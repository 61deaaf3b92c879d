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
		old.Method, old.Address = "email", notify.Address{To: c.Old}
		old.Reason = "it was the address until now"
		old.Detail.Text = "Tocsin does not write to this address for " + c.Name + " any more: it was changed " + by +
			". If that is a surprise, tell the owner of the account."
		old.Key = changeKey(c.Person, "from", c.Old, now)
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
	n.Reason, n.Key = "the account's owner", changeKey(c.Person, fmt.Sprint("by ", c.By, " to"), c.New, now)
	n.Detail.Text = fmt.Sprintf("It was changed %s from %s to %s.", by, cmp.Or(c.Old, "none"), cmp.Or(c.New, "none"))
	if c.Old != "" { // a first address ends no link
		n.Detail.Text += " Links to sign in that were made before do not work any more."
	}
	return a.notify.PutFor(tx, p, nil, n.Severity, n, now)
}

// changeKey is the key of a message about a change of a person's address from or to another. It is the same within an hour: a
// person who changes the own address to and fro must not fill the mailbox of a stranger or of the owner.
func changeKey(person int64, way, address string, now time.Time) string {
	return fmt.Sprintf("email-changed/%d/%s/%x/%d", person, way, sha256.Sum256([]byte(strings.ToLower(address))), now.Unix()/3600)
}
