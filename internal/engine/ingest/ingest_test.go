package ingest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/engine/ingest"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/ratelimit"
)

// The integrations: one of each account, a webhook, and a heartbeat.
const (
	mine, theirs, hook, beats = 7000000000051, 7000000000052, 7000000000053, 7000000000054
	keyMine, keyTheirs        = "00112233445566778899aabbccddeeff131", "ffeeddccbbaa99887766554433221100131"
	keyBeats                  = "0123456789abcdef0123456789abcdef777"
)

// fixture is an ingest service behind a server.
type fixture struct {
	*ingest.Service
	*apitest.Server
	t   *testing.T
	mux *http.ServeMux
	url string
}

func newFixture(t *testing.T, rate ratelimit.Rate) *fixture {
	keyring := apitest.Box(t)
	s := apitest.Start(t, (&integration.Service{Keyring: keyring}).Ops())
	r := &fixture{Server: s, t: t}
	r.Service = ingest.New(ingest.Config{
		DB: s.DB, Log: slog.New(slog.DiscardHandler), Rate: rate, Guesses: s.Frame.Guesses, Metrics: prometheus.NewRegistry(),
	})
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1, ChannelName: "Shop"}}); err != nil {
			return err
		}
		settings := &integration.Settings{IntervalSeconds: 300}
		if err := integration.Load(tx, keyring, apitest.AccountA, []integration.Integration{
			{IntegrationID: mine, IntegrationName: "mine", IntegrationType: "standard", IntegrationKey: keyMine},
			{IntegrationID: hook, IntegrationName: "hook", IntegrationType: "webhook_incident", Settings: &integration.Settings{Endpoint: "https://example.com"}},
			{IntegrationID: beats, IntegrationName: "Backup", IntegrationType: "heartbeat", IntegrationKey: keyBeats, ChannelID: 1, Settings: settings},
		}); err != nil {
			return err
		}
		return integration.Load(tx, keyring, apitest.AccountB, []integration.Integration{{IntegrationID: theirs, IntegrationName: "theirs", IntegrationType: "prometheus", IntegrationKey: keyTheirs}})
	})
	mux := http.NewServeMux()
	mux.Handle("/event/push/alert/{source}", s.Frame.Endpoint(r.Alerts()))
	mux.Handle("/event/push/heartbeat", s.Frame.Endpoint(r.Heartbeats()))
	mux.Handle("/event/push/change/standard", s.Frame.Endpoint(r.Changes()))
	r.mux = mux
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	r.url = server.URL + "/event/push/"
	return r
}

// answer is the reply to a push.
type answer struct {
	status int
	header http.Header
	Data   struct {
		AlertKey string `json:"alert_key"`
		Events   []struct {
			EventID  string `json:"event_id"`
			AlertKey string `json:"alert_key"`
		}
		Refused []struct {
			Index, Count   int
			Field, Message string
		}
	}
	Error struct{ Code, Message string }
}

func (r *fixture) send(method, path string, body []byte, header ...string) (a answer) {
	r.t.Helper()
	a.status, a.header = r.exchange(method, r.url+path, body, &a, header...)
	return a
}

// exchange sends a request and decodes the reply. It returns the status and the header.
func (r *fixture) exchange(method, url string, body []byte, into any, header ...string) (int, http.Header) {
	r.t.Helper()
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for n := 0; n+1 < len(header); n += 2 {
		request.Header.Set(header[n], header[n+1])
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		r.t.Fatalf("%s: %d %s (%v)", url, reply.StatusCode, text, err)
	}
	return reply.StatusCode, reply.Header
}

func (r *fixture) push(body string) answer {
	r.t.Helper()
	return r.send("POST", "alert/standard?integration_key="+keyMine, []byte(body))
}

// stored returns the events as account, integration and id, in the order in which they were accepted.
func (r *fixture) stored() (all []string) {
	r.t.Helper()
	r.Read(func(tx *db.Tx) (err error) {
		all, err = db.All(tx, db.Column[string], `SELECT account_id || ' ' || integration_id || ' ' || event_id FROM event ORDER BY received_at`)
		return err
	})
	return all
}

// refused checks that a push was rejected with a code and a reason, and that nothing was stored.
func (r *fixture) refused(a answer, status int, code, says string) {
	r.t.Helper()
	if a.status != status || a.Error.Code != code || !strings.Contains(a.Error.Message, says) {
		r.t.Errorf("answered %d %s %q, want %d %s %q", a.status, a.Error.Code, a.Error.Message, status, code, says)
	}
	if all := r.stored(); len(all) > 0 {
		r.t.Fatalf("stored %v", all)
	}
}

const one = `{"title_rule": "cpu", "event_status": "Critical", "alert_key": "k"}`

func TestRejectionsNameTheirReason(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	for _, c := range []struct {
		method, path, body string
		status             int
		code, says         string
	}{
		{"POST", "alert/standard", one, 400, "InvalidParameter", "integration_key is not valid: is required"},
		{"POST", "alert/standard?integration_key=", one, 400, "InvalidParameter", "is required"},
		{"POST", "alert/standard?integration_key=nobodys", one, 400, "InvalidParameter", "integration_key is not a valid one"},
		{"POST", "alert/standard?integration_key=" + keyMine[:34], one, 400, "InvalidParameter", "integration_key is not a valid one"},
		{"POST", "alert/standard?integration_key=" + keyBeats, one, 400, "InvalidParameter", "of type heartbeat, which takes no alerts"},
		{"POST", "heartbeat?integration_key=" + keyMine, one, 400, "InvalidParameter", "of type standard, which is no heartbeat"},
		{"POST", "change/standard?integration_key=" + keyMine, one, 400, "InvalidParameter", "of type standard, which takes no changes"},
		{"POST", "alert/nagios?integration_key=" + keyMine, one, 404, "RouteNotFound", "there are grafana, pagerduty, prometheus, sentry, standard, zabbix"},
		{"GET", "alert/standard?integration_key=" + keyMine, "", 405, "MethodNotAllowed", "POST"},
		{"POST", "alert/standard?integration_key=" + keyMine, "", 400, "InvalidParameter", "JSON"},
		{"POST", "alert/standard?integration_key=" + keyMine, "title=cpu", 400, "InvalidParameter", "JSON at byte"},
		{"POST", "alert/standard?integration_key=" + keyMine, `{"title_rule": "cpu"}`, 400, "InvalidParameter", "event_status is not valid: must be Critical, Warning, Info or Ok"},
		{"POST", "alert/standard?integration_key=" + keyMine, `[]`, 400, "InvalidParameter", "1 to 10000 alerts, got 0"},
		{"POST", "alert/standard?integration_key=" + keyMine, `[{"title_rule": "x"}, {"title_rule": "y", "event_status": "Ok"}]`, 400, "InvalidParameter", "[0].event_status is not valid"},
	} {
		t.Run(c.method+" "+c.path+" "+c.says, func(t *testing.T) {
			r.t = t
			r.refused(r.send(c.method, c.path, []byte(c.body)), c.status, c.code, c.says)
		})
	}
}

// A body of the maximal size is accepted, and one with a byte more is rejected: with and without Content-Length, and
// compressed.
func TestBodySizeIsLimited(t *testing.T) {
	t.Parallel()
	const most = ingest.MaxBytes
	r := newFixture(t, ratelimit.Rate{})
	body := func(size int) []byte {
		return []byte(one + strings.Repeat(" ", size-len(one)))
	}
	over := []struct {
		name string
		a    answer
	}{
		{"said", r.send("POST", "alert/standard?integration_key="+keyMine, body(most+1))},
		{"chunked", r.chunked(body(most + 1))},
		{"gzip", r.send("POST", "alert/standard?integration_key="+keyMine, zip(body(most+1)), "Content-Encoding", "gzip")},
	}
	for _, c := range over {
		t.Run(c.name, func(t *testing.T) {
			r.t = t
			r.refused(c.a, 413, "EntityTooLarge", "at most 16777216 bytes")
		})
	}
	r.t = t
	for name, a := range map[string]answer{
		"said":    r.send("POST", "alert/standard?integration_key="+keyMine, body(most)),
		"chunked": r.chunked(body(most)),
		"gzip":    r.send("POST", "alert/standard?integration_key="+keyMine, zip(body(most)), "Content-Encoding", "gzip"),
	} {
		if a.status != 200 || a.Data.AlertKey != "k" {
			t.Errorf("%s: %d %s", name, a.status, a.Error.Message)
		}
	}
	if all := r.stored(); len(all) != 3 {
		t.Errorf("%d events are stored, want 3", len(all))
	}
}

// Of a body over the limit the alerts that fit are taken, however it is sent, and the reply names the others.
func TestLargeBodyIsTakenAsFarAsItFits(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	var body bytes.Buffer
	body.WriteByte('[')
	for n := 0; body.Len() < ingest.MaxBytes+1<<20; n++ {
		fmt.Fprintf(&body, `{"title_rule": "cpu", "event_status": "Critical", "alert_key": "k%d", "description": %q},`, n, strings.Repeat("x", 4000))
	}
	body.WriteString(one + "]")
	for name, a := range map[string]answer{
		"said":    r.send("POST", "alert/standard?integration_key="+keyMine, body.Bytes()),
		"chunked": r.chunked(body.Bytes()),
		"gzip":    r.send("POST", "alert/standard?integration_key="+keyMine, zip(body.Bytes()), "Content-Encoding", "gzip"),
	} {
		got := len(a.Data.Events)
		if a.status != 200 || got < 4000 || a.Data.Events[got-1].AlertKey != fmt.Sprint("k", got-1) || len(a.Data.Refused) != 1 || a.Data.Refused[0].Index != got ||
			!strings.Contains(a.Data.Refused[0].Message, "longer than 16777216 bytes") {
			t.Errorf("%s: %d %s, %d events, refused %+v", name, a.status, a.Error.Message, got, a.Data.Refused)
		}
	}
}

// A request of 10,000 alerts is taken, and of a larger one as many.
func TestTenThousandAlertsAreTaken(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	a := r.push("[" + strings.Repeat(one+",", ingest.MaxAlerts+499) + one + "]")
	if a.status != 200 || len(a.Data.Events) != ingest.MaxAlerts || len(a.Data.Refused) != 1 || a.Data.Refused[0].Index != ingest.MaxAlerts || a.Data.Refused[0].Count != 500 {
		t.Errorf("%d %s, %d events, refused %+v", a.status, a.Error.Message, len(a.Data.Events), a.Data.Refused)
	}
	if got := len(r.stored()); got != ingest.MaxAlerts {
		t.Errorf("%d events are stored", got)
	}
}

// chunked sends a body without Content-Length.
func (r *fixture) chunked(body []byte) (a answer) {
	r.t.Helper()
	reply, err := http.Post(r.url+"alert/standard?integration_key="+keyMine, "application/json", io.MultiReader(bytes.NewReader(body)))
	if err != nil {
		r.t.Fatal(err)
	}
	defer reply.Body.Close()
	if err := json.NewDecoder(reply.Body).Decode(&a); err != nil {
		r.t.Fatal(err)
	}
	a.status = reply.StatusCode
	return a
}

func zip(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(body)
	w.Close()
	return b.Bytes()
}

func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	path, small := "alert/standard?integration_key="+keyMine, zip([]byte(one))
	for _, c := range []struct{ name, encoding, body, says string }{
		{"broken", "gzip", "this is no gzip", "gzip"},
		{"cut off", "gzip", string(small[:len(small)-6]), "gzip"},
		{"unknown", "br", one, "Content-Encoding must be gzip or absent, got \"br\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.t = t
			r.refused(r.send("POST", path, []byte(c.body), "Content-Encoding", c.encoding), 400, "BadRequest", c.says)
		})
	}
	r.t = t
	for _, encoding := range []string{"gzip", "GZIP", "x-gzip"} {
		if a := r.send("POST", path, small, "Content-Encoding", encoding); a.status != 200 || a.Data.AlertKey != "k" {
			t.Errorf("%s: %d %s", encoding, a.status, a.Error.Message)
		}
	}
	if a := r.send("POST", path, []byte(one), "Content-Encoding", "identity"); a.status != 200 {
		t.Errorf("identity: %d %s", a.status, a.Error.Message)
	}
}

// The key decides to which account an event belongs. It works in the query and as a bearer token.
func TestKeysDecideAccount(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	var want []string
	for _, c := range []struct {
		account, integration int64
		path                 string
		header               []string
	}{
		{apitest.AccountA, mine, "alert/standard?integration_key=" + keyMine, nil},
		{apitest.AccountB, theirs, "alert/standard?integration_key=" + keyTheirs, nil},
		{apitest.AccountB, theirs, "alert/standard", []string{"Authorization", "Bearer " + keyTheirs}},
		{apitest.AccountA, mine, "alert/standard", []string{"Authorization", "bearer  " + keyMine + " "}},
		{apitest.AccountA, mine, "alert/standard?integration_key=" + keyMine, []string{"Authorization", "Bearer " + keyTheirs}}, // the query has precedence
	} {
		a := r.send("POST", c.path, []byte(one), c.header...)
		if a.status != 200 || len(a.Data.Events) != 1 {
			t.Fatalf("%s: %d %s", c.path, a.status, a.Error.Message)
		}
		want = append(want, fmt.Sprint(c.account, " ", c.integration, " ", a.Data.Events[0].EventID))
	}
	if got := r.stored(); !slices.Equal(got, want) {
		t.Errorf("stored\n%v, want\n%v", got, want)
	}
}

// Deleted keys stop working within maxCacheAge, and guessing keys is limited.
func TestDeletedKeysStopWorking(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	if a := r.push(one); a.status != 200 {
		t.Fatal(a.Error.Message)
	}
	r.Call(apitest.KeyA, "/integration/disable", map[string]any{"integration_id": mine})
	r.Clock.Add(time.Second)
	if a := r.push(one); a.status != 400 || !strings.Contains(a.Error.Message, "disabled") {
		t.Errorf("%d %s", a.status, a.Error.Message)
	}
	r.Call(apitest.KeyA, "/integration/enable", map[string]any{"integration_id": mine})
	if a := r.push(one); a.status != 200 { // that it was disabled is not cached
		r.Clock.Add(time.Second)
		a = r.push(one)
		if a.status != 200 {
			t.Errorf("%d %s", a.status, a.Error.Message)
		}
	}
	limited := 0
	for n := range 400 {
		if a := r.send("POST", fmt.Sprint("alert/standard?integration_key=guess", n), []byte(one)); a.status == 429 {
			limited++
		} else if a.status != 400 {
			t.Fatalf("%d %s", a.status, a.Error.Message)
		}
	}
	if limited != 100 {
		t.Errorf("%d of 400 guesses were limited, want 100", limited)
	}
	if a := r.push(one); a.status != 200 {
		t.Errorf("a good key from the same address: %d %s", a.status, a.Error.Message)
	}
}

// Each integration has a rate limit of its own. Its reply states when to retry.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{PerSecond: 3, PerMinute: 5})
	try := func(want ...int) {
		t.Helper()
		for n, status := range want {
			a := r.push(one)
			if a.status != status {
				t.Fatalf("push %d: %d %s, want %d", n, a.status, a.Error.Message, status)
			}
			if after := a.header.Get("Retry-After"); (after != "") != (status == 429) || status == 429 && a.Error.Code != "RequestTooFrequently" {
				t.Errorf("push %d: %s, Retry-After %q", n, a.Error.Code, after)
			}
		}
	}
	try(200, 200, 200, 429, 429)
	if a := r.send("POST", "alert/standard?integration_key="+keyTheirs, []byte(one)); a.status != 200 {
		t.Errorf("another integration: %d", a.status)
	}
	r.Clock.Add(time.Second)
	try(200, 200, 429)
	r.Clock.Add(59*time.Second - time.Millisecond)
	try(429)
	r.Clock.Add(time.Millisecond)
	try(200, 200, 200, 429)
	if got := len(r.stored()); got != 9 {
		t.Errorf("%d events are stored, want 9", got)
	}
}

// One malformed alert does not affect the others, and the reply names it.
func TestRejectedAlertsAreNamed(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	type refusal struct {
		index int
		field string
	}
	for _, c := range []struct {
		source, body string
		taken        []string
		refused      []refusal
	}{
		{"standard", `[{"title_rule": "a", "event_status": "Critical", "alert_key": "a"}, {"title_rule": "b"}, 7, {"title_rule": "c", "event_status": "Ok"}, {"title_rule": "d", "event_status": "Info", "alert_key": "d", "labels": {"a b": "c"}}, {"title_rule": "e", "event_status": "Ok", "alert_key": "e"}]`,
			[]string{"a", "e"}, []refusal{{1, "[1].event_status"}, {2, "[2]"}, {3, "[3].alert_key"}, {4, "[4].labels"}}},
		{"prometheus", `{"alerts": [{"status": "firing"}, {"status": "firing", "fingerprint": "f", "labels": {"alertname": "x"}}, {"status": "lost", "labels": {"alertname": "x"}}]}`,
			[]string{"f"}, []refusal{{0, "alerts[0].labels"}, {2, "alerts[2].status"}}},
		{"grafana", `{"alerts": [{"status": "firing", "fingerprint": "f", "labels": {"alertname": "x"}}, {"status": 7}]}`,
			[]string{"f"}, []refusal{{1, "alerts[1].status"}}},
	} {
		a := r.send("POST", "alert/"+c.source+"?integration_key="+keyMine, []byte(c.body))
		var taken []string
		for _, e := range a.Data.Events {
			taken = append(taken, e.AlertKey)
		}
		var refused []refusal
		for _, f := range a.Data.Refused {
			refused = append(refused, refusal{f.Index, f.Field})
			if f.Message == "" {
				t.Errorf("%s: alert %d is refused without a reason", c.source, f.Index)
			}
		}
		if a.status != 200 || !slices.Equal(taken, c.taken) || !slices.Equal(refused, c.refused) {
			t.Errorf("%s: %d %s, took %v and refused %v, want %v and %v", c.source, a.status, a.Error.Message, taken, refused, c.taken, c.refused)
		}
	}
}

// TestHeartbeats checks the events of sequences of heartbeats and pauses, as a table of actions by second. The interval is
// 300 seconds.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	const beat, look, disable, enable = "beat", "look", "disable", "enable"
	for _, c := range []struct {
		name string
		do   []string // "SECOND WHAT"; every second of interest is looked at
		want []string // status of the events
	}{
		{"in time", []string{"0 look", "0 beat", "300 look", "300 beat", "600 look"}, nil},
		{"late", []string{"0 look", "0 beat", "301 look", "350 look"}, []string{"Critical"}},
		{"back", []string{"0 look", "0 beat", "301 look", "310 beat", "311 beat", "400 look"}, []string{"Critical", "Ok"}},
		{"late again", []string{"0 look", "0 beat", "301 look", "310 beat", "610 look", "611 look", "900 look"}, []string{"Critical", "Ok", "Critical"}},
		{"never", []string{"0 look", "300 look", "301 look"}, []string{"Critical"}},
		{"disabled", []string{"0 look", "0 beat", "10 disable", "301 look", "1000 look"}, nil},
		{"enabled again", []string{"0 look", "0 beat", "10 disable", "1000 enable", "1001 look", "1300 look"}, nil},
		{"enabled again and late", []string{"0 look", "0 beat", "10 disable", "1000 enable", "1001 look", "1301 look"}, []string{"Critical"}},
		{"disabled while silent", []string{"0 look", "301 look", "310 disable", "400 enable", "900 look", "910 beat"}, []string{"Critical", "Ok"}},
		{"a clock that is set back", []string{"1000 look", "1000 beat", "100 look", "100 beat", "401 look"}, []string{"Critical"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newFixture(t, ratelimit.Rate{})
			task := r.Job()
			start, last := apitest.Now, int64(-1)
			looked := func() {
				if _, err := task.Run(context.Background(), r.Clock.Now()); err != nil {
					t.Fatal(err)
				}
			}
			for _, step := range c.do {
				var second int64
				var what string
				if _, err := fmt.Sscan(step, &second, &what); err != nil {
					t.Fatal(err)
				}
				for ; last >= 0 && last < second-30; last += 30 { // the job runs all the time
					r.Clock.Set(start.Add(time.Duration(last+30) * time.Second))
					looked()
				}
				last = second
				r.Clock.Set(start.Add(time.Duration(second) * time.Second))
				switch what {
				case look:
					looked()
				case beat:
					if a := r.send("GET", "heartbeat?integration_key="+keyBeats, nil); a.status != 200 {
						t.Fatalf("%d %s", a.status, a.Error.Message)
					}
				case disable, enable:
					if a := r.Call(apitest.KeyA, "/integration/"+what, map[string]any{"integration_id": beats}); a.Status != 200 {
						t.Fatal(a)
					}
				}
			}
			var got []string
			r.Read(func(tx *db.Tx) (err error) {
				got, err = db.All(tx, func(scan db.Scan) (string, error) {
					var body string
					err := scan(&body)
					for _, status := range []string{"Critical", "Ok"} {
						if strings.Contains(body, `"event_status":"`+status+`"`) {
							return status, err
						}
					}
					return body, err
				}, `SELECT body FROM event ORDER BY received_at`)
				return err
			})
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// No two events have the same time of arrival, even if the clock stands still or goes back: it is their order.
func TestEventsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	var want []string
	for n := range 20 {
		a := r.push(fmt.Sprintf(`[%s, %[1]s]`, one))
		for _, e := range a.Data.Events {
			want = append(want, fmt.Sprint(apitest.AccountA, " ", mine, " ", e.EventID))
		}
		if n%5 == 4 {
			r.Clock.Add(-time.Minute)
		}
	}
	if got := r.stored(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
