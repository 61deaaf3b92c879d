package channel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Channel is where alerts are handled: its settings group them into incidents. It is a record of the account
// file's channels.
type Channel struct {
	AccountID       int64   `json:"account_id,omitzero" doc:"Owning account."`
	ChannelID       int64   `json:"channel_id" doc:"The channel's identifier."`
	ChannelName     string  `json:"channel_name" maxLength:"255" doc:"Its name."`
	TeamID          int64   `json:"team_id" doc:"Owning team; 0: none."`
	ManagingTeamIDs []int64 `json:"managing_team_ids" maxItems:"100" doc:"Further teams that read and change it."`
	CreatorID       int64   `json:"creator_id,omitzero" doc:"The person who created it."`
	Status          string  `json:"status" enum:"enabled,disabled" doc:"Whether it takes alerts."`
	Description     string  `json:"description" maxLength:"500" doc:"What it is for."`
	IsPrivate       bool    `json:"is_private" doc:"Only its teams, its creator and the account's owner may read it."`
	CreatedAt       int64   `json:"created_at,omitzero" doc:"Unix seconds."`
	UpdatedAt       int64   `json:"updated_at,omitzero" doc:"Unix seconds."`
	Settings
}

const columns = `channel_id, channel_name, team_id, status, description, is_private, created_at, updated_at,
	creator_id, managing_teams, settings`

// scanChannel reads a row, or returns an error if its settings cannot be decoded. It is for copies, which must be complete.
func scanChannel(scan db.Scan) (ch Channel, err error) {
	ch, _, corrupt, err := scanStored(scan)
	return ch, cmp.Or(err, corrupt)
}

// readable returns a function that reads a row. A channel whose settings cannot be decoded has the defaults: its alerts
// must page all the same. Unreadable counts it.
func readable(tx *db.Tx, account int64) func(db.Scan) (Channel, error) {
	return func(scan db.Scan) (Channel, error) {
		ch, settings, corrupt, err := scanStored(scan)
		if corrupt != nil {
			ch.Settings = Settings{}
			tx.Unreadable().Add(db.Row{Account: account, Kind: unreadable, ID: strconv.FormatInt(ch.ChannelID, 10)}, settings, corrupt)
		}
		return ch, err
	}
}

// unreadable is the kind under which channels are counted whose settings cannot be decoded.
const unreadable = "channel"

// Unreadable reads what could not be decoded of a channel.
var Unreadable = configstore.Contents{Kind: unreadable, Read: func(tx *db.Tx, r db.Row) (string, bool, error) {
	id, err := strconv.ParseInt(r.ID, 10, 64)
	if err != nil {
		return "", false, nil
	}
	return db.One(tx, db.Column[string], `SELECT settings FROM channel WHERE account_id = $1 AND channel_id = $2`, r.Account, id)
}}

// scanStored reads a row. corrupt is why its managing teams or its settings cannot be decoded.
func scanStored(scan db.Scan) (ch Channel, settings string, corrupt, err error) {
	var teams string
	err = scan(&ch.ChannelID, &ch.ChannelName, &ch.TeamID, &ch.Status, &ch.Description, &ch.IsPrivate,
		&ch.CreatedAt, &ch.UpdatedAt, &ch.CreatorID, &teams, &settings)
	if err != nil {
		return ch, "", nil, err
	}
	for _, id := range strings.FieldsFunc(teams, func(r rune) bool { return r == ',' }) {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return ch, settings, err, nil
		}
		ch.ManagingTeamIDs = append(ch.ManagingTeamIDs, n)
	}
	return ch, settings, json.Unmarshal([]byte(settings), &ch.Settings), nil
}

// The keys of what is cached by revision: a channel, all private channels, and a channel's rules of a kind.
type (
	cachedChannel struct{ id int64 }
	cachedPrivate struct{}
	cachedRules   struct {
		kind    string
		channel int64
	}
)

// Find returns a channel without a check of who may read it: see Readable. found is false when the account
// has no channel of this id. Other readers share its lists and settings: they must not be changed, unless the
// transaction writes.
func Find(tx *db.Tx, account, id int64) (ch Channel, found bool, err error) {
	return configstore.Kept(tx, account, cachedChannel{id}, func() (Channel, bool, error) {
		return db.One(tx, readable(tx, account), `SELECT `+columns+` FROM channel WHERE account_id = $1 AND channel_id = $2`, account, id)
	})
}

// folded returns the text by which the channel is searched and sorted.
func (ch *Channel) folded() string { return db.Fold(ch.ChannelName + "\n" + ch.Description) }

// put inserts the channel or replaces the stored one of its id. Callers that cache derived configuration
// rebuild it, because the revision changes.
func (ch *Channel) put(tx *db.Tx, account int64) error {
	settings, err := ch.Settings.text()
	if err != nil {
		return err
	}
	err = tx.Do(`INSERT INTO channel (account_id, `+columns+`, name_folded)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT (account_id, channel_id) DO UPDATE SET channel_name = excluded.channel_name, team_id = excluded.team_id,
			status = excluded.status, description = excluded.description, is_private = excluded.is_private,
			created_at = excluded.created_at, updated_at = excluded.updated_at, creator_id = excluded.creator_id,
			managing_teams = excluded.managing_teams, settings = excluded.settings, name_folded = excluded.name_folded`,
		account, ch.ChannelID, ch.ChannelName, ch.TeamID, ch.Status, ch.Description, ch.IsPrivate, ch.CreatedAt, ch.UpdatedAt,
		ch.CreatorID, db.List(ch.ManagingTeamIDs), settings, ch.folded())
	if err != nil {
		return err
	}
	if err := configstore.BumpRevision(tx, account); err != nil {
		return err
	}
	refs := []configstore.Target{configstore.RefTo(configstore.Team, ch.TeamID)}
	for _, team := range ch.ManagingTeamIDs {
		refs = append(refs, configstore.RefTo(configstore.Team, team))
	}
	return configstore.SetReferences(tx, account, configstore.RefFrom(configstore.Channel, ch.ChannelID, ch.ChannelName), refs...)
}

// Load checks the records of an account file's channels and inserts them. A record without a status is
// enabled. Errors are fault.Invalid with the record's path.
func Load(tx *db.Tx, account int64, records []Channel) error {
	for i, ch := range records {
		at := configstore.PathOf("channels", i)
		ch.Status = cmp.Or(ch.Status, "enabled")
		if err := ch.check(at, account); err != nil {
			return err
		}
		_, found, err := Find(tx, account, ch.ChannelID)
		if err != nil {
			return err
		}
		if found {
			return at.Twice("channel_id", ch.ChannelID)
		}
		if err := ch.put(tx, account); err != nil {
			return err
		}
	}
	return nil
}

func (ch Channel) check(at configstore.RecordPath, account int64) error {
	return configstore.FirstError(
		at.Account(ch.AccountID, account),
		at.AtLeast("channel_id", ch.ChannelID, 1),
		at.Length("channel_name", ch.ChannelName, 1, 255),
		at.AtLeast("team_id", ch.TeamID, 0),
		at.AtLeast("creator_id", ch.CreatorID, 0),
		at.OneOf("status", ch.Status, "enabled", "disabled"),
		at.AtLeast("created_at", ch.CreatedAt, 0),
		at.AtLeast("updated_at", ch.UpdatedAt, 0),
		ch.Settings.check(at),
	)
}

// Dump returns all channels of an account, ordered by id.
func Dump(tx *db.Tx, account int64) ([]Channel, error) {
	return db.All(tx, scanChannel, `SELECT `+columns+` FROM channel WHERE account_id = $1 ORDER BY channel_id`, account)
}

// Erase deletes a channel. Its rules, alerts and incidents stay, in case the channel is loaded again.
func Erase(tx *db.Tx, account, id int64) error {
	if err := tx.Do(`DELETE FROM channel WHERE account_id = $1 AND channel_id = $2`, account, id); err != nil {
		return err
	}
	if err := configstore.BumpRevision(tx, account); err != nil {
		return err
	}
	return configstore.ClearReferences(tx, account, configstore.Channel, id)
}

// teams returns the owning team and the managing teams.
func (ch Channel) teams() []int64 { return append(slices.Clone(ch.ManagingTeamIDs), ch.TeamID) }

// Complete stores the folded name and description, which searches read, of channels that an older version
// wrote. The program calls it when it starts.
func Complete(tx *db.Tx) error {
	return db.Refold[int64](tx,
		`SELECT account_id, channel_id, channel_name || '
' || description FROM channel WHERE name_folded = ''`,
		`UPDATE channel SET name_folded = $1 WHERE account_id = $2 AND channel_id = $3`)
}

// Named returns the ids of the channels that have exactly this name, the oldest first, at most 100.
func Named(tx *db.Tx, account int64, name string) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT channel_id FROM channel
		WHERE account_id = $1 AND channel_name = $2 AND $2 <> '' ORDER BY created_at, channel_id LIMIT 100`, account, name)
}

// CreatedBy returns the ids of the channels that a person created.
func CreatedBy(tx *db.Tx, account, person int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT channel_id FROM channel WHERE account_id = $1 AND creator_id = $2`, account, person)
}
