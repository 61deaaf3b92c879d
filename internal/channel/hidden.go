package channel

import (
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Hidden returns the ids of the private channels that the caller may not read. Lists of what belongs to
// channels, such as alerts, leave these out.
func Hidden(tx *db.Tx, who auth.Principal) (hidden []int64, err error) {
	if who.Owner {
		return nil, nil
	}
	private, err := Private(tx, who.AccountID)
	if err != nil {
		return nil, err
	}
	for _, ch := range private {
		if permit(tx, who, ch) != nil { // a failed check hides the channel too
			hidden = append(hidden, ch.ChannelID)
		}
	}
	return hidden, nil
}

// Private returns the private channels of an account.
func Private(tx *db.Tx, account int64) ([]Channel, error) {
	all, _, err := configstore.Kept(tx, account, cachedPrivate{}, func() ([]Channel, bool, error) {
		all, err := db.All(tx, readable(tx, account),
			`SELECT `+columns+` FROM channel WHERE account_id = $1 AND is_private ORDER BY channel_id`, account)
		return all, true, err
	})
	return all, err
}

// OfTeams returns the ids of the channels that the teams own, in order.
func OfTeams(tx *db.Tx, account int64, teams []int64) ([]int64, error) {
	return db.All(tx, db.Column[int64],
		`SELECT channel_id FROM channel WHERE account_id = $1 AND $2 LIKE '%,' || team_id || ',%' ORDER BY channel_id`,
		account, db.List(teams))
}
