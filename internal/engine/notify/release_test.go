package notify_test

import (
	"slices"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/db"
)

// After a hold the owner is notified of an alert of Tocsin's own that goes on, since it is not raised twice, and not of
// one that is over. Other notifications about no incident are cancelled, those that waited to share a message among them;
// those that are not due yet stay.
func TestReleaseOfNotificationsAboutNoIncident(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	put := func(key, cause, event string, due time.Time) {
		t.Helper()
		r.write(func(tx *db.Tx) error {
			return r.Put(tx, notify.Notification{Account: apitest.AccountA, Key: key, Cause: cause, Event: event, Method: "email", Due: due.UnixMilli(),
				Address: notify.Address{To: key}, Detail: notify.Detail{Subject: "s", Text: "t"}}, r.clock.Now())
		})
		r.clock.Add(time.Second)
	}
	put("own/target/p12/email/5/Critical/email", notify.Own, "own_alert", start)
	put("own/refused/7/Critical/email", notify.Own, "own_alert", start)
	put("own/refused/7/Ok/email", notify.Own, "own_alert_over", start)
	put("shift/1/email", notify.Shift, "shift", start)
	put("shift/2/email", notify.Shift, "shift", start.Add(time.Hour))
	put("shift/3/email", notify.Shift, "shift", start.Add(time.Hour))
	r.write(func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE notice SET late = 1 WHERE notice_key = 'shift/3/email'`)
		return err
	})
	r.write(func(tx *db.Tx) error { return notify.Release(tx, r.clock.Now()) })
	r.settle()
	if want := []string{"own/target/p12/email/5/Critical/email"}; !slices.Equal(r.took, want) {
		t.Errorf("sent %q, want %q", r.took, want)
	}
	r.clock.Add(time.Hour)
	r.settle()
	if want := []string{"own/target/p12/email/5/Critical/email", "shift/2/email"}; !slices.Equal(r.took, want) {
		t.Errorf("sent %q, want %q", r.took, want)
	}
}
