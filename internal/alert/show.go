package alert

import (
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
)

// Show returns an alert as the API shows it, without a check of permissions: the caller of Show is responsible for
// who may see it. found is false when the account has no alert of this id.
func Show(tx *db.Tx, account int64, id string) (a Alert, found bool, err error) {
	a, found, err = db.One(tx, scanAlert,
		selection+` WHERE account_id = $1 AND alert_id = $2 AND deleted_at = 0`, account, id)
	if err != nil || !found {
		return a, false, err
	}
	ch, has, err := channel.Find(tx, account, a.ChannelID)
	if has {
		a.in(ch)
	}
	return a, true, err
}
