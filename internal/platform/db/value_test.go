package db

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

type (
	number int
	word   string
	flag   bool
)

func TestValuesComeBackAsTheyWent(t *testing.T) {
	inTx(t, func(tx *Tx) {
		text, none := "there", (*string)(nil)
		_, err := tx.Exec(`INSERT INTO v (a, b, c, d, e, f, g, h) VALUES ($8, $7, $6, $5, $4, $3, $2, $1)`,
			number(7), word("wörd"), flag(true), none, &text, []byte{0, 255}, "\x00 and Ω", int64(math.MinInt64))
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
		if _, found, err := One(tx, func(scan Scan) (struct{}, error) {
			return struct{}{}, scan(&a, &b, &c, &d, &e, &f, &g, &h)
		}, `SELECT a, b, c, d, e, f, g, h FROM v`); err != nil || !found {
			t.Fatal(found, err)
		}
		if a != math.MinInt64 || b != "\x00 and Ω" || string(c) != "\x00\xff" || d == nil || *d != "there" || e != nil || !f || g != "wörd" || h != 7 {
			t.Error(a, b, c, d, e, f, g, h)
		}
	})
}

func TestValuesThatDoNotFitAreRefused(t *testing.T) {
	inTx(t, func(tx *Tx) {
		for name, c := range map[string]struct {
			err  error
			want string
		}{
			"NULL into a text":       {one[string](tx, `SELECT NULL`), "NULL"},
			"a text into a number":   {one[int64](tx, `SELECT 'x'`), "INTEGER"},
			"a number into a text":   {one[string](tx, `SELECT 1`), "TEXT"},
			"two columns for one":    {one[int64](tx, `SELECT 1, 2`), "2 columns"},
			"a type of no column":    {one[struct{}](tx, `SELECT 1`), "no column holds"},
			"too few arguments":      {one[int64](tx, `SELECT $2 + $1`, 1), "want $2"},
			"an unsigned argument":   {one[int64](tx, `SELECT $1`, uint64(1)), "uint64"},
			"an unnumbered one":      {one[int64](tx, `SELECT ?`, 1), "must be $1"},
			"a statement that fails": {one[int64](tx, `SELECT nothing`), "nothing"},
		} {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, c.err, c.want)
			}
		}
		if err := one[int64](tx, `SELECT 1`); err != nil {
			t.Errorf("after all these: %v", err)
		}
	})
}

func one[T any](tx *Tx, query string, args ...any) error {
	_, _, err := One(tx, Column[T], query, args...)
	return err
}

func inTx(t *testing.T, fn func(tx *Tx)) {
	t.Helper()
	d, err := Open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "t.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Write(context.Background(), func(tx *Tx) error {
		_, err := tx.Exec(`CREATE TABLE v (a BIGINT, b TEXT, c BLOB, d TEXT, e TEXT, f BOOLEAN, g TEXT, h BIGINT)`)
		if err == nil {
			fn(tx)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
