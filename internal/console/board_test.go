package console_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// flood sends alerts of one title from machines of a number each.
func (w *world) flood(title string, machines int) {
	w.t.Helper()
	for i := range machines {
		w.push(fmt.Sprintf(`{"title_rule": %q, "event_status": "Critical", "alert_key": "%s-%02d", "labels": {"check": "ping", "service": "shard%02d"}}`,
			title, title, i+1, i+1))
	}
}

var rowTitle = regexp.MustCompile(`<strong id="n[0-9a-f]+"><bdi>(.*?)</bdi>`)

// rows returns the titles of the rows of incidents of a page.
func (a answer) rows() (titles []string) {
	for _, m := range rowTitle.FindAllStringSubmatch(a.body, -1) {
		titles = append(titles, m[1])
	}
	return titles
}

// TestIncidentsOfStormShareRow: ten incidents of one title are one row with what differs, and the incident that differs stands
// beside it. All of the storm are acknowledged at once, and that is undone.
func TestIncidentsOfStormShareRow(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.flood("Shard does not answer", 10)
	w.push(`{"title_rule": "Payments are slow", "event_status": "Critical", "alert_key": "pay"}`)
	ann := w.signIn(annKey)
	list := ann.get("/incidents").shows("shard01 … shard10", "Show all 10", `>shard07</bdi></a>`, "10 incidents came at once", "Acknowledge all 10",
		`Open <span class="sum">11<`, `Mine <span class="sum">11<`, `Snoozed <span class="sum">0<`)
	if got := list.rows(); !slices.Equal(got, []string{"Payments are slow", "Shard does not answer"}) {
		t.Errorf("rows: %q", got)
	}
	ids := regexp.MustCompile(`name="incident" value="([0-9a-f,]+),"`).FindStringSubmatch(list.body)[1]
	if n := len(strings.Split(ids, ",")); n != 10 {
		t.Fatalf("the storm has %d incidents", n)
	}
	done := ann.post("/incidents?show=mine", "act", "ack", "incident", ids).
		shows("You have 10 incidents.", "Being worked on", "Undo", "!came at once", `aria-current="true">Mine`)
	if got := done.rows(); !slices.Equal(got, []string{"Payments are slow", "Shard does not answer"}) {
		t.Errorf("rows after the acknowledgement: %q", got)
	}
	ann.post("/incidents", "act", "unack", "incident", ids).shows("10 acknowledgements are undone.", "10 incidents came at once")
	w.clock.Add(6 * time.Minute)
	ann.get(done.path).shows("!You have 10 incidents.")
	first, _, _ := strings.Cut(ids, ",")
	ann.post("/incidents/" + first + "/resolve").shows("Closed")
	ann.post("/incidents", "act", "ack", "incident", ids).shows("You have 9 incidents.")
	ann.post("/incidents", "act", "ack", "incident", first).showsWith(http.StatusBadRequest, "They are closed already.")
	ann.post("/incidents", "act", "ack").showsWith(http.StatusBadRequest, "Choose incidents first.")
	ann.post("/incidents", "act", "drop", "incident", first).showsWith(http.StatusNotFound, "no such form")
	w.signIn(readerKey).get("/incidents").shows("Show all 9", "!Acknowledge all")
	w.signIn(readerKey).post("/incidents", "act", "ack", "incident", ids).showsWith(http.StatusForbidden)
}

// TestIncidentsAreListedByNeed: those that no person has come before those that are worked on, and these before the snoozed;
// among them the severest first, then the newest. Two of one title do not share a row.
func TestIncidentsAreListedByNeed(t *testing.T) {
	t.Parallel()
	w := begin(t)
	ann := w.signIn(annKey)
	for _, one := range []string{"Held Critical", "Asleep Critical", "Old Warning", "Old Critical", "Twice Warning", "Twice Warning", "New Info"} {
		title, severity, _ := strings.Cut(one, " ")
		w.clock.Add(time.Minute)
		w.push(fmt.Sprintf(`{"title_rule": %q, "event_status": %q, "alert_key": "%d"}`, title, severity, w.clock.Now().Unix()))
	}
	of := func(title string) string { return ann.get("/incidents?q=" + title).link("/incidents/") }
	ann.post(of("Held") + "/ack")
	ann.post(of("Asleep")+"/snooze", "minutes", "60")
	list := ann.get("/incidents").shows("!came at once", "!Show all")
	want := []string{"Old", "Twice", "Twice", "Old", "New", "Held", "Asleep"}
	if got := list.rows(); !slices.Equal(got, want) {
		t.Errorf("rows: %q, want %q", got, want)
	}
	parts := regexp.MustCompile(`>([^<>]*) <span class="sum">(\d+)</span></h2>`).FindAllStringSubmatch(list.body, -1)
	if got := fmt.Sprint(parts); !strings.Contains(got, "Needs someone 5") || !strings.Contains(got, "Being worked on 1") || !strings.Contains(got, "Snoozed 1") {
		t.Errorf("parts: %q", parts)
	}
	if got := ann.get("/incidents?show=snoozed").rows(); !slices.Equal(got, []string{"Asleep"}) {
		t.Errorf("snoozed: %q", got)
	}
	ann.get("/incidents?show=all").shows("All incidents")
}

// TestManyIncidentsAtOnce: several incidents are resolved, snoozed, given to who is on call, to people and teams, silenced and
// merged by forms that name them.
func TestManyIncidentsAtOnce(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.flood("Shard does not answer", 4)
	ann := w.signIn(annKey)
	list := ann.get("/incidents").shows(`id="many"`, `formaction="/incidents/chosen"`)
	ids := strings.Split(regexp.MustCompile(`name="incident" value="([0-9a-f]{24},[0-9a-f,]+)"`).FindStringSubmatch(list.body)[1], ",")
	if len(ids) != 4 {
		t.Fatalf("the row has the incidents %q", ids)
	}
	all := strings.Join(ids, ",")
	ann.get("/incidents/chosen?act=snooze&incident="+ids[0]+"&incident="+ids[1]).shows("Snooze incidents", "2 incidents", ids[0]+","+ids[1])
	ann.get("/incidents/chosen?act=snooze").shows("Choose incidents first.")
	ann.post("/incidents/chosen", "act", "snooze", "incident", ids[0]+","+ids[1], "minutes", "60").shows("2 incidents are snoozed.", `Snoozed <span class="sum">2<`)
	ann.post("/incidents/chosen", "act", "reassign", "incident", all, "do", "pick", "person.add", "Bob").shows("Bob Night", "Reassign incidents")
	ann.post("/incidents/chosen", "act", "reassign", "incident", all).showsWith(http.StatusBadRequest, "Reassign incidents", "4 incidents")
	ann.get("/incidents/chosen?act=reassign&incident="+all).shows("On call now", `href="/schedules/7000000000031"`, "All members of")
	ann.post("/incidents/chosen", "act", "reassign", "incident", all, "person", "7000000000013").shows("4 incidents are reassigned.", "Waiting for Bob Night")
	ann.post("/incidents/chosen", "act", "silence", "incident", all, "minutes", "30").shows("4 incidents are silenced.")
	ann.get("/incidents/" + ids[3]).shows("Silenced until")
	ann.post("/incidents/chosen", "act", "merge", "incident", all).showsWith(http.StatusBadRequest, "Choose the incident to merge into.", `name="target"`)
	ann.post("/incidents/chosen", "act", "merge", "incident", ids[0]+","+ids[1], "target", ids[0]).shows("2 incidents are merged into one.")
	ann.get("/incidents/"+ids[1]).shows("It was merged into another incident.", ids[0])
	ann.post("/incidents", "act", "resolve", "incident", all).shows("3 incidents are resolved.", "All quiet.")
	ann.post("/incidents/chosen", "act", "silence", "incident", all).showsWith(http.StatusBadRequest, "They are closed already.")
	w.signIn(readerKey).get("/incidents/chosen").showsWith(http.StatusForbidden)
}

// TestIncidentLeadsThroughItsList: the next and the previous incident are those of the list that it was opened from, also after an
// action. A row that goes on has its age.
func TestIncidentLeadsThroughItsList(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for n, one := range []string{"Disk Critical", "Queue Warning", "Disk full Critical", "Disk slow Info"} {
		at := strings.LastIndex(one, " ")
		w.push(fmt.Sprintf(`{"title_rule": %q, "event_status": %q, "alert_key": "%d"}`, one[:at], one[at+1:], n))
		w.clock.Add(time.Minute)
	}
	ann := w.signIn(annKey)
	list := ann.get("/incidents?q=Disk").shows("list=q%3DDisk", "· 4 min", "!Queue")
	links := regexp.MustCompile(`href="(/incidents/[0-9a-f]{24}[?]list=[^"]*)"`).FindAllStringSubmatch(list.body, -1)
	if len(links) != 3 {
		t.Fatalf("links: %q", links)
	}
	second := ann.get(links[1][1]).shows(`<a href="/incidents?q=Disk">`, `rel="prev" href="`+links[0][1], `rel="next" href="`+links[2][1])
	path := second.path[:strings.Index(second.path, "?")]
	ann.post(path+"/snooze", "minutes", "60", "list", "q=Disk").shows(`rel="prev" href="`+links[2][1], `!rel="next"`)
	ann.post(path+"/resolve", "list", "show=all&q=Disk").shows(`rel="prev" href="/incidents/`, `!rel="next"`, "list=q%3DDisk%26show%3Dall")
	ann.get(path).shows(`!rel="prev"`, `<a href="/incidents">`)
	ann.get(path + "?list=%25zz").shows(`!rel="prev"`)
	ann.get(path + "?list=show%3Dall%26severity%3DLoud").shows("Part of this page could not be read.")
}
