package notify_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/template"
)

// A notification whose attempt left no result, as when its process ended, is sent with the preset's text: the account's
// template may be what ended it. A notification that failed otherwise keeps its template.
func TestLostAttemptUsesPreset(t *testing.T) {
	t.Parallel()
	const own = "69db2f72a0fe7db6448b1501"
	for _, c := range []struct {
		name   string
		before func(r *fixture) // the first attempt
		preset bool
	}{
		{"first attempt", func(*fixture) {}, false},
		{"refused attempt", func(r *fixture) {
			r.deliver = func(string) error { return errors.New("busy") }
			r.settle()
			r.deliver = func(string) error { return nil }
		}, false},
		{"lost attempt", func(r *fixture) {
			r.write(func(tx *db.Tx) error {
				return tx.Do(`UPDATE notice SET status = 'sending', attempts = 1, due_at = $1`, r.clock.Now().Add(2*time.Minute).UnixMilli())
			})
		}, true},
	} {
		r := newFixture(t)
		r.write(func(tx *db.Tx) error {
			mine := template.Template{AccountID: apitest.AccountA, TemplateID: own, TemplateName: "Own", Texts: template.Texts{SMS: "own {{.Title}}"}}
			if err := template.Kind.Put(tx, apitest.AccountA, &mine); err != nil {
				return err
			}
			w := incident.Writer{Bus: &activity.Bus{}, Tx: tx, Account: apitest.AccountA, Now: start, Person: apitest.Reader}
			if err := w.Open(&incident.Incident{IncidentID: incidentID, Title: "T", Severity: "Critical"}); err != nil {
				return err
			}
			return r.Put(tx, notify.Notification{Account: apitest.AccountA, Key: "k", Incident: incidentID, Cause: notify.Page, Method: "sms",
				Address: notify.Address{To: "+491"}, Detail: notify.Detail{Template: own}}, start)
		})
		c.before(r)
		r.clock.Add(3 * time.Minute)
		r.settle()
		s := r.stored("k")
		if s.status != notify.Sent || r.taken() != 1 {
			t.Errorf("%s: %v", c.name, s)
		}
		if strings.HasPrefix(sentence.Value(s.outcome).English(), "with the preset's text") != c.preset {
			t.Errorf("%s: its explanation is %q", c.name, s.outcome)
		}
		if text := r.texts["sms"]; strings.HasPrefix(text, "own ") == c.preset {
			t.Errorf("%s: %q", c.name, text)
		}
	}
}
