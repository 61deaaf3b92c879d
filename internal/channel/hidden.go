package channel

import (
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Hidden lists the private channels that a caller may not read, so that lists of what belongs to channels
// leave it out.
func Hidden(tx *db.Tx, who auth.Principal) (hidden []int64, err error) {
	if who.Owner {
		return nil, nil
	}
	private, _, err := configstore.Kept(tx, who.AccountID, keptPrivate{}, func() ([]Channel, bool, error) {
		all, err := db.All(tx, scanChannel, `SELECT `+columns+` FROM channel WHERE account_id = $1 AND is_private ORDER BY channel_id`, who.AccountID)
		return all, true, err
	})
	for i := 0; i < len(private) && err == nil; i++ {
		if permit(tx, who, private[i]) != nil {
			hidden = append(hidden, private[i].ChannelID)
		}
	}
	return hidden, err
}

// OfTeams lists the channels that teams own.
func OfTeams(tx *db.Tx, account int64, teams []int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT channel_id FROM channel WHERE account_id = $1 AND $2 LIKE '%,' || team_id || ',%' ORDER BY channel_id`, account, db.List(teams))
}
