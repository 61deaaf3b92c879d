package notify_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

const private = 1002 // a channel of TeamA, in which Reader is

// page requests the page of a link with an HTTP method.
func (r *fixture) page(method, link string) (status int, body string) {
	r.t.Helper()
	return r.request(method, link, nil)
}

// pressPage presses a button of the page of a link.
func (r *fixture) pressPage(link string, form url.Values) (status int, body string) {
	r.t.Helper()
	return r.request("POST", link, form)
}

func (r *fixture) request(method, link string, form url.Values) (status int, body string) {
	r.t.Helper()
	mux := http.NewServeMux()
	mux.Handle("GET /ack/{token}", r.AckPage())
	mux.Handle("POST /ack/{token}", r.AckPage())
	server := httptest.NewServer(mux)
	defer server.Close()
	request, err := http.NewRequest(method, strings.Replace(link, links.Base, server.URL, 1), strings.NewReader(form.Encode()))
	if err != nil {
		r.t.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := server.Client().Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

func (r *fixture) progress() (progress string) {
	r.t.Helper()
	if err := r.DB.Read(context.Background(), func(tx *db.Tx) error {
		i, found, err := incident.Find(tx, apitest.AccountA, incidentID)
		progress = i.Progress
		if !found {
			progress = "removed"
		}
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
	return progress
}

func TestResolveByLinkClosesManyAlertsInPieces(t *testing.T) {
	t.Parallel()
	const alerts = 450
	r, closed := newFixture(t), map[*db.Tx]int{}
	r.Bus.Subscribe(func(tx *db.Tx, item activity.Item) error {
		if item.Event.Type() == (activity.AlertClosed{}).Type() {
			closed[tx]++
		}
		return nil
	})
	r.Links = links
	link := links.Ack(apitest.AccountA, incidentID, apitest.Reader, start)
	r.write(func(tx *db.Tx) error {
		i := incident.Incident{IncidentID: incidentID, Title: "T", Severity: "Critical"}
		if err := (incident.Writer{Tx: tx, Bus: &activity.Bus{}, Account: apitest.AccountA, Now: start}).Open(&i); err != nil {
			return err
		}
		var all []alert.Alert
		for n := range alerts {
			all = append(all, alert.Alert{AlertID: fmt.Sprintf("663a1b2c3d4e5f67%08x", n), AlertKey: fmt.Sprint(n),
				Incident: &alert.Incident{IncidentID: incidentID}, Title: "T", AlertSeverity: "Critical", AlertStatus: "Critical",
				StartTime: 1776000001, LastTime: 1776000001, EventCnt: 1})
		}
		return alert.Load(tx, apitest.AccountA, all)
	})
	if status, body := r.pressPage(link, url.Values{"do": {"resolve"}}); status != http.StatusOK || r.progress() != incident.Closed {
		t.Fatalf("%d %s", status, body)
	}
	sum := 0
	for _, n := range closed {
		if sum += n; n > 200 {
			t.Errorf("%d alerts in a transaction", n)
		}
	}
	if sum != alerts {
		t.Errorf("%d of %d alerts are closed", sum, alerts)
	}
}

// A link shows the incident, and acknowledges it, only for a person who may read it at that moment. Only the button
// acknowledges.
func TestAckLinksNeedReadAccess(t *testing.T) {
	t.Parallel()
	const title = "Secret trouble"
	sql := func(texts ...string) func(*db.Tx, *incident.Incident) error {
		return func(tx *db.Tx, _ *incident.Incident) (err error) {
			for _, text := range texts {
				_, err = tx.Exec(text)
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	left := `DELETE FROM team_person WHERE person_id = $1`
	for name, c := range map[string]struct {
		person int64
		change func(*db.Tx, *incident.Incident) error
		get    int
		post   int
	}{
		"in the team":              {apitest.Reader, nil, 200, 200},
		"the account's owner":      {apitest.OwnerA, func(tx *db.Tx, _ *incident.Incident) error { _, err := tx.Exec(left, apitest.OwnerA); return err }, 200, 200},
		"never in the team":        {apitest.Stranger, nil, 403, 403},
		"left the team":            {apitest.Reader, func(tx *db.Tx, _ *incident.Incident) error { _, err := tx.Exec(left, apitest.Reader); return err }, 403, 403},
		"the channel opened again": {apitest.Stranger, sql(`UPDATE channel SET is_private = FALSE`), 200, 200},
		"the person has left": {apitest.Reader, func(tx *db.Tx, _ *incident.Incident) error {
			_, err := tx.Exec(`UPDATE person SET status = 'deleted' WHERE person_id = $1`, apitest.Reader)
			return err
		}, 404, 404},
		"the incident was removed": {apitest.Reader, func(tx *db.Tx, i *incident.Incident) error {
			writer := incident.Writer{Tx: tx, Bus: &activity.Bus{}, Account: apitest.AccountA, Now: start, Person: apitest.Reader}
			if err := writer.Resolve(i, "", ""); err != nil {
				return err
			}
			return writer.Remove(i)
		}, 404, 404},
	} {
		r := newFixture(t)
		r.Links = links
		r.write(func(tx *db.Tx) error {
			if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: private, ChannelName: "Security", TeamID: apitest.TeamA, IsPrivate: true}}); err != nil {
				return err
			}
			i := incident.Incident{IncidentID: incidentID, Title: title, Severity: "Critical", ChannelID: private}
			if err := (incident.Writer{Tx: tx, Bus: &activity.Bus{}, Account: apitest.AccountA, Now: start, Person: apitest.Reader}).Open(&i); err != nil || c.change == nil {
				return err
			}
			return c.change(tx, &i)
		})
		before := r.progress()
		link := links.Ack(apitest.AccountA, incidentID, c.person, start)
		for _, method := range []string{"GET", "HEAD", "GET"} {
			status, body := r.page(method, link)
			shown := strings.Contains(body, title)
			if status != c.get || shown != (status == 200 && method == "GET") || r.progress() != before {
				t.Errorf("%s: %s is answered with %d, shows the title: %t, the incident is %s", name, method, status, shown, r.progress())
			}
		}
		status, body := r.page("POST", link)
		if acked := r.progress() == incident.Processing; status != c.post || acked != (status == 200) || strings.Contains(body, title) != (status == 200) {
			t.Errorf("%s: POST is answered with %d, the incident is %s: %s", name, status, r.progress(), body)
		}
		for _, method := range []string{"PUT", "OPTIONS", "DELETE"} {
			if status, _ := r.page(method, link); status != http.StatusMethodNotAllowed {
				t.Errorf("%s: %s is answered with %d", name, method, status)
			}
		}
	}
}

// The link of a bundle is for its person, and for the incidents of this bundle that the person may read.
func TestBundleLinksNeedReadAccess(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.Links.Base, r.Links.Key = links.Base, links.Key
	ids := []string{"5e5e5e5e5e5e5e5e5e5e5e01", "5e5e5e5e5e5e5e5e5e5e5e02", "5e5e5e5e5e5e5e5e5e5e5e03"}
	const bundle = "b0b0b0b0b0b0b0b0b0b0b0b0"
	r.write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: private, ChannelName: "P", TeamID: apitest.TeamA, IsPrivate: true, Status: "enabled"}}); err != nil {
			return err
		}
		for n, id := range ids {
			writer := incident.Writer{Tx: tx, Bus: &activity.Bus{}, Account: apitest.AccountA, Now: start}
			i := incident.Incident{IncidentID: id, Title: "T" + id[22:], Severity: "Critical"}
			if n == 1 {
				i.ChannelID, i.Title = private, "Secret trouble"
			}
			if err := writer.Open(&i); err != nil {
				return err
			}
			note := notify.Notification{Account: apitest.AccountA, Key: id, Incident: id, Cause: notify.Page, Person: apitest.Stranger, Method: "email", Severity: "Critical"}
			if err := r.Put(tx, note, start); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`UPDATE notice SET bundle = $1, status = 'sent', settled_at = 1 WHERE incident_id <> $2`, bundle, ids[2])
		return err
	})
	link := r.Links.AckBundle(apitest.AccountA, bundle, apitest.Stranger, start)
	status, body := r.page("GET", link)
	if status != 200 || !strings.Contains(body, "1 incident<") || !strings.Contains(body, "T01") || strings.Contains(body, "Secret") || strings.Contains(body, "T03") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := r.page("POST", r.Links.AckBundle(apitest.AccountA, bundle, apitest.Reader, start)); status != 404 {
		t.Errorf("the link of another person: %d", status)
	}
	if status, _ := r.page("POST", r.Links.Ack(apitest.AccountA, bundle, apitest.Stranger, start)); status != 404 {
		t.Errorf("a link for an incident: %d", status)
	}
	if n := r.count(`SELECT count(*) FROM incident WHERE progress = 'Processing'`); n != 0 {
		t.Errorf("%d are acknowledged", n)
	}
	for range 2 {
		if status, body := r.page("POST", link); status != 200 || !strings.Contains(body, "Acknowledged") {
			t.Errorf("%d %s", status, body)
		}
		if n := r.count(`SELECT count(*) FROM incident WHERE progress = 'Processing' AND incident_id = '` + ids[0] + `'`); n != 1 {
			t.Error("it is not acknowledged")
		}
		if n := r.count(`SELECT count(*) FROM incident WHERE progress = 'Processing'`); n != 1 {
			t.Errorf("%d are acknowledged", n)
		}
	}
}
