package role_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pressly/goose/v3"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/migrations"
	"tocsin/internal/role"
)

// TestExistingAccountsGetPresets migrates an account of an earlier version: it has the roles of a new one, and those that it had stay.
func TestExistingAccountsGetPresets(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "old.db")
	h, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	p, err := goose.NewProvider(goose.DialectSQLite3, h, migrations.Files)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 156); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (1, 'a', 'UTC', 2, 0), (4, 'b', 'UTC', 2, 0)`,
		`INSERT INTO role (account_id, role_id, role_name, permissions) VALUES (1, 3, 'Viewer', '["Audit Read (org)"]')`,
		`INSERT INTO person_role (account_id, person_id, role_id) VALUES (1, 2, 9)`, // a role that was deleted
	} {
		if _, err := h.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	d, err := db.Connect(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	read := func(account int64) (all []role.Record) {
		if err := d.Write(t.Context(), func(tx *db.Tx) error { all, err = role.Dump(tx, account); return err }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	compare := func(got, want []role.Record, first int64) {
		for i := range want {
			want[i].RoleID = first + int64(i)
		}
		if !slices.EqualFunc(got, want, func(a, b role.Record) bool {
			return a.RoleID == b.RoleID && a.RoleName == b.RoleName && a.Description == b.Description && slices.Equal(a.Permissions, b.Permissions)
		}) {
			t.Errorf("the account has %v, want %v", got, want)
		}
	}
	compare(read(4), role.Presets(), 1)
	old := read(1)
	compare(old[:1], []role.Record{{RoleName: "Viewer", Permissions: []string{"Audit Read (org)"}}}, 3)
	compare(old[1:], role.Presets()[:3], 10)
}

// TestViewerRunsNoQueries holds that the role lacks the permission with which any query can be run.
func TestViewerRunsNoQueries(t *testing.T) {
	t.Parallel()
	viewer := role.Presets()[3]
	if slices.Contains(viewer.Permissions, "Datasources Read (monit)") || !slices.Contains(viewer.Permissions, "Incidents Read (on-call)") {
		t.Errorf("Viewer has %q", viewer.Permissions)
	}
}
