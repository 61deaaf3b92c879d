package story

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCursorIsValidWhileTimePasses: a page that is requested seconds later continues where the last one ended.
func TestCursorIsValidWhileTimePasses(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	for _, key := range []string{"a", "b", "c"} {
		w.push(key, "Critical")
		w.do("/incident/snooze", `{"incident_ids": [%q], "minutes": 60}`, w.incident())
		w.pass(time.Second)
	}
	now := w.clock.Now().Unix()
	for _, list := range []string{
		fmt.Sprintf(`/incident/list {"start_time": %d, "end_time": %d, "is_snoozed": true, "limit": 2`, now-3600, now+3600),
		`/alert-event/list {"limit": 2`,
	} {
		var path, body string
		fmt.Sscanf(list, "%s", &path)
		body = list[len(path)+1:]
		first := w.do(path, "%s}", body)
		w.pass(5 * time.Second)
		second := w.do(path, `%s, "search_after_ctx": %q}`, body, first.get("search_after_ctx"))
		if first.get("items.1.title") == "" || second.get("items.0.title") == "" || second.get("items.1.title") != "" {
			t.Errorf("%s: %s, then %s", path, first, second)
		}
	}
}

// TestOpenWindowOfEventsEndsNow: with a start alone the window ends now, and its length is limited all the same.
func TestOpenWindowOfEventsEndsNow(t *testing.T) {
	t.Parallel()
	w := begin(t)
	if r := w.try(ownKey, "/alert-event/list", `{"start_time": 1}`); r.Status != 400 || !strings.Contains(r.String(), "31 days") {
		t.Error(r)
	}
}

// TestTitlesAreFoundWithoutRegardToCase: in every script.
func TestTitlesAreFoundWithoutRegardToCase(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.do("/incident/create", `{"incident_severity": "Critical", "title": "Über ΣΊΣΥΦΟΣ 100%%", "channel_id": %d}`, shop)
	now := w.clock.Now().Unix()
	for query, want := range map[string]string{"Über": "1", "über": "1", "ÜBER": "1", "σίσυφος": "1", "100%": "1", "10_%": "0", "uber": "0"} {
		r := w.do("/incident/list", `{"start_time": %d, "end_time": %d, "query": %q}`, now-10, now+10, query)
		if r.get("total") != want {
			t.Errorf("%s: %s found, want %s", query, r.get("total"), want)
		}
	}
	w.do("/incident/reset", `{"incident_id": %q, "title": "Ärger"}`, w.incident())
	w.want(w.do("/incident/list", `{"start_time": %d, "end_time": %d, "query": "ÄRGER"}`, now-10, now+10), "total", "1")
	w.sql(`UPDATE incident SET search_folded = ''`) // as an older version leaves it
	w.restart()
	w.want(w.do("/incident/list", `{"start_time": %d, "end_time": %d, "query": "ÄRGER"}`, now-10, now+10), "total", "1")
}

// TestIncidentsAreFoundByWhatPeopleSee: by identifier, number, label values and description, in upper or lower case.
func TestIncidentsAreFoundByWhatPeopleSee(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push("cpu", "Critical", "host=Web-01.Example.com", "team=Zoë")
	id := w.incident()
	w.do("/incident/reset", `{"incident_id": %q, "description": "Disk /dev/sda1 is 100%% full"}`, id)
	w.do("/incident/create", `{"incident_severity": "Info", "title": "another", "channel_id": %d}`, mail)
	now := w.clock.Now().Unix()
	search := func(when string) {
		t.Helper()
		num := id[18:]
		for query, want := range map[string]string{
			id: "1", strings.ToUpper(id): "1", num: "1", strings.ToUpper(num): "1", "#" + strings.ToUpper(num): "1",
			id[:18]: "0", num[1:]: "0", id[:23] + "x": "0", "web-01.EXAMPLE": "1", "ZOË": "1", "SDA1 is 100%": "1", "web-02": "0",
		} {
			if r := w.do("/incident/list", `{"start_time": %d, "end_time": %d, "query": %q}`, now-10, now+10, query); r.get("total") != want {
				t.Errorf("%s, %s: %s found, want %s", when, query, r.get("total"), want)
			}
		}
	}
	search("new")
	w.sql(`UPDATE incident SET search_folded = ''`) // as an older version leaves it
	w.restart()
	search("after an upgrade")
}

// TestAlertsAreFoundByTitle: exactly, with wildcards and by expression, and page by page as without a title.
func TestAlertsAreFoundByTitle(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for _, title := range []string{"Disk full on web-1", "Disk full on web-2", "disk full on web-3", "Disk 100% full", "Disk 100_ full", `C:\disk*`} {
		w.push(title, "Critical", "title="+title)
		w.pass(time.Second)
	}
	in := fmt.Sprintf(`{"start_time": %d, "end_time": %d`, start.Unix()-10, start.Unix()+100)
	for title, want := range map[string]string{
		"Disk full on web-1": "1", "Disk full": "0", "Disk full*": "2", "*full on web-?": "3", "Disk 100% full": "1", "Disk 100_ full": "1",
		"*": "6", "/web-[12]$/": "2", "/^(?i)disk full/": "3", `C:\disk?`: "1", "/": "0", "num:gt:5": "0", "Disk*web*2": "1",
	} {
		for _, order := range []string{``, `, "asc": true`, `, "by_updated_at": true`, `, "by_updated_at": true, "asc": true`} {
			r := w.do("/alert/list", `%s%s, "title": %q}`, in, order, title)
			if r.get("total") != want || r.get("warnings") != "" {
				t.Errorf("%s%s: %s found, want %s: %s", title, order, r.get("total"), want, r.get("warnings"))
			}
		}
	}
	for _, order := range []string{``, `, "asc": true`} {
		for _, title := range []string{`"title": "*"`, `"severity": "Critical"`} { // the second has no such member: all
			var seen []string
			cursor := ""
			for range 4 {
				r := w.do("/alert/list", `%s%s, %s, "limit": 2%s}`, in, order, title, cursor)
				seen = append(seen, r.get("items.0.title"), r.get("items.1.title"))
				cursor = fmt.Sprintf(`, "search_after_ctx": %q`, r.get("search_after_ctx"))
				if r.get("has_next_page") != "true" {
					break
				}
			}
			slices.Sort(seen)
			if len(seen) != 6 || len(slices.Compact(seen)) != 6 {
				t.Errorf("%s%s: %q", title, order, seen)
			}
		}
	}
	for title, want := range map[string]string{"/(/": "regular expression", "/(x|y){900}/": "instructions", "cidr:x": "cidr"} {
		if r := w.try(ownKey, "/alert/list", `%s, "title": %q}`, in, title); r.Status != 400 || !strings.Contains(r.String(), want) {
			t.Errorf("%s: %s", title, r)
		}
	}
	r := w.do("/alert/list", `%s, "titel": "Disk full"}`, in)
	w.want(r, "warnings.0", "titel: is not known here and is ignored; did you mean title?")
	w.want(r, "total", "6")
}

// TestMalformedIDIsNamedInError: a malformed ID is an invalid parameter, not an object that does not exist.
func TestMalformedIDIsNamedInError(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push("cpu", "Critical")
	for path, body := range map[string]string{
		"/incident/list-by-ids": `{"incident_ids": ["x"]}`,
		"/incident/ack":         `{"incident_ids": ["x"]}`,
		"/incident/assign":      fmt.Sprintf(`{"incident_id": "x", "assigned_to": {"person_ids": [%d]}}`, ann),
		"/incident/assign ":     fmt.Sprintf(`{"incident_ids": ["x"], "assigned_to": {"person_ids": [%d]}}`, ann),
		"/incident/merge":       fmt.Sprintf(`{"source_incident_ids": ["x"], "target_incident_id": %q}`, w.incident()),
		"/incident/list":        `{"start_time": 1, "end_time": 2, "incident_ids": ["x"]}`,
		"/alert/list":           `{"start_time": 1, "end_time": 2, "alert_ids": ["x"]}`,
		"/alert/list-by-ids":    `{"alert_ids": ["x"]}`,
		"/alert/close":          `{"alert_ids": ["x"]}`,
		"/alert/explain":        `{"alert_id": "x"}`,
		"/alert/explain ":       `{"event_id": "x"}`,
	} {
		if r := w.try(ownKey, strings.TrimSpace(path), "%s", body); r.Status != 400 || r.Error.Code != "InvalidParameter" || !strings.Contains(r.Error.Message, "24 hexadecimal") {
			t.Errorf("%s %s: %s", path, body, r)
		}
	}
}

// TestEmptyListOfChannelsIsNoFilter: the incidents of a team are listed for all channels.
func TestEmptyListOfChannelsIsNoFilter(t *testing.T) {
	t.Parallel()
	w := begin(t, fmt.Sprintf(`{"channels": [{"channel_id": 7000000000049, "channel_name": "Ours", "team_id": %d}]}`, ops))
	w.do("/incident/create", `{"incident_severity": "Info", "title": "by hand", "channel_id": 7000000000049}`)
	now := w.clock.Now().Unix()
	for _, more := range []string{``, `, "channel_ids": []`} {
		w.want(w.do("/incident/list", `{"start_time": %d, "end_time": %d, "team_ids": [%d]%s}`, now-10, now+10, ops, more), "total", "1")
	}
}

func TestAlertsAreFoundByTheirExactKey(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for _, key := range []string{"host_1", "host-1", "HOST_1", "%"} {
		w.push(key, "Critical")
	}
	r := w.do("/alert/list", `{"start_time": %d, "end_time": %d, "alert_keys": ["host-1"]}`, start.Unix()-10, start.Unix()+100)
	w.want(r, "total", "1")
	w.want(r, "items.0.alert_key", "host-1")
}
