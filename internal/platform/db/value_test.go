package db_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/platform/db"
)

type (
	number int
	word   string
	flag   bool
)

func TestValuesComeBackAsTheyWent(t *testing.T) {
	t.Parallel()
	inTx(t, func(tx *db.Tx) {
		text, none := "there", (*string)(nil)
		_, err := tx.Exec(`INSERT INTO v (a, b, c, d, e, f, g, h) VALUES ($8, $7, $6, $5, $4, $3, $2, $1)`,
			number(7), word("wörd"), flag(true), none, &text, "bytes", "Ω", int64(math.MinInt64))
		if err != nil {
			t.Fatal(err)
		}
		var a int64
		var b string
		var c []byte
		var d, e *string
		var f flag
		var g word
		var h number
		if _, found, err := db.One(tx, func(scan db.Scan) (struct{}, error) {
			return struct{}{}, scan(&a, &b, &c, &d, &e, &f, &g, &h)
		}, `SELECT a, b, c, d, e, f, g, h FROM v`); err != nil || !found {
			t.Fatal(found, err)
		}
		if a != math.MinInt64 || b != "Ω" || string(c) != "bytes" || d == nil || *d != "there" || e != nil || !f || g != "wörd" || h != 7 {
			t.Error(a, b, c, d, e, f, g, h)
		}
	})
}

// Texts are stored as every engine can store them, and found by what they were before.
func TestTextsThatNotEveryEngineStores(t *testing.T) {
	t.Parallel()
	inTx(t, func(tx *db.Tx) {
		for sent, want := range map[string]string{"a\x00b": "a\uFFFDb", "\xff": "\uFFFD", "a\xe4\xb8b\x00": "a\uFFFDb\uFFFD", "值班": "值班", "": ""} {
			if _, err := tx.Exec(`DELETE FROM v`); err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(`INSERT INTO v (b, c) VALUES ($1, $2)`, sent, word(sent)); err != nil {
				t.Fatal(err)
			}
			got, found, err := db.One(tx, db.Column[string], `SELECT b || '/' || c FROM v WHERE b = $1`, &sent)
			if err != nil || !found || got != want+"/"+want {
				t.Errorf("%q is stored as %q (%t, %v), want %q", sent, got, found, err, want)
			}
		}
	})
}

// What the engines do with the same values by themselves differs: case in LIKE, the order of texts, the type of a sum.
func TestEnginesAgree(t *testing.T) {
	t.Parallel()
	inTx(t, func(tx *db.Tx) {
		if _, err := tx.Exec(`INSERT INTO v (a, b, f) VALUES (1, 'a', TRUE), (2, 'B', FALSE), (3, 'é', TRUE), (4, '_', $1), (5, 'a b', FALSE), (-9007199254740993, 'Z', TRUE)`, true); err != nil {
			t.Fatal(err)
		}
		for query, want := range map[string][]string{
			`SELECT b FROM v ORDER BY b`:                                            {"B", "Z", "_", "a", "a b", "é"},
			`SELECT b FROM v WHERE b LIKE 'A%' ORDER BY b`:                          {},
			`SELECT b FROM v WHERE b LIKE 'a%' ORDER BY b`:                          {"a", "a b"},
			`SELECT b FROM v WHERE b LIKE '\_' ESCAPE '\' ORDER BY b`:               {"_"},
			`SELECT b FROM v WHERE ',1,3,' LIKE '%,' || a || ',%' ORDER BY b`:       {"a", "é"},
			`SELECT b FROM v WHERE f AND a > 0 ORDER BY a DESC`:                     {"_", "é", "a"},
			`SELECT CAST(sum(a) AS TEXT) FROM v`:                                    {"-9007199254740978"},
			`SELECT coalesce(max(b), '') FROM v WHERE b < 'a'`:                      {"_"},
			`SELECT CAST(7 / 2 AS TEXT) || CAST(-7 / 2 AS TEXT) || (-7 % 3)`:        {"3-3-1"},
			`SELECT b FROM v WHERE (a, b) > (3, 'a') AND a < 5 ORDER BY a`:          {"é", "_"},
			`SELECT coalesce(d, 'none') || substr('值班 x', 2, 2) FROM v WHERE a = 1`: {"none班 "},
		} {
			if got, err := db.All(tx, db.Column[string], query); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s: %q (%v), want %q", query, got, err, want)
			}
		}
		if sum, _, err := db.One(tx, db.Column[int64], `SELECT sum(a) FROM v`); err != nil || sum != -9007199254740978 {
			t.Errorf("a sum: %d, %v", sum, err)
		}
		if _, found, err := db.One(tx, db.Column[*int64], `SELECT sum(a) FROM v WHERE a = 77`); err != nil || !found {
			t.Errorf("a sum of nothing: %t, %v", found, err)
		}
	})
}

func TestValuesThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	inTx(t, func(tx *db.Tx) {
		for name, c := range map[string]struct {
			query func(*db.Tx, string, ...any) error
			text  string
			args  []any
			want  string
		}{
			"NULL into a text":       {one[string], `SELECT NULL`, nil, "NULL"},
			"a text into a number":   {one[int64], `SELECT 'x' AS x`, nil, "column x"},
			"a number into a text":   {one[string], `SELECT 1 AS x`, nil, "column x"},
			"two columns for one":    {one[int64], `SELECT 1, 2`, nil, "2 columns"},
			"a type of no column":    {one[struct{}], `SELECT 1`, nil, "read into a struct"},
			"too few arguments":      {one[int64], `SELECT $2 + $1`, []any{1}, "1 arguments, want"},
			"an unsigned argument":   {one[int64], `SELECT $1`, []any{uint64(1)}, "uint64"},
			"an unnumbered one":      {one[int64], `SELECT ?`, []any{1}, "SELECT ?"},
			"a statement that fails": {one[int64], `SELECT nothing`, nil, "nothing"},
		} {
			failed, err := tx.Try(func() error { return c.query(tx, c.text, c.args...) })
			if err != nil || failed == nil || !strings.Contains(failed.Error(), c.want) {
				t.Errorf("%s: %v, %v, want %q", name, failed, err, c.want)
			}
		}
		if err := one[int64](tx, `SELECT 1`); err != nil {
			t.Errorf("after all these: %v", err)
		}
	})
}

func one[T any](tx *db.Tx, query string, args ...any) error {
	_, _, err := db.One(tx, db.Column[T], query, args...)
	return err
}

func inTx(t *testing.T, fn func(tx *db.Tx)) {
	t.Helper()
	d := openNew(t)
	err := d.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(`CREATE TABLE v (a BIGINT, b TEXT, c TEXT, d TEXT, e TEXT, f BOOLEAN, g TEXT, h BIGINT)`)
		if err == nil {
			fn(tx)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
