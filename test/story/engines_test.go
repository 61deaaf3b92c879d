package story

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/accountfile"
	"tocsin/internal/api/apitest"
	"tocsin/internal/app"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// Random calls, events and steps of the clock have equal results on the embedded engine and on PostgreSQL. Account file,
// verdicts, feeds, escalations and notifications are the same, but for the ids. TOCSIN_ENGINE_SEEDS sets how many runs the
// test makes.
func TestEnginesAgree(t *testing.T) {
	if dbtest.Server == "" {
		t.Skip("needs PostgreSQL: ./test.sh rest")
	}
	t.Parallel()
	for seed := range uint64(apitest.Setting(t, "TOCSIN_ENGINE_SEEDS", 1)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			var worlds [2]*world
			var random [2]*rand.Rand
			for i, dsn := range []string{"sqlite:" + filepath.Join(t.TempDir(), "tocsin.db"), dbtest.Migrated(t)} {
				worlds[i] = beginOn(t, dsn, func(*app.Config) {}, escalates(layer(onCall(day), again(2, 3), window(10))+","+layer(onCall(night), window(5)), `"aggr_window": 20`, `"repeat": {"times": 2, "interval": 5}`),
					grouped(byService+`, "time_window": 30, "storm_thresholds": [3]`), rules("inhibit_rules", inhibit))
				random[i] = rand.New(rand.NewPCG(seed, 23))
			}
			same := renamed{}
			for step := range 200 {
				var did [2]string
				for i, w := range worlds {
					did[i] = w.chance(random[i])
					w.settle()
				}
				if did[0] != did[1] {
					t.Fatalf("step %d: %s on one engine, %s on the other", step, did[0], did[1])
				}
				if step%20 != 19 {
					continue
				}
				if a, b := worlds[0].left(), worlds[1].left(); !same.is(a, b) {
					t.Fatalf("after step %d, %s:\n%s", step, did[0], same.difference)
				}
			}
			if n := worlds[0].count(`SELECT count(*) FROM notice`); n < 20 {
				t.Errorf("only %d notifications: the calls are too quiet", n)
			}
		})
	}
}

// left returns what the calls so far have left behind.
func (w *world) left() string {
	w.t.Helper()
	f, err := accountfile.Export(context.Background(), w.app.DB, w.app.Keyring, account, false)
	w.must(err)
	text, err := json.MarshalIndent(f, "", " ")
	w.must(err)
	all := []string{string(text)}
	for _, query := range []string{
		`SELECT 'verdict ' || (1000000 + verdict_id) || ' ' || event_id || ' ' || channel_id || ' ' || outcome || ' ' || alert_id || ' ' || incident_id || ' ' || trace FROM verdict ORDER BY verdict_id`,
		`SELECT 'feed ' || ref_id || ' ' || created_at || ' ' || type || ' ' || person_id || ' ' || detail FROM feed`,
		`SELECT 'escalation ' || incident_id || ' ' || run || ' ' || next_at || ' ' || ended FROM escalation`,
		`SELECT 'notice ' || incident_id || ' ' || event || ' ' || cause || ' ' || person_id || ' ' || way || ' ' || status || ' ' || attempts || ' ' || due_at || ' ' || created_at || ' ' || settled_at
			FROM notice`,
	} {
		w.must(w.app.DB.Read(context.Background(), func(tx *db.Tx) error {
			rows, err := db.All(tx, db.Column[string], query)
			for i := range rows {
				rows[i] = chance.ReplaceAllString(rows[i], "")
			}
			slices.Sort(rows) // messages of one moment are settled in any order; ids grow in the order of their making
			all = append(all, rows...)
			return err
		}))
	}
	return strings.Join(all, "\n")
}

// renamed compares texts whose ids differ: each id of one must stand where the same id of the other stood before.
type renamed struct {
	there      map[string]string
	back       map[string]string
	difference string
}

// chance matches what differs in each run: the ids of messages.
var chance = regexp.MustCompile(`"rid":"[0-9a-f]+",|<[0-9a-f]{32}@`)

var (
	words = regexp.MustCompile(`[0-9A-Za-z]+|[^0-9A-Za-z]+`)
	ids   = regexp.MustCompile(`^([0-9a-f]{24}|[0-9]{13,16}|[0-9A-Z]{26})$`)
)

// is reports whether two texts are the same but for ids.
func (r *renamed) is(a, b string) bool {
	if r.there == nil {
		r.there, r.back = map[string]string{}, map[string]string{}
	}
	one, other := strings.Split(a, "\n"), strings.Split(b, "\n")
	for n := range max(len(one), len(other)) {
		if n >= len(one) || n >= len(other) || !r.line(one[n], other[n]) {
			r.difference = fmt.Sprintf("line %d of %d and %d\n%s\n%s", n, len(one), len(other), around(one, n), around(other, n))
			return false
		}
	}
	return true
}

// around returns a line with those before it.
func around(lines []string, n int) string {
	return strings.Join(lines[min(max(0, n-3), len(lines)):min(n+1, len(lines))], "\n")
}

func (r *renamed) line(a, b string) bool {
	one, other := words.FindAllString(a, -1), words.FindAllString(b, -1)
	if len(one) != len(other) {
		return false
	}
	for i, x := range one {
		y := other[i]
		switch {
		case x == y && r.there[x] == "" && r.back[y] == "", r.there[x] == y && r.back[y] == x:
		case ids.MatchString(x) && ids.MatchString(y) && len(x) == len(y) && r.there[x] == "" && r.back[y] == "":
			r.there[x], r.back[y] = y, x
		default:
			return false
		}
	}
	return true
}
