package accountfile_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/datasource"
	"tocsin/internal/person"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/fault"
	"tocsin/internal/role"
	"tocsin/internal/team"
)

const account = 2451002751131

// TestFullFile: an export of a file that a person wrote has every value, and an export that is imported and exported
// again is the same, byte for byte.
func TestFullFile(t *testing.T) {
	h := newInstallation(t)
	if err := h.load(read(t, byHand(t)), false); err != nil {
		t.Fatal(err)
	}
	apitest.Golden(t, "bluewhale", []byte(strings.TrimSpace(h.export(t, account, true))))
	differ(t, "the export", h.export(t, account, true), full(t))

	elsewhere := newInstallation(t)
	if err := elsewhere.load(read(t, h.export(t, account, true)), false); err != nil {
		t.Fatal(err)
	}
	differ(t, "the export from elsewhere", elsewhere.export(t, account, true), full(t))
	keys := auth.NewKeys(elsewhere.db, clock.At(apitest.Now))
	if who, err := keys.Find(context.Background(), "bluewhale-deploy-pipeline-key-0001"); err != nil || who.PersonName != "王小明" || !who.Owner {
		t.Errorf("an exported key does not work elsewhere: %+v, %v", who, err)
	}
}

// TestExportWithoutSecrets: the export has no secret, keeps the names of those left out, and can be imported.
func TestExportWithoutSecrets(t *testing.T) {
	h := newInstallation(t)
	if err := h.load(read(t, full(t)), false); err != nil {
		t.Fatal(err)
	}
	plain := h.export(t, account, false)
	for _, secret := range []string{"correct horse", "tenant-1", "dedup=true", "VnVhQ2ZHY0JDZGJrU", "xyz", "s3cr3t", "hooks.slack.com", "9c0d8a6f", "key_hash", "deploy pipeline"} {
		if !strings.Contains(full(t), secret) || strings.Contains(plain, secret) {
			t.Errorf("%q", secret)
		}
	}
	for _, kept := range []string{"${env:ORDERS_PASSWORD}", "${env:FEISHU_TOKEN}", "Authorization: ${env:PROMETHEUS_TOKEN}", "X-Scope-OrgID: ", "dedup=", "值班群", `"app_keys": []`} {
		if !strings.Contains(plain, kept) {
			t.Errorf("%q is missing", kept)
		}
	}
	elsewhere := newInstallation(t)
	if err := elsewhere.load(read(t, plain), false); err != nil {
		t.Fatal(err)
	}
	differ(t, "the export from elsewhere", elsewhere.export(t, account, false), plain)
	differ(t, "its export with secrets", elsewhere.export(t, account, true), plain)
}

// TestImportByHand imports the smallest file that a person writes: documented shapes, keys as secrets.
func TestImportByHand(t *testing.T) {
	h := newInstallation(t)
	f := read(t, `{
		"format": "tocsin.account/1",
		"account": {"account_id": 7, "account_name": "Acme", "time_zone": "UTC", "owner_id": 1},
		"roles": [{"role_id": 1, "role_name": "Reader", "permissions": ["Schedules Read (on-call)"]}],
		"persons": [{"person_id": 1}, {"person_id": 2, "role_ids": [1]}],
		"app_keys": [{"name": "ci", "person_id": 1, "app_key": "at-least-32-characters-of-secret...", "permissions": null},
			{"name": "narrow", "person_id": 2, "app_key": "another-32-characters-of-secret....", "permissions": ["Schedules Manage (on-call)", "Schedules Read (on-call)"]}]}`)
	if err := h.load(f, false); err != nil {
		t.Fatal(err)
	}
	keys := auth.NewKeys(h.db, clock.At(apitest.Now))
	for secret, want := range map[string][]string{
		"at-least-32-characters-of-secret...": auth.Names(auth.All),
		"another-32-characters-of-secret....": {"Schedules Read (on-call)"}, // never more than its person
	} {
		who, err := keys.Find(context.Background(), secret)
		if err != nil || who.AccountID != 7 || !slices.Equal(auth.Names(who.Permissions), want) {
			t.Errorf("%v, %+v", err, who)
		}
	}
	if text := h.export(t, 7, true); strings.Contains(text, "of-secret") || strings.Count(text, "key_hash") != 2 {
		t.Error(text)
	}
}

// TestDocumentedExample: the example of docs/account-file.md can be imported.
func TestDocumentedExample(t *testing.T) {
	_, rest, _ := strings.Cut(content(t, "../../docs/account-file.md"), "```json\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page has no example")
	}
	h := newInstallation(t)
	if err := h.load(read(t, example), false); err != nil {
		t.Fatal(err)
	}
	once := h.export(t, account, true)
	if err := h.load(read(t, once), true); err != nil {
		t.Fatal(err)
	}
	differ(t, "the export", h.export(t, account, true), once)
}

func TestImportReplaces(t *testing.T) {
	h := newInstallation(t)
	other := strings.ReplaceAll(full(t), "2451002751131", "2451002751132")
	other = regexp.MustCompile(`(?s)"app_keys": \[.*?\n  \],`).ReplaceAllString(other, `"app_keys": [],`) // a key belongs to one account
	for _, document := range []string{full(t), other} {
		if err := h.load(read(t, document), false); err != nil {
			t.Fatal(err)
		}
	}
	err := h.load(read(t, full(t)), false)
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "account 2451002751131 exists already") {
		t.Errorf("%v", err)
	}
	smaller := read(t, full(t))
	smaller.Account.AccountName = "Renamed"
	smaller.Datasources = nil
	smaller.Schedules = smaller.Schedules[:1]
	if err := h.load(smaller, true); err != nil {
		t.Fatal(err)
	}
	differ(t, "the replaced account", h.export(t, account, true), text(t, smaller))
	differ(t, "the other account", h.export(t, account+1, true), other)
	fresh := newInstallation(t)
	if err := fresh.load(smaller, true); err != nil {
		t.Errorf("replacing an account that is not there: %v", err)
	}
}

func TestExportOfUnknownAccount(t *testing.T) {
	h := newInstallation(t)
	if _, err := accountfile.Export(context.Background(), h.db, h.keyring, 5, true); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "account 5") {
		t.Errorf("%v", err)
	}
}

func TestCancelled(t *testing.T) {
	h := newInstallation(t)
	if err := h.load(read(t, full(t)), false); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := accountfile.Import(ctx, h.db, h.keyring, read(t, full(t)), apitest.Now, true); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := accountfile.Export(ctx, h.db, h.keyring, account, false); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestImportRefuses: a broken file changes nothing, not even with replace, and the error names the path.
func TestImportRefuses(t *testing.T) {
	h := newInstallation(t)
	if err := h.load(read(t, full(t)), false); err != nil {
		t.Fatal(err)
	}
	before := h.tables(t)
	for _, c := range []struct{ old, new, says string }{
		{`"owner_id": 2476123212131`, `"owner_id": 5`, "account.owner_id: names person 5, who is not in the file"},
		{`"time_zone": "Asia/Shanghai",
    "owner_id"`, `"time_zone": "Asia/Atlantis",
    "owner_id"`, `account.time_zone: must be the IANA name of a time zone such as Asia/Shanghai, got "Asia/Atlantis"`},
		{`"account_name": "蓝鲸支付 Bluewhale Payments"`, `"account_name": ""`, "account.account_name"},
		{`"role_name": "Visitor"`, `"role_name": ""`, "roles[2].role_name"},
		{`"Audit Read (org)"`, `"Audit Everything"`, "roles[3].permissions[0]"},
		{`"team_id": 4291079133132,
      "team_name"`, `"team_id": 4291079133131,
      "team_name"`, "teams[1].team_id: 4291079133131 is given twice"},
		{`"status": "pending"`, `"status": "lost"`, "persons[3].status"},
		{`"role_ids": [
        3
      ]`, `"role_ids": [3, 44]`, "persons[3].role_ids[1]: names role 44, which is not in the file"},
		{`"person_id": 3122470302131,
      "key_hash"`, `"person_id": 3,
      "key_hash"`, "app_keys[2].person_id: names person 3, who is not in the file"},
		{`"key_hash": "0000`, `"key_hash": "X000`, "app_keys[1].key_hash"},
		{`"rotation_value": 2`, `"rotation_value": 31`, "schedules[0].layers[1].rotation_value"},
		{`"start": "08:00"`, `"start": "8:00"`, "schedules[0].notify.fixed_time.start"},
		{`"channel_name": "Fraud"`, `"channel_name": ""`, "channels[1].channel_name"},
		{`"vals": [
              "/outage/"`, `"vals": [
              "/outage(/"`, "silence_rules[1].filters[1][0].vals[0]"},
		{`"rule_name": "心跳 heartbeats"`, `"rule_name": ""`, "drop_rules[0].rule_name"},
		{`"alert_status": "Ok"`, `"alert_status": "ok"`, "alerts[1].alert_status"},
		{`"removed_at": 1775000400`, `"removed_at": 1`, "incidents[0].assignments[0].removed_at"},
		{`"address": "[2001:db8::7]:3306"`, `"address": "2001:db8::7:3306"`, "datasources[1].address"},
		{`"type": "browser"`, `"type": "fridge"`, "rum_applications[0].type"},
		{`"issue_id": "VrAz5DKdTs6wJqLpu24Lz3"`, `"issue_id": ""`, "rum_issues[0].issue_id"},
		{`"event_id": "20260401zzzz`, `"event_id": "20260401mGsx`, "webhook_deliveries[1].event_id"},
	} {
		document := full(t)
		if !strings.Contains(document, c.old) {
			t.Fatalf("the file has no %s", c.old)
		}
		f := read(t, strings.Replace(document, c.old, c.new, 1))
		err := h.load(f, true)
		if err == nil || !strings.Contains(err.Error(), c.says) || fault.KindOf(err) != fault.InvalidParameter {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
	differ(t, "the database", h.tables(t), before)
}

// tables returns every row of every table.
func (h installation) tables(t testing.TB) string {
	t.Helper()
	var all strings.Builder
	err := h.db.Snapshot(context.Background(), func(tx *db.Tx) error {
		names, err := dbtest.Tables(tx)
		if err != nil {
			return err
		}
		for _, name := range names {
			columns, err := dbtest.Columns(tx, name)
			if err != nil {
				return err
			}
			row := make([]string, len(columns))
			for i, c := range columns {
				row[i] = `coalesce(CAST("` + c.Name + `" AS TEXT), 'NULL')`
			}
			rows, err := db.All(tx, db.Column[string], `SELECT `+strings.Join(row, ` || ' ' || `)+` FROM "`+name+`" ORDER BY 1`)
			if err != nil {
				return err
			}
			fmt.Fprintf(&all, "%s\n%s\n", name, strings.Join(rows, "\n"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestRandomFiles: any subset of the full file, with any number of random persons, teams, roles, keys and datasources
// in any order, is exported in the one canonical order.
func TestRandomFiles(t *testing.T) {
	const seed = 17
	rnd := rand.New(rand.NewPCG(seed, seed))
	h := newInstallation(t)
	for round := range 10 {
		f := random(t, rnd)
		want := text(t, f)
		shuffle(rnd, f.Roles)
		shuffle(rnd, f.Teams)
		shuffle(rnd, f.Persons)
		shuffle(rnd, f.AppKeys)
		shuffle(rnd, f.Schedules)
		shuffle(rnd, f.Channels)
		shuffle(rnd, f.SilenceRules)
		shuffle(rnd, f.Alerts)
		shuffle(rnd, f.Incidents)
		shuffle(rnd, f.Datasources)
		shuffle(rnd, f.Deliveries)
		if err := h.load(f, true); err != nil {
			t.Fatalf("seed %d, round %d: %v in\n%s", seed, round, err, want)
		}
		differ(t, fmt.Sprintf("seed %d, round %d: the export", seed, round), h.export(t, account, true), want)
	}
}

func shuffle[T any](rnd *rand.Rand, list []T) {
	rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// some returns a random subset of the list.
func some[T any](rnd *rand.Rand, list []T) []T {
	return slices.DeleteFunc(list, func(T) bool { return rnd.IntN(3) == 0 })
}

func random(t testing.TB, rnd *rand.Rand) *accountfile.File {
	f := read(t, full(t))
	f.Account.TimeZone = []string{"UTC", "America/St_Johns", "Pacific/Chatham"}[rnd.IntN(3)]
	zone, err := time.LoadLocation(f.Account.TimeZone)
	if err != nil {
		t.Fatal(err)
	}
	f.Account.OwnerID = f.Persons[rnd.IntN(len(f.Persons))].PersonID
	f.Teams = some(rnd, f.Teams)
	f.AppKeys = some(rnd, f.AppKeys)
	f.Schedules = some(rnd, f.Schedules)
	f.SilenceRules = some(rnd, f.SilenceRules)
	f.DropRules = some(rnd, f.DropRules)
	f.Alerts[0].Incident = nil
	f.Alerts = some(rnd, f.Alerts)
	f.Incidents = some(rnd, f.Incidents)
	f.Datasources = some(rnd, f.Datasources)
	f.Applications = some(rnd, f.Applications)
	f.Issues = some(rnd, f.Issues)
	f.Deliveries = some(rnd, f.Deliveries)
	for i := range f.Deliveries {
		f.Deliveries[i].EventTime = f.Deliveries[i].EventTime.In(zone)
	}
	for i := range rnd.Int64N(5) {
		p := person.Record{Item: person.Item{AccountID: account, PersonID: 4e12 + i, PersonName: strings.Repeat("ß", rnd.IntN(9)), EmailVerified: i%2 == 0}}
		for _, r := range f.Roles {
			if rnd.IntN(2) == 0 {
				p.RoleIDs = append(p.RoleIDs, r.RoleID)
			}
		}
		slices.Sort(p.RoleIDs)
		f.Persons = slices.Insert(f.Persons, len(f.Persons)-1, p)
		f.Teams = append(f.Teams, team.Record{TeamID: 1<<63 - 1 - 10 + i, TeamName: "T", PersonIDs: []int64{p.PersonID, 1}})
		f.Roles = slices.Insert(f.Roles, 0, role.Record{RoleID: 10 + i, RoleName: "R", Permissions: []string{}})
		f.AppKeys = slices.Insert(f.AppKeys, 0, auth.KeyRecord{KeyID: 1 + i, PersonID: p.PersonID, KeyHash: fmt.Sprintf("%064x", rnd.Uint64()), Status: "enabled", CreatedAt: 1})
		f.Datasources = append(f.Datasources, datasource.Record{Item: datasource.Item{ID: 1<<63 - 2 + uint64(i), AccountID: account, TypeIdent: "loki", Name: "L", Address: "http://l",
			EdgeClusterName: "e", Payload: &datasource.Payload{Loki: &datasource.HTTP{Headers: []string{"A: " + strings.Repeat("b", rnd.IntN(3))}}}}})
	}
	slices.SortFunc(f.Teams, func(a, b team.Record) int { return cmp.Compare(a.TeamID, b.TeamID) })
	slices.SortFunc(f.Roles, func(a, b role.Record) int { return cmp.Compare(a.RoleID, b.RoleID) })
	slices.SortFunc(f.AppKeys, func(a, b auth.KeyRecord) int { return cmp.Compare(a.KeyID, b.KeyID) })
	slices.SortFunc(f.Datasources, func(a, b datasource.Record) int { return cmp.Compare(a.ID, b.ID) })
	return f
}

// TestMutatedFiles changes one or two bytes anywhere: the file is rejected as a whole or imported as a whole.
func TestMutatedFiles(t *testing.T) {
	const seed = 23
	rnd := rand.New(rand.NewPCG(seed, seed))
	h := newInstallation(t)
	if err := h.load(read(t, full(t)), false); err != nil {
		t.Fatal(err)
	}
	imported, before := 0, h.tables(t)
	for round := range 100 {
		document := []byte(full(t))
		for range 1 + rnd.IntN(2) {
			document[rnd.IntN(len(document))] = "0123456789-.eE\"{}[],: aZ\\"[rnd.IntN(25)]
		}
		f, err := accountfile.Read(strings.NewReader(string(document)))
		if err != nil {
			continue
		}
		if err := h.load(f, true); err != nil {
			if fault.KindOf(err) != fault.InvalidParameter {
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
			differ(t, fmt.Sprintf("seed %d, round %d: the database after %v", seed, round, err), h.tables(t), before)
			continue
		}
		imported++
		once := h.export(t, f.Account.AccountID, true)
		if err := h.load(read(t, once), true); err != nil {
			t.Fatalf("seed %d, round %d: %v in an export", seed, round, err)
		}
		differ(t, fmt.Sprintf("seed %d, round %d: the export", seed, round), h.export(t, f.Account.AccountID, true), once)
		if f.Account.AccountID != account { // it holds the keys that the next file has too
			if err := h.db.Write(context.Background(), func(tx *db.Tx) error {
				_, err := tx.Exec(`DELETE FROM account WHERE account_id = $1`, f.Account.AccountID)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		before = h.tables(t)
	}
	if imported < 3 {
		t.Errorf("only %d of 100 were imported", imported)
	}
}
