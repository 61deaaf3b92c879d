package db

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"tocsin/internal/platform/db/migrations"
)

// orders are the migrations of earlier builds whose databases lack some with lower numbers than their last. Each pair of
// migrations that another build has in the wrong order is in one of them.
var orders = []struct {
	last  int64
	lacks []int64
}{
	{5, []int64{2, 3, 4}},
	{6, []int64{2}},
	{25, []int64{21}},
	{25, []int64{21, 22}},
	{25, []int64{21, 22, 23}},
	{34, []int64{29}},
	{36, []int64{35}},
	{46, []int64{40, 41, 44, 45}},
	{55, []int64{49, 50, 51, 52}},
	{71, []int64{57, 58, 59, 60, 63, 64, 66, 67, 68, 69, 70}},
	{74, []int64{57, 58, 59, 60, 64, 66, 67, 68, 69, 70}},
	{107, []int64{100, 104}},
	{116, []int64{104}},
	{116, []int64{104, 111, 113, 114}},
	{128, []int64{117, 122, 123}},
	{128, []int64{117, 122, 123, 124, 126}},
}

// TestDatabaseOfEachVersionGetsPresentSchema: the missing migrations of each earlier build can be applied behind its own. The
// schema is that of a new database but for the order of columns.
func TestDatabaseOfEachVersionGetsPresentSchema(t *testing.T) {
	t.Parallel()
	names := migrationNames(t)
	want := schemaAfter(t, names, 0, nil)
	for _, o := range orders {
		if got := schemaAfter(t, names, o.last, o.lacks); !slices.Equal(got, want) {
			t.Errorf("after %d without %v: %q, want %q", o.last, o.lacks, missing(got, want), missing(want, got))
		}
	}
}

// TestMigrateAppliesWhatEarlierBuildLacked: the same with a file, by the program.
func TestMigrateAppliesWhatEarlierBuildLacked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "old.db")
	d, err := Connect(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	lacked := []int64{40, 41, 44, 45}
	h, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	p, err := goose.NewProvider(goose.DialectSQLite3, h, migrations.Files, goose.WithExcludeVersions(lacked))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 46); err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{"incident_open", "incident_unfolded"} { // builds of that time had migrations without them
		if _, err := h.Exec("DROP INDEX " + index); err != nil {
			t.Fatal(err)
		}
	}
	applied, err := d.Migrate(context.Background())
	if err != nil || !strings.HasPrefix(fmt.Sprint(applied), "[{0040_") {
		t.Errorf("%v: applied %v", err, applied)
	}
}

func migrationNames(t *testing.T) (names []string) {
	t.Helper()
	files, err := migrations.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !f.IsDir() {
			names = append(names, f.Name())
		}
	}
	return names
}

// missing returns the members of a list that another one does not have.
func missing(in, list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(in, s) })
}

var upPart = regexp.MustCompile(`(?s)-- \+goose Up\n(.*?)(?:-- \+goose Down|$)`)

// schemaAfter applies the migrations up to last without the lacking migrations, then these and the others, and returns what the
// schema holds, sorted.
func schemaAfter(t *testing.T, names []string, last int64, lacks []int64) (schema []string) {
	t.Helper()
	c, err := sqlite.OpenConn(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	turn := func(name string) int {
		n, err := goose.NumericComponent(name)
		switch {
		case err != nil:
			t.Fatal(err)
		case n > last:
			return 2
		case slices.Contains(lacks, n):
			return 1
		}
		return 0
	}
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int { return turn(a) - turn(b) })
	for _, name := range sorted {
		text, err := migrations.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := sqlitex.ExecuteScript(c, string(upPart.FindSubmatch(text)[1])+"\nSELECT 1;", nil); err != nil {
			t.Fatalf("%s, after %d without %v: %v", name, last, lacks, err)
		}
	}
	err = sqlitex.ExecuteTransient(c, `SELECT m.type || ' ' || m.name || ' ' || coalesce(i.name || ' ' || i.type || ' ' || i."notnull" || ' '
		|| coalesce(i.dflt_value, '') || ' ' || i.pk, m.sql, '') FROM sqlite_schema m LEFT JOIN pragma_table_info(m.name) i ON m.type = 'table'
		ORDER BY 1`, &sqlitex.ExecOptions{ResultFunc: func(row *sqlite.Stmt) error {
		schema = append(schema, strings.Join(strings.Fields(row.ColumnText(0)), " "))
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
