package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const rackDown = `{"title_rule": "NodeDown::10.0.0.1:9100", "event_status": "Critical", "alert_key": "rack1", "description": "rack1 answers no ping",
	"labels": {"alertname": "NodeDown", "summary": "rack1 is down", "service": "db"}}`

// An incident has the name in the console that its messages have, and each message has its number and its page.
func TestIncidentHasOneNameEverywhere(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(rackDown)
	owner := w.signIn(ownerKey)
	page := owner.get("/incidents").shows("rack1 is down", "!NodeDown").link("/incidents/")
	number := "#" + strings.ToUpper(page[len(page)-6:])
	owner.get(page).shows("<bdi>rack1 is down (db)</bdi></h1>", number+" ·", "<title>rack1 is down (db) ·",
		`<p class="words"><bdi>rack1 is down (db)</bdi></p>`, "!<bdi>NodeDown::")
	for _, form := range []string{"/merge", "/people", "/similar", "/why", "/silence"} {
		owner.get(page + form).shows("rack1 is down")
	}
	owner.get(page+"/edit").shows("rack1 is down", `value="NodeDown::10.0.0.1:9100"`)
	owner.get(owner.get("/alerts").shows("rack1 is down").link("/alerts/")).shows("<bdi>rack1 is down (db)</bdi></h1>", ">rack1 is down (db)</bdi></a></dd>")
	mails := w.mail.Mails()
	if len(mails) != 1 {
		t.Fatalf("%d mails were sent", len(mails))
	}
	subject, _, texts, err := mails[0].Read()
	w.must(err)
	if subject != "[Critical] rack1 is down (db)" {
		t.Error(subject)
	}
	for kind, text := range texts {
		if !strings.Contains(text, number) || !strings.Contains(text, "http://tocsin.example.com"+page) {
			t.Errorf("%s: no number or no link in %s", kind, text)
		}
	}
	got := w.call(ownerKey, "/incident/info", `{"incident_id":"`+strings.TrimPrefix(page, "/incidents/")+`"}`)
	for member, want := range map[string]string{
		"headline": "rack1 is down (db)", "title": "NodeDown::10.0.0.1:9100", "detail_url": "http://tocsin.example.com" + page,
	} {
		if got[member] != want {
			t.Errorf("%s is %q, want %q", member, got[member], want)
		}
	}
}

// The description is that of the alert that the name is of: the most severe that fires.
func TestDescriptionBelongsToName(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(rackDown)
	page := w.signIn(ownerKey).get("/incidents").link("/incidents/")
	id := strings.TrimPrefix(page, "/incidents/")
	w.push(`{"title_rule": "DiskFull::db1", "event_status": "Critical", "alert_key": "disk", "description": "3 % are left",
		"labels": {"alertname": "DiskFull", "summary": "Disk of db1 is full"}}`)
	other := strings.TrimPrefix(w.signIn(ownerKey).get("/incidents?q=DiskFull").link("/incidents/"), "/incidents/")
	w.call(ownerKey, "/incident/merge", `{"source_incident_ids":["`+other+`"],"target_incident_id":"`+id+`"}`)
	w.settle()
	w.signIn(ownerKey).get(page).shows("<bdi>rack1 is down (db)</bdi></h1>", "rack1 answers no ping")
	w.push(strings.Replace(rackDown, `"Critical"`, `"Ok"`, 1))
	w.signIn(ownerKey).get(page).shows("<bdi>Disk of db1 is full</bdi></h1>", "3 % are left", "!rack1 answers no ping")
}

// Lists, files and the audit log have the name that people read, and a search finds an incident by it: by the name that it has
// now, of the alert that leads now.
func TestIncidentIsFoundByItsName(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(rackDown)
	owner := w.signIn(ownerKey)
	page := owner.get("/incidents").link("/incidents/")
	id := strings.TrimPrefix(page, "/incidents/")
	window := fmt.Sprintf(`"start_time":%d,"end_time":%d`, w.clock.Now().Unix()-86400, w.clock.Now().Unix()+86400)
	find := func(text string, want int) {
		t.Helper()
		query := fmt.Sprintf(`{%s,"query":%q}`, window, text)
		for _, path := range []string{"/incident/list", "/insight/incident/list"} {
			if got := w.call(ownerKey, path, query); got["total"] != float64(want) {
				t.Errorf("%s finds %v incidents for %q, want %d", path, got["total"], text, want)
			}
		}
	}
	find("RACK1 is down (db)", 1)
	w.push(strings.Replace(rackDown, "rack1 is down", "rack1 and rack2 are down", 1))
	find("rack1 and rack2 are down (DB)", 1)
	find("rack1 and rack3", 0)
	w.push(`{"title_rule": "DiskFull::db1", "event_status": "Critical", "alert_key": "disk",
		"labels": {"alertname": "DiskFull", "summary": "Disk of db1 is full", "host": "db7"}}`)
	other := strings.TrimPrefix(owner.get("/incidents?q=DiskFull").link("/incidents/"), "/incidents/")
	w.call(ownerKey, "/incident/merge", `{"source_incident_ids":["`+other+`"],"target_incident_id":"`+id+`"}`)
	w.push(strings.Replace(rackDown, `"Critical"`, `"Ok"`, 1))
	owner.get("/incidents?q="+url.QueryEscape("Disk of db1 is full (db7)")).shows("Disk of db1 is full (db7)", page)
	find("disk of db1 is full (db7)", 2)
	row := w.call(ownerKey, "/insight/incident/list", `{`+window+`,"incident_ids":["`+id+`"]}`)["items"].([]any)[0].(map[string]any)
	if row["headline"] != "Disk of db1 is full (db7)" || row["title"] != "NodeDown::10.0.0.1:9100" {
		t.Errorf("insight calls it %q, %q", row["headline"], row["title"])
	}
	w.call(ownerKey, "/incident/comment", `{"incident_ids":["`+id+`"],"comment":"x"}`)
	owner.get("/audit").shows("Disk of db1 is full (db7)", "!NodeDown::")
}

// Times are in the person's zone, and name the zone. The first browser in which a person signs in decides, unless
// the person or the invitation named a zone.
func TestTimesAreInPersonsZone(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(rackDown)
	browser := func(key, zone string) *browser {
		b := w.visitor()
		base, err := url.Parse(w.url)
		w.must(err)
		b.client.Jar.SetCookies(base, []*http.Cookie{{Name: "tocsin-zone", Value: zone}})
		b.post("/sign-in", "app_key", key)
		return b
	}
	browser(ownerKey, "America/New_York").get("/incidents").shows("Sat 21 Nov, 05:00 EST", "Times: America/New_York")
	browser(ownerKey, "Asia/Tokyo").get("/incidents").shows("05:00 EST")
	browser(annKey, "Asia/Tokyo").get("/incidents").shows("11:00 CET", "Times: Europe/Berlin")
	browser(bobKey, "Mars/Olympus").get("/incidents").shows("10:00 UTC", "Times: UTC")
	made := w.signIn(ownerKey).post("/people", "email", "new@example.com", "name", "New Hand", "zone", "Australia/Sydney")
	made.shows(`value="Australia/Sydney"`)
	w.signIn(ownerKey).post("/people", "email", "other@example.com", "zone", "Nowhere").showsWith(http.StatusBadRequest, "time_zone", `value="Nowhere"`)
}

// Each input of a time names the zone in which it is read, and so does each bar of a schedule's picture.
func TestInputsNameZoneOfTimes(t *testing.T) {
	t.Parallel()
	labelled := regexp.MustCompile(`<label>\{\{t "([^"]*)"[^}]*\}\}<input (?:type="date"|\{\{(?:moment|clock)\}\})`)
	files, err := filepath.Glob("template/*.html")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, label := range labelled.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(label[1], "(%s") {
				t.Errorf("%s: the label %q names no zone", name, label[1])
			}
		}
	}
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get("/insight").shows("Days are those of UTC.", "First day (UTC)")
	bar := regexp.MustCompile(`title="([^"]* until [^"]*)"`)
	zone := regexp.MustCompile(`\d\d:\d\d [A-Z]{3,4}`)
	bars := bar.FindAllStringSubmatch(owner.get("/schedules/7000000000032").body, -1)
	if len(bars) == 0 {
		t.Error("the picture has no bars")
	}
	for _, b := range bars {
		if len(zone.FindAllString(b[1], -1)) != 2 {
			t.Errorf("a bar names no zone: %s", b[1])
		}
	}
}
