package webhook

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Load checks the records of an account file's webhook_deliveries and stores them. Its errors are fault.Invalid with the
// path of the record.
func Load(tx *db.Tx, account int64, records []Delivery) error {
	seen := make(map[string]bool, len(records))
	for i, d := range records {
		at := configstore.PathOf("webhook_deliveries", i)
		if err := d.check(at); err != nil {
			return err
		}
		if seen[d.EventID] {
			return at.Twice("event_id", d.EventID)
		}
		seen[d.EventID] = true
	}
	known, found, err := db.One(tx, db.Column[string], `SELECT event_id FROM webhook_delivery
		WHERE account_id = $1 AND event_id IN (SELECT value FROM json_each($2))`, account, db.JSON(slices.Sorted(maps.Keys(seen))))
	if err != nil || found {
		return cmp.Or(err, fault.Invalid("webhook_deliveries", "event_id %q is in the history of the account already", known))
	}
	return Record(tx, account, records)
}

// check returns an error for the first field that is out of its bounds.
func (d Delivery) check(at configstore.RecordPath) error {
	if err := configstore.FirstError(
		at.Length("event_id", d.EventID, 1, 128), // none may be empty: see window.start
		at.AtLeast("integration_id", d.IntegrationID, 0),
		at.Length("webhook_type", d.WebhookType, 1, 64),
		at.Length("event_type", d.EventType, 1, 64), // none may be empty: a filter could not name it
		at.AtLeast("channel_id", d.ChannelID, 0),
		at.Length("ref_id", d.RefID, 0, 128),
		at.Length("endpoint", d.Endpoint, 0, 2048),
		at.AtLeast("attempt", d.Attempt, 0),
		at.AtLeast("duration", d.Duration, 0),
		at.OneOf("status", d.Status, statuses...),
		at.AtLeast("status_code", d.StatusCode, 0),
		at.OneOf("origin", d.Origin, "", test, replay),
	); err != nil {
		return err
	}
	if year := time.Time(d.EventTime).UTC().Year(); year < firstYear || year > lastYear {
		return at.Invalid("event_time", "must be in the years %d to %d, got %v", firstYear, lastYear, d.EventTime)
	}
	return nil
}

// Dump returns all deliveries of an account in the order of their ids, with times in the account's time zone. Load
// accepts them unchanged.
func Dump(tx *db.Tx, account int64) ([]Delivery, error) {
	zone, err := person.Zone(tx, account)
	if err != nil {
		return nil, err
	}
	return db.All(tx, func(row db.Scan) (Delivery, error) {
		d, err := scan(row)
		d.EventTime = d.EventTime.In(zone)
		return d, err
	}, `SELECT `+columns+` FROM webhook_delivery WHERE account_id = $1 ORDER BY event_id`, account)
}
