package notify_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// hostile are texts that must stay texts wherever they are shown.
var hostile = []string{"<script>alert(1)</script>", `"><img src=x>`, "<!channel>", "[a](https://evil.example/)", "javascript:alert(1)", "\u202Eabc\r\nBcc: x"}

// outage stores an incident with alerts whose labels labelled returns.
func (r *fixture) outage(n int, labelled func(int) map[string]string) {
	r.t.Helper()
	r.write(func(tx *db.Tx) error {
		i := incident.Incident{IncidentID: incidentID, Title: "Errors::x", Severity: "Critical", AlertCnt: int64(n), Detail: incident.Detail{Labels: labelled(0)}}
		if err := (incident.Writer{Tx: tx, Bus: &activity.Bus{}, Account: apitest.AccountA, Now: start}).Open(&i); err != nil {
			return err
		}
		for k := range n {
			a := decide.Alert{Incident: incidentID, Key: fmt.Sprint("k", k), Title: "Errors::x", Severity: "Critical", Status: "Critical", Labels: labelled(k), Start: start.Unix()}
			a.ID = fmt.Sprintf("a1a1a1a1a1a1a1a1a1a1%04x", k)
			row, err := alert.RowOf(&a)
			if err != nil {
				return err
			}
			if err := row.Insert(tx, apitest.AccountA, alert.Origin{}, start); err != nil {
				return err
			}
		}
		return nil
	})
}

// page stores a page of the incident to a person, and returns the text that was sent.
func (r *fixture) pageText(key string) string {
	r.t.Helper()
	r.write(func(tx *db.Tx) error {
		return r.Put(tx, notify.Notification{
			Account: apitest.AccountA, Key: key, Incident: incidentID, Cause: notify.Page, Event: "i_new", Severity: "Critical", Person: apitest.Reader,
			Method: "email", Address: notify.Address{To: "reader@example.com"}, Reason: "on call",
		}, r.clock.Now())
	})
	r.settle()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.texts["email"]
}

// The largest incident there is makes a short message.
func TestMessageOfFiveThousandAlerts(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	long := strings.Repeat("é", 500)
	r.outage(decide.MaxAlerts, func(n int) map[string]string {
		labels := map[string]string{"alertname": "Errors", "summary": "Errors everywhere", "host": fmt.Sprintf("web%04d", n)}
		for k := range 12 {
			labels[fmt.Sprint("l", k)] = fmt.Sprint(long, n%(k+1))
		}
		return labels
	})
	text := r.pageText("a")
	for _, want := range []string{"[Critical] Errors everywhere (web0000, +4999 hosts)", "host: 5000 values: web0000, web0001, web0002, web0003, web0004, ..."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %.3000s", want, text)
		}
	}
	if len(text) > 20_000 {
		t.Errorf("%d bytes", len(text))
	}
}

// An alert that cannot be read keeps no page from being sent.
func TestCorruptAlertBlocksNoPage(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.outage(3, func(int) map[string]string {
		return map[string]string{"alertname": "Errors", "summary": "Errors everywhere", "host": "web1"}
	})
	r.write(func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE alert SET labels = '{' WHERE account_id = $1`, apitest.AccountA)
		return err
	})
	if text := r.pageText("a"); !strings.Contains(text, "[Critical] Errors everywhere (web1, 3 alerts)") {
		t.Error(text)
	}
}

// A failure to find who is next keeps no page from being sent.
func TestWhoIsNextFailsAlone(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.Next = func(context.Context, int64, string, time.Time) ([]string, int64, error) {
		return nil, 0, fmt.Errorf("a schedule that cannot be read")
	}
	r.outage(1, func(int) map[string]string { return nil })
	if text := r.pageText("a"); !strings.Contains(text, "[Critical] Errors::x") {
		t.Error(text)
	}
}

// Whatever an alert contains, the page shows it as text, and links to nothing but http and https.
func TestPageShowsHostileTexts(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		r := newFixture(t)
		r.Links = links
		r.outage(2, func(n int) map[string]string {
			return map[string]string{"alertname": "Errors", "summary": text, "host": fmt.Sprint(text, n), text: text, "runbook_url": text, "description": text}
		})
		status, body := r.page("GET", links.Ack(apitest.AccountA, incidentID, apitest.Reader, start))
		for _, bad := range []string{"<script", "<img", `href="javascript`, "href=\"https://evil", "\u202E"} {
			if status != 200 || strings.Contains(body, bad) {
				t.Errorf("%d: %q is in %s", status, bad, body)
			}
		}
	}
}

// The link of a chat lets its reader act as a person who may read the incident, and as no other.
func TestChatLinksNeedPersonWhoMayRead(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.Links = links
	r.write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: private, ChannelName: "Security", TeamID: apitest.TeamA, IsPrivate: true}}); err != nil {
			return err
		}
		i := incident.Incident{IncidentID: incidentID, Title: "Secret trouble", Severity: "Critical", ChannelID: private}
		return (incident.Writer{Tx: tx, Bus: &activity.Bus{}, Account: apitest.AccountA, Now: start}).Open(&i)
	})
	link := links.AckInChat(apitest.AccountA, incidentID, start)
	for person, want := range map[int64]int{apitest.Stranger: 403, 0: 403, 12345: 404} {
		if status, _ := r.pressPage(link, url.Values{"person": {fmt.Sprint(person)}}); status != want || r.progress() != incident.Triggered {
			t.Errorf("as %d: %d, the incident is %s", person, status, r.progress())
		}
	}
	if status, body := r.pressPage(link, url.Values{"person": {fmt.Sprint(apitest.Reader)}}); status != 200 || r.progress() != incident.Processing {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := r.page("GET", strings.Replace(link, "/ack/", "/ack/x", 1)); status != 404 {
		t.Errorf("a forged link: %d", status)
	}
	if status, _ := r.page("GET", links.AckInChat(apitest.AccountA, incidentID, start.AddDate(0, 0, -8))); status != 404 {
		t.Errorf("an old link: %d", status)
	}
}
