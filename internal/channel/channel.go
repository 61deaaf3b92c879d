package channel

import (
	"cmp"

	"tocsin/internal/check"
	"tocsin/internal/db"
)

// Channel is where the alerts of one kind come together, as in the account file's channels.
type Channel struct {
	AccountID   int64  `json:"account_id,omitzero" doc:"Owning account."`
	ChannelID   int64  `json:"channel_id" doc:"The channel's identifier."`
	ChannelName string `json:"channel_name" doc:"What people call it."`
	TeamID      int64  `json:"team_id" doc:"Owning team; 0: none."`
	Status      string `json:"status" enum:"enabled,disabled" doc:"Whether it takes alerts."`
	Description string `json:"description,omitzero" doc:"What it is for."`
	IsPrivate   bool   `json:"is_private,omitzero" doc:"Only the owning team and the account's owner may read it."`
	CreatedAt   int64  `json:"created_at,omitzero" doc:"Unix seconds."`
	UpdatedAt   int64  `json:"updated_at,omitzero" doc:"Unix seconds."`
}

const columns = `channel_id, channel_name, team_id, status, description, is_private, created_at, updated_at`

func scanChannel(scan db.Scan) (ch Channel, err error) {
	err = scan(&ch.ChannelID, &ch.ChannelName, &ch.TeamID, &ch.Status, &ch.Description, &ch.IsPrivate, &ch.CreatedAt, &ch.UpdatedAt)
	return ch, err
}

// Find reads a channel, whoever asks; found is false when the account has none of this id.
func Find(tx *db.Tx, account, id int64) (ch Channel, found bool, err error) {
	return db.One(tx, scanChannel, `SELECT `+columns+` FROM channel WHERE account_id = $1 AND channel_id = $2`, account, id)
}

// Load checks the records of an account file's channels and inserts them. A record without a status is
// enabled. Errors are fault.Invalid with the record's path.
func Load(tx *db.Tx, account int64, records []Channel) error {
	for i, ch := range records {
		at := check.Record("channels", i)
		ch.Status = cmp.Or(ch.Status, "enabled")
		if err := ch.check(at, account); err != nil {
			return err
		}
		n, err := tx.Exec(`INSERT INTO channel (account_id, `+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
			account, ch.ChannelID, ch.ChannelName, ch.TeamID, ch.Status, ch.Description, ch.IsPrivate, ch.CreatedAt, ch.UpdatedAt)
		if err != nil {
			return err
		}
		if n == 0 {
			return at.Twice("channel_id", ch.ChannelID)
		}
	}
	return nil
}

func (ch Channel) check(at check.At, account int64) error {
	return check.First(
		at.Account(ch.AccountID, account),
		at.AtLeast("channel_id", ch.ChannelID, 1),
		at.Length("channel_name", ch.ChannelName, 1, 255),
		at.AtLeast("team_id", ch.TeamID, 0),
		at.OneOf("status", ch.Status, "enabled", "disabled"),
		at.AtLeast("created_at", ch.CreatedAt, 0),
		at.AtLeast("updated_at", ch.UpdatedAt, 0),
	)
}

// Dump reads all channels of an account, by id.
func Dump(tx *db.Tx, account int64) ([]Channel, error) {
	return db.All(tx, scanChannel, `SELECT `+columns+` FROM channel WHERE account_id = $1 ORDER BY channel_id`, account)
}
