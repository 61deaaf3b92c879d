package app

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// addressChanged notifies the old e-mail address of a person and the account's owner that the address was changed, because who
// has the new one may sign in with it. Each message is in the language of its reader. An owner who changes the own address learns
// of it at the old one.
func (a *App) addressChanged(tx *db.Tx, c person.AddressChange, now time.Time) error {
	whose, _, err := person.Find(tx, c.Account, c.Person)
	if err != nil {
		return err
	}
	n := notify.Notification{Account: c.Account, Event: "email_changed", Cause: notify.Own, Severity: "Warning"}
	if c.Old != "" && a.can("email") {
		old := n
		old.Method, old.Address = "email", notify.Address{To: c.Old}
		old.Reason = sentence.New("was_address")
		old.Detail = addressLetter(c, whose.Locale, true)
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
	of, _, err := person.Find(tx, c.Account, owner)
	if err != nil {
		return err
	}
	n.Reason, n.Key = sentence.New("owner"), changeKey(c.Person, fmt.Sprint("by ", c.By, " to"), c.New, now)
	n.Detail = addressLetter(c, of.Locale, false)
	return a.notify.PutFor(tx, p, nil, n.Severity, n, now)
}

// addressLetter returns the message about a change in a language: to the old address, or to the owner.
func addressLetter(c person.AddressChange, locale string, toOld bool) notify.Detail {
	chinese, own := strings.HasPrefix(locale, "zh"), c.By == c.Person
	by, none := "by "+c.ByName, "none"
	if own {
		by = "with their own session or key"
	}
	if chinese {
		by, none = "由 "+c.ByName+" ", "无"
		if own {
			by = "通过其本人的会话或密钥"
		}
	}
	switch {
	case chinese && toOld:
		return notify.Detail{Subject: c.Name + " 的邮箱地址已更改",
			Text: "Tocsin 不再向此地址发送给 " + c.Name + " 的邮件：该地址已" + by + "更改。如果这不是你预期的更改，请告知账户所有者。"}
	case toOld:
		return notify.Detail{Subject: "The e-mail address of " + c.Name + " was changed",
			Text: "Tocsin does not write to this address for " + c.Name + " any more: it was changed " + by +
				". If that is a surprise, tell the owner of the account."}
	}
	old, fresh := cmp.Or(c.Old, none), cmp.Or(c.New, none)
	d := notify.Detail{Subject: "The e-mail address of " + c.Name + " was changed",
		Text: fmt.Sprintf("It was changed %s from %s to %s.", by, old, fresh)}
	ends := " Links to sign in that were made before do not work any more."
	if chinese {
		d = notify.Detail{Subject: c.Name + " 的邮箱地址已更改", Text: fmt.Sprintf("该地址已%s从 %s 更改为 %s。", by, old, fresh)}
		ends = "此前创建的登录链接已失效。"
	}
	if c.Old != "" { // a first address ends no link
		d.Text += ends
	}
	return d
}

// changeKey is the key of a message about a change of a person's address from or to another. It is the same within an hour: a
// person who changes the own address to and fro must not fill the mailbox of a stranger or of the owner.
func changeKey(person int64, direction, address string, now time.Time) string {
	return fmt.Sprintf("email-changed/%d/%s/%x/%d", person, direction, sha256.Sum256([]byte(strings.ToLower(address))), now.Unix()/3600)
}
