package story

import (
	"testing"
	"time"
)

// The quiet hours of a person without a time zone are in the account's.
func TestQuietHoursUseAccountsTimeZoneByDefault(t *testing.T) {
	t.Parallel()
	w := begin(t, `{"account": {"account_id": 7000000000001, "account_name": "Story", "time_zone": "Asia/Shanghai", "owner_id": 7000000000011}}`, escalates(layer(persons(bob))))
	w.do("/preference/update", `{"person_id": %d, "quiet_hours": [{"start": "17:00", "end": "19:00"}]}`, bob)
	w.push("disk", "Warning") // it is 18:00
	w.notified()
	w.drift = time.Minute
	w.pass(time.Hour)
	w.notified(newPage("bob"))
}

// The end of an incident is no reason to break quiet hours.
func TestEndOfIncidentIsNotifiedAfterQuietHours(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "12:00", "end": "14:00"}]}`) // in Berlin it is eleven
	w.push("disk", "Warning")
	w.notified(newPage("ann"))
	w.drift = time.Minute
	w.pass(90 * time.Minute)
	w.push("disk", "Ok")
	w.notified()
	w.pass(89 * time.Minute)
	w.notified()
	w.pass(time.Minute)
	w.notified(over("ann"))
}
