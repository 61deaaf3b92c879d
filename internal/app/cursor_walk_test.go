package app_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
	"tocsin/internal/template"
)

// walked is a list that is walked by its cursor: the request, the member that identifies an element, and how rows are
// added and deleted. The keys of a row are small numbers, so that many rows have equal ones.
type walked struct {
	path, body, id string
	orders         []string // empty: the list has one
	oneWay         string   // the direction of a list without asc, "up" or "down"
	add            func(w world, tx *db.Tx, r walkedRow) error
	remove         string // a statement with the account and the id
	byNumber       bool   // the ids are numbers
}

type walkedRow struct {
	n    int64 // identifies it
	keys map[string]int64
}

// id returns the identifier of a row as the list shows it.
func (l walked) idOf(r walkedRow) string {
	if l.byNumber {
		return fmt.Sprint(r.n)
	}
	return fmt.Sprintf("aaaa%020d", r.n)
}

// text returns the identifier of a row of a list whose identifiers are texts.
func (r walkedRow) text() string { return fmt.Sprintf("aaaa%020d", r.n) }

const walkedSince = 1_776_000_000

func walkedLists() []walked {
	window := fmt.Sprintf(`"start_time":%d,"end_time":%d`, walkedSince, walkedSince+1000)
	millis := fmt.Sprintf(`"start_time":%d000,"end_time":%d000`, walkedSince, walkedSince+1000)
	at := func(r walkedRow, key string) int64 { return walkedSince + r.keys[key] }
	exec := func(tx *db.Tx, query string, args ...any) error { _, err := tx.Exec(query, args...); return err }
	const parent = "cccc00000000000000000001"
	return []walked{
		{path: "/team/list", id: "team_id", orders: []string{"created_at", "updated_at", "team_name"}, byNumber: true,
			add: func(w world, tx *db.Tx, r walkedRow) error {
				return team.Load(tx, w.account, []team.Record{{TeamID: r.n, TeamName: nameOf(r), CreatedAt: at(r, "created_at"), UpdatedAt: at(r, "updated_at")}})
			}, remove: `DELETE FROM team WHERE account_id = $1 AND team_id = $2`},
		{path: "/member/list", id: "member_id", orders: []string{"created_at", "updated_at"}, byNumber: true,
			add: func(w world, tx *db.Tx, r walkedRow) error {
				return person.Load(tx, w.account, []person.Record{{Item: person.Item{PersonID: r.n, PersonName: "p", Status: "enabled"}, CreatedAt: at(r, "created_at"), UpdatedAt: at(r, "updated_at")}})
			}, remove: `DELETE FROM person WHERE account_id = $1 AND person_id = $2`},
		{path: "/channel/list", id: "channel_id", orders: []string{"created_at", "updated_at", "channel_name"}, byNumber: true,
			add: func(w world, tx *db.Tx, r walkedRow) error {
				return channel.Load(tx, w.account, []channel.Channel{{ChannelID: r.n, ChannelName: nameOf(r), Status: "enabled", CreatedAt: at(r, "created_at"), UpdatedAt: at(r, "updated_at")}})
			}, remove: `DELETE FROM channel WHERE account_id = $1 AND channel_id = $2`},
		{path: "/schedule/list", id: "schedule_id", oneWay: "down", byNumber: true,
			add: func(w world, tx *db.Tx, r walkedRow) error {
				return schedule.Load(tx, w.app.Keyring, w.account, []schedule.Record{{ScheduleID: r.n, Body: schedule.Body{ScheduleName: "s"}, CreateAt: at(r, "")}})
			}, remove: `DELETE FROM schedule WHERE account_id = $1 AND schedule_id = $2`},
		{path: "/template/list", id: "template_id", orders: []string{"created_at", "updated_at"},
			add: func(w world, tx *db.Tx, r walkedRow) error {
				return template.Kind.Put(tx, w.account, &template.Template{AccountID: w.account, TemplateID: r.text(), TemplateName: r.text(), Status: "enabled",
					CreatedAt: at(r, "created_at"), UpdatedAt: at(r, "updated_at")})
			}, remove: `DELETE FROM object WHERE kind = '` + configstore.Template + `' AND account_id = $1 AND id = $2`},
		{path: "/rum/application/list", id: "application_id", orders: []string{"created_at", "updated_at"},
			add: func(w world, tx *db.Tx, r walkedRow) error {
				return rum.LoadApplications(tx, w.app.Keyring, w.account, []rum.Application{{ApplicationID: r.text(), ApplicationName: "a", Type: "browser", Status: "enabled",
					CreatedAt: at(r, "created_at"), UpdatedAt: at(r, "updated_at")}})
			}, remove: `DELETE FROM rum_application WHERE account_id = $1 AND application_id = $2`},
		{path: "/rum/issue/list", body: millis, id: "issue_id", orders: []string{"created_at", "updated_at", "session_count", "error_count"},
			add: func(w world, tx *db.Tx, r walkedRow) error {
				return rum.LoadIssues(tx, w.account, []rum.Issue{{IssueID: r.text(), ApplicationID: "x", Status: "for_review", Severity: "Info",
					CreatedAt: at(r, "created_at") * 1000, UpdatedAt: at(r, "updated_at") * 1000, SessionCount: r.keys["session_count"], ErrorCount: r.keys["error_count"]}})
			}, remove: `DELETE FROM rum_issue WHERE account_id = $1 AND issue_id = $2`},
		{path: "/sourcemap/list", body: millis, id: "version", orders: []string{"created_at", "updated_at"},
			add: func(w world, tx *db.Tx, r walkedRow) error {
				return exec(tx, `INSERT INTO source_map (account_id, map_id, kind, service, version, minified_url, url_folded, path, size, stored, git_repository_url,
					git_commit_sha, cli_version, project_path, created_at, updated_at, ends_at, text)
					VALUES ($1, $2, 'browser', 's', $2, '/a.js', '/a.js', '/a.js', 1, 1, '', '', '', '', $3, $4, 9999999999, '')`,
					w.account, r.text(), at(r, "created_at"), at(r, "updated_at"))
			}, remove: `DELETE FROM source_map WHERE account_id = $1 AND map_id = $2`},
		{path: "/change/list", body: window, id: "change_id",
			add: func(w world, tx *db.Tx, r walkedRow) error {
				return exec(tx, `INSERT INTO change (account_id, change_id, integration_id, channel_id, change_key, start_time, last_time, body)
					VALUES ($1, $2, 0, 0, $2, $3, $3, $4)`, w.account, r.text(), at(r, ""), fmt.Sprintf(`{"change_id":%q,"start_time":%d}`, r.text(), at(r, "")))
			}, remove: `DELETE FROM change WHERE account_id = $1 AND change_id = $2`},
		{path: "/alert/feed", body: `"alert_id":"` + parent + `"`, id: "feed_id", byNumber: true,
			add: func(w world, tx *db.Tx, r walkedRow) error {
				return exec(tx, `INSERT INTO feed (account_id, ref_id, feed_id, created_at, type, person_id, detail) VALUES ($1, '`+parent+`', $2, 1, 'a_comm', 0, '{}')`, w.account, r.n)
			}, remove: `DELETE FROM feed WHERE ref_id = '` + parent + `' AND account_id = $1 AND feed_id = $2`},
		{path: "/alert/event/list", body: `"alert_id":"` + parent + `"`, id: "event_id",
			add: func(w world, tx *db.Tx, r walkedRow) error {
				return exec(tx, `INSERT INTO verdict (account_id, verdict_id, decided_at, event_id, channel_id, outcome, alert_id, incident_id, integration_id, event_time, severity, body, trace)
					VALUES ($1, $2, 1, $3, 0, 'opened', '`+parent+`', '', 0, 1, 'Critical', '{}', '[]')`, w.account, r.n, r.text())
			}, remove: `DELETE FROM verdict WHERE account_id = $1 AND event_id = $2`},
		{path: "/incident/alert/list", body: `"incident_id":"$incident"`, id: "alert_id", oneWay: "up",
			add: func(w world, tx *db.Tx, r walkedRow) error {
				return addAlert(tx, w.account, r.text(), w.names["incident"], at(r, ""))
			},
			remove: `DELETE FROM alert WHERE account_id = $1 AND alert_id = $2`},
	}
}

// nameOf returns a name of a row: many rows have equal ones but for case.
func nameOf(r walkedRow) string {
	return strings.Repeat("ab"[r.keys["name"]%2:][:1], int(1+r.keys["name"]/2)) + []string{"", "É"}[r.n%2]
}

func addAlert(tx *db.Tx, account int64, id, incident string, at int64) error {
	_, err := tx.Exec(`INSERT INTO alert (account_id, alert_id, channel_id, incident_id, integration_id, integration_name, integration_type, integration_ref_id, alert_key, title, title_rule, description,
		alert_severity, alert_status, start_time, last_time, end_time, event_cnt, ever_muted, responder_name, responder_email, labels, images, created_at, updated_at, deleted_at)
		VALUES ($1, $2, 0, $3, 0, '', '', '', 'k', 't', '', '', 'Critical', 'Critical', $4, $4, 0, 1, FALSE, '', '', '{}', '[]', $4, $4, 0)`, account, id, incident, at)
	return err
}

// TestCursorShowsEachRowThatStaysOnce walks each list by its cursor while rows are added and deleted: rows that stay are
// shown once, and the others at most once.
func TestCursorShowsEachRowThatStaysOnce(t *testing.T) {
	t.Parallel()
	const seed = 6
	rng := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t)
	w.names["incident"] = w.must(w.keys[0], "/incident/create", `{"incident_severity":"Critical","title":"i","channel_id":`+w.names["public"]+`}`, "incident_id")
	w.write(func(tx *db.Tx) error { return addAlert(tx, w.account, "cccc00000000000000000001", "", walkedSince) })
	next := int64(1_000_000)
	for _, l := range walkedLists() {
		if l.orders == nil {
			l.orders = []string{""}
		}
		for _, by := range l.orders {
			for _, up := range []bool{false, true} {
				if l.oneWay == "" || up == (l.oneWay == "up") {
					next += 1000
					w.walkList(rng, l, by, up, next)
				}
			}
		}
	}
}

// walkList walks one list in one order. Rows are numbered from base on.
func (w world) walkList(rng *rand.Rand, l walked, by string, up bool, base int64) {
	w.t.Helper()
	rows, seen := map[string]walkedRow{}, map[string]int{}
	there := []string{}
	add := func() {
		r := walkedRow{n: base + rng.Int64N(1000), keys: map[string]int64{}}
		for _, key := range []string{"", "name", "created_at", "updated_at", "session_count", "error_count"} {
			r.keys[key] = rng.Int64N(6)
		}
		id := l.idOf(r)
		if _, taken := rows[id]; taken {
			return
		}
		rows[id], there = r, append(there, id)
		w.write(func(tx *db.Tx) error { return l.add(w, tx, r) })
	}
	remove := func() string {
		i := rng.IntN(len(there))
		id := there[i]
		there = append(there[:i], there[i+1:]...)
		var named any = id
		if l.byNumber {
			named = rows[id].n
		}
		w.exec(l.remove, w.account, named)
		return id
	}
	for range 20 {
		add()
	}
	stay := map[string]bool{}
	for _, id := range there {
		stay[id] = true
	}
	body := []string{}
	for _, part := range []string{fill(l.body, w.names), map[bool]string{true: `"orderby":"` + by + `"`}[by != ""], map[bool]string{true: `"asc":` + fmt.Sprint(up)}[l.oneWay == ""]} {
		if part != "" {
			body = append(body, part)
		}
	}
	where := fmt.Sprintf("%s {%s}", l.path, strings.Join(body, ","))
	cursor := ""
	for page := 0; ; page++ {
		data, code := w.data(w.keys[0], l.path, "{"+strings.Join(append(body, fmt.Sprintf(`"limit":%d,"search_after_ctx":%q`, 1+rng.IntN(6), cursor)), ",")+"}")
		if code != "" || page > 60 {
			w.t.Fatalf("%s: page %d: %s %v", where, page, code, data)
		}
		for _, item := range data["items"].([]any) {
			id := fmt.Sprint(item.(map[string]any)[l.id])
			if _, ours := rows[id]; ours {
				seen[id]++
			}
		}
		cursor = data["search_after_ctx"].(string)
		if more := data["has_next_page"].(bool); more != (cursor != "") {
			w.t.Fatalf("%s: has_next_page %v with the cursor %q", where, more, cursor)
		}
		if cursor == "" {
			break
		}
		if len(rows) < 40 {
			add()
		}
		if rng.IntN(2) == 0 && len(there) > 0 {
			delete(stay, remove())
		}
	}
	for id := range stay {
		if seen[id] != 1 {
			w.t.Errorf("%s: row %s stayed and was shown %d times", where, id, seen[id])
		}
	}
	for id, n := range seen {
		if n > 1 {
			w.t.Errorf("%s: row %s was shown %d times", where, id, n)
		}
	}
	for len(there) > 0 {
		remove()
	}
}
