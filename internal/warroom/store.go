package warroom

import (
	"slices"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// The states of a record.
const (
	creating = "creating" // the service is opening the group
	isOpen   = "open"
)

// createLease is the age at which a record with the status creating expires: the server that created it has stopped. It
// is longer than timeout.
const createLease = 2 * time.Minute

// Record is a war room as it is stored.
type Record struct {
	AccountID     int64  `json:"account_id" doc:"Owning account."`
	IntegrationID int64  `json:"integration_id" doc:"The app that the group was opened with."`
	CreatedBy     int64  `json:"created_by" doc:"The person who opened it."`
	ChatID        string `json:"chat_id" doc:"The group at the service; empty while it is being opened."`
	ChatName      string `json:"chat_name" doc:"Its name, as it was requested from the service."`
	ShareLink     string `json:"share_link" doc:"Where to join it; empty where the service has no link."`
	IncidentID    string `json:"incident_id" doc:"The incident that people work on there."`
	Status        string `json:"status" enum:"creating,open" doc:"creating while the service opens the group, then open."`
	CreatedAt     int64  `json:"created_at" doc:"Unix seconds."`
	PluginType    string `json:"plugin_type" enum:"slack,feishu,dingtalk,wecom" doc:"The service."`
}

const columns = `account_id, integration_id, created_by, chat_id, chat_name, share_link, incident_id, status, created_at, plugin_type`

func scan(row db.Scan) (r Record, err error) {
	return r, row(&r.AccountID, &r.IntegrationID, &r.CreatedBy, &r.ChatID, &r.ChatName, &r.ShareLink, &r.IncidentID, &r.Status, &r.CreatedAt,
		&r.PluginType)
}

// find returns the war room of an incident with an integration.
func find(tx *db.Tx, account int64, incident string, integration int64) (Record, bool, error) {
	return db.One(tx, scan, `SELECT `+columns+` FROM war_room WHERE account_id = $1 AND incident_id = $2 AND integration_id = $3`, account,
		incident, integration)
}

// byChat returns the war room of a group, or fault.Missing.
func byChat(tx *db.Tx, account, integration int64, chat string) (Record, error) {
	r, found, err := db.One(tx, scan, `SELECT `+columns+
		` FROM war_room WHERE account_id = $1 AND integration_id = $2 AND chat_id = $3 AND status = 'open'`, account, integration, chat)
	if err == nil && !found {
		err = fault.Missing("war room", chat)
	}
	return r, err
}

// of returns the war rooms of an incident, the oldest first; integration 0: with any.
func of(tx *db.Tx, account int64, incident string, integration int64) ([]Record, error) {
	return db.All(tx, scan, `SELECT `+columns+` FROM war_room
		WHERE account_id = $1 AND incident_id = $2 AND ($3 = 0 OR integration_id = $3)
		ORDER BY created_at, integration_id`, account, incident, integration)
}

// OpenOf returns the war rooms of an incident that are open.
func OpenOf(tx *db.Tx, account int64, incident string) ([]Record, error) {
	all, err := of(tx, account, incident, 0)
	return slices.DeleteFunc(all, func(r Record) bool { return r.Status != isOpen }), err
}

// begin stores a record with the status creating, instead of one that has expired.
func (r *Record) begin(tx *db.Tx) error {
	if err := r.delete(tx); err != nil {
		return err
	}
	return tx.Do(`INSERT INTO war_room (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		r.AccountID, r.IntegrationID, r.CreatedBy, r.ChatID, r.ChatName, r.ShareLink, r.IncidentID, r.Status, r.CreatedAt, r.PluginType)
}

// Put stores a war room as it is, and calls no service: a past that is made up.
func Put(tx *db.Tx, r Record) error { return r.begin(tx) }

// complete stores the group that was opened. It returns fault.Conflict when the incident was deleted meanwhile.
func (r *Record) complete(tx *db.Tx) error {
	n, err := tx.Exec(`UPDATE war_room SET status = 'open', chat_id = $4, chat_name = $5, share_link = $6 WHERE account_id = $1
		AND incident_id = $2 AND integration_id = $3 AND status = 'creating' AND created_at = $7`,
		r.AccountID, r.IncidentID, r.IntegrationID, r.ChatID, r.ChatName, r.ShareLink, r.CreatedAt)
	if err == nil && n == 0 {
		err = fault.New(fault.Conflict, "the incident or its war room was deleted while the group %q was being opened; it stays at the service",
			r.ChatName)
	}
	r.Status = isOpen
	return err
}

// delete deletes a record.
func (r *Record) delete(tx *db.Tx) error {
	return tx.Do(`DELETE FROM war_room WHERE account_id = $1 AND incident_id = $2 AND integration_id = $3`, r.AccountID, r.IncidentID,
		r.IntegrationID)
}

// pending reports whether another call is opening the group at now.
func (r *Record) pending(now time.Time) bool {
	return r.Status == creating && now.Before(time.Unix(r.CreatedAt, 0).Add(createLease))
}
