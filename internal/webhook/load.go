package webhook

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"tocsin/internal/db"
	"tocsin/internal/fault"
)

// Load puts the deliveries of an account file into an account that has none. An error names the element
// and what is wrong with it, such as "webhook_deliveries[3].status".
func Load(tx *db.Tx, account int64, deliveries []Delivery) error {
	seen := make(map[string]int, len(deliveries))
	for i, d := range deliveries {
		path := fmt.Sprintf("webhook_deliveries[%d]", i)
		if err := d.check(path); err != nil {
			return err
		}
		if first, again := seen[d.EventID]; again {
			return fault.Invalid(path+".event_id", "must be unique, %q is also that of webhook_deliveries[%d]", d.EventID, first)
		}
		seen[d.EventID] = i
	}
	return Record(tx, account, deliveries)
}

// check holds a delivery against the bounds of its members; path is where it stands.
func (d Delivery) check(path string) error {
	for _, text := range []struct {
		name, value string
		least, most int
	}{
		{"event_id", d.EventID, 1, 128}, {"webhook_type", d.WebhookType, 1, 64}, {"event_type", d.EventType, 1, 64},
		{"ref_id", d.RefID, 0, 128}, {"endpoint", d.Endpoint, 0, 2048},
	} {
		if n := utf8.RuneCountInString(text.value); n < text.least || n > text.most {
			return fault.Invalid(path+"."+text.name, "must have from %d to %d characters, got %d", text.least, text.most, n)
		}
	}
	for _, number := range []struct {
		name  string
		value int64
	}{
		{"integration_id", d.IntegrationID}, {"channel_id", d.ChannelID}, {"attempt", d.Attempt}, {"duration", d.Duration}, {"status_code", d.StatusCode},
	} {
		if number.value < 0 {
			return fault.Invalid(path+"."+number.name, "must be at least 0, got %d", number.value)
		}
	}
	if !slices.Contains(statuses, d.Status) {
		return fault.Invalid(path+".status", "must be success or failed, got %.60q", d.Status)
	}
	if year := time.Time(d.EventTime).UTC().Year(); year < firstYear || year > lastYear {
		return fault.Invalid(path+".event_time", "must be in the years from %d to %d, got %v", firstYear, lastYear, d.EventTime)
	}
	return nil
}

// Dump gives all deliveries of an account by event id, their times in the offset of the account's zone, so
// that Load takes them as they are.
func Dump(tx *db.Tx, account int64) ([]Delivery, error) {
	name, _, err := db.One(tx, db.Column[string], `SELECT time_zone FROM account WHERE account_id = $1`, account)
	if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	return db.All(tx, func(row db.Scan) (Delivery, error) {
		d, err := scan(row)
		d.EventTime = d.EventTime.In(zone)
		return d, err
	}, `SELECT `+columns+` FROM webhook_delivery WHERE account_id = $1 ORDER BY event_id`, account)
}
