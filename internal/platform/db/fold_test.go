package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/platform/db"
)

// folded is as the package of incidents describes the feed, of alerts alone.
var folded = []db.Folded{{Table: "feed", Of: []db.Subject{{Table: "alert", Key: "alert_id"}}}}

// alert stores an alert that began at a time, with a feed of two entries, and returns its id.
func (p parts) alert(account int64, at time.Time, number int) string {
	p.Helper()
	id := fmt.Sprintf("%08x%016x", at.Unix(), number)
	write(p.T, p.DB, `INSERT INTO alert (account_id, alert_id, channel_id, incident_id, integration_id, integration_name, integration_type, integration_ref_id,
		alert_key, title, title_rule, description, alert_severity, alert_status, start_time, last_time, end_time, event_cnt, ever_muted, responder_name,
		responder_email, labels, images, created_at, updated_at, deleted_at) VALUES ($1, $2, 1, '', 0, '', '', '', 'k', 't', '', '', 'Info', 'Info', 1, 1, 0, 1,
		FALSE, '', '', '{}', '[]', 1, 1, 0)`, account, id)
	for n := int64(1); n <= 2; n++ {
		p.append(db.Rows{Table: "feed", Columns: []string{"account_id", "ref_id", "feed_id", "created_at", "type", "person_id", "detail"},
			Values: [][]any{{account, id, n, int64(1), "a_new", int64(0), "{}"}}})
	}
	return id
}

func (p parts) fold(before time.Time) []string {
	p.Helper()
	dropped, err := p.Fold(ctx, before, folded)
	if err != nil {
		p.Fatal(err)
	}
	return dropped
}

// goes reports whether a row is dropped with its part.
func (p parts) goes(before time.Time, id string) (goes bool) {
	p.Helper()
	going, err := p.Going(ctx, before, folded)
	if err != nil {
		p.Fatal(err)
	}
	if err := p.Write(ctx, func(tx *db.Tx) error {
		tx.Leave(going)
		goes = tx.GoesAnyway("feed", id)
		return nil
	}); err != nil {
		p.Fatal(err)
	}
	return goes
}

// feedIn returns in which parts the feed is.
func (p parts) feedIn() string {
	p.Helper()
	return strings.ReplaceAll(p.whereIs("feed"), "feed_", "")
}

// TestFoldKeepsWhatIsLeft: of old weeks only the rows of what is still there, and nothing of younger ones goes.
func TestFoldKeepsWhatIsLeft(t *testing.T) {
	t.Parallel()
	p := openParts(t)
	p.ahead(p.week(0))
	p.ahead(p.week(1))
	var gone, left []string
	for n := range 3 {
		for account := int64(1); account <= 2; account++ {
			left = append(left, p.alert(account, p.week(n-1).Add(time.Hour), 2*n))
			gone = append(gone, p.alert(account, p.week(n-1).Add(2*time.Hour), 2*n+1))
		}
	}
	young := p.alert(1, p.week(3), 9)
	middle := p.week(2).Add(time.Hour)
	if before := p.week(-1).Add(-time.Hour); p.goes(before, gone[0]) || len(p.fold(before)) != 0 {
		t.Error("rows of a part that ends later go")
	}
	for _, id := range gone {
		if !p.goes(middle, id) {
			t.Errorf("%s is not dropped with its part", id)
		}
		write(t, p.DB, `DELETE FROM alert WHERE alert_id = $1`, id)
	}
	if p.goes(middle, young) || !p.goes(middle.AddDate(0, 0, 7), young) {
		t.Error("the last entry does not go with its week")
	}
	want := []string{"feed_before", p.name("feed", 0), p.name("feed", 1)}
	if dropped := p.fold(middle); !slices.Equal(dropped, want) {
		t.Errorf("dropped %q, want %q", dropped, want)
	}
	until := "until_" + p.week(2).Format("20060102")
	if got := p.feedIn(); got != strings.TrimPrefix(p.name("feed", 3), "feed_")+" 2, "+until+" 12" {
		t.Errorf("the feed is in %s", got)
	}
	for _, id := range left {
		if n := p.count(`SELECT count(*) FROM feed WHERE ref_id = $1`, id); n == 0 {
			t.Errorf("%s lost its feed", id)
		}
	}
	if n := p.count(`SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname IN ($1, $2, $3)`, want[0], want[1], want[2]); n != 0 {
		t.Errorf("%d dropped parts are tables still", n)
	}
	if dropped := p.fold(middle.AddDate(0, 0, 1)); len(dropped) != 0 {
		t.Errorf("dropped %q once more", dropped)
	}
	if made := p.ahead(p.week(1)); len(made) != 0 {
		t.Errorf("made %q again", made)
	}
	write(t, p.DB, `DELETE FROM alert WHERE alert_id <> $1`, young)
	p.alert(2, p.week(-9), 11) // of an account that moves here
	if dropped := p.fold(p.week(3)); !slices.Equal(dropped, []string{"feed_" + until, p.name("feed", 2)}) {
		t.Errorf("dropped %q", dropped)
	}
	if n := p.count(`SELECT count(*) FROM feed`); n != 4 {
		t.Errorf("%d entries are left, want those of two alerts", n)
	}
}

// TestFoldTakesRowsOfNoPart: of weeks in which no part was made.
func TestFoldTakesRowsOfNoPart(t *testing.T) {
	t.Parallel()
	p := openParts(t)
	p.alert(1, p.week(1), 1)
	p.ahead(p.week(2).Add(-time.Hour))
	p.alert(1, p.week(0), 2)
	if got := p.feedIn(); !strings.HasPrefix(got, strings.TrimPrefix(p.name("feed", 1), "feed_")+" 2, default 2") {
		t.Errorf("the feed is in %s", got)
	}
	p.fold(p.week(2))
	if got := p.feedIn(); got != "until_"+p.week(2).Format("20060102")+" 4" {
		t.Errorf("the feed is in %s", got)
	}
}

// TestWritesGoOnWhilePartsAreFolded: of alerts that are left, and of new ones.
func TestWritesGoOnWhilePartsAreFolded(t *testing.T) {
	t.Parallel()
	p := openParts(t)
	p.ahead(p.week(0))
	p.ahead(p.week(2))
	id := p.alert(1, p.week(0), 1)
	end, written := make(chan struct{}), make(chan int64, 1)
	go func() {
		for n := int64(3); ; n++ {
			select {
			case <-end:
				written <- n - 1
				return
			default:
			}
			if err := p.Append(ctx, db.Rows{Table: "feed", Columns: []string{"account_id", "ref_id", "feed_id", "created_at", "type", "person_id", "detail"},
				Values: [][]any{{int64(1), id, n, int64(1), "a_new", int64(0), "{}"}}}); err != nil {
				t.Error(err)
				written <- n - 1
				return
			}
		}
	}()
	for n := range 4 {
		if dropped, err := p.Fold(ctx, p.week(n+1), folded); err != nil || len(dropped) == 0 {
			t.Errorf("dropped %q: %v", dropped, err)
		}
	}
	close(end)
	if n := <-written; p.count(`SELECT count(*) FROM feed WHERE ref_id = $1`, id) != n || p.count(`SELECT max(feed_id) FROM feed`) != n {
		t.Errorf("%d entries are stored, %d were acknowledged", p.count(`SELECT count(*) FROM feed`), n)
	}
}

// TestTablesKeptForEverHaveFewParts: and get those of weeks when their retention is limited.
func TestTablesKeptForEverHaveFewParts(t *testing.T) {
	t.Parallel()
	p := openParts(t)
	p.ahead(p.week(-1))
	if made := p.ahead(p.week(0), "audit_log"); !slices.Contains(made, p.name("audit_log", 2)) {
		t.Errorf("made %q", made)
	}
	for n := 1; n < 52; n++ {
		for _, name := range p.ahead(p.week(n), "audit_log") {
			if strings.HasPrefix(name, "audit_log") && name != p.name("audit_log", 54) {
				t.Errorf("made %s in week %d", name, n)
			}
		}
	}
	if n := p.count(`SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('audit_log' AS regclass)`); n != 5 { // before, default, two weeks, a year
		t.Errorf("the audit log has %d parts", n)
	}
	if made := p.ahead(p.week(55)); !slices.Contains(made, p.name("audit_log", 56)) || !slices.Contains(made, p.name("audit_log", 57)) {
		t.Errorf("made %q", made)
	}
}
