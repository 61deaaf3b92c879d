package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"tocsin/internal/platform/db/dbtest"
)

// command runs a command and returns what it printed.
func command(args ...string) (code int, out, problem string) {
	var o, e bytes.Buffer
	code = Run(args, &o, &e)
	return code, o.String(), e.String()
}

// TestCommandsOnPostgreSQL: what needs the sealing keys asks for them and makes no file; what the embedded engine alone has
// names the tools of PostgreSQL; keys are made and used from the command line. No password is printed.
func TestCommandsOnPostgreSQL(t *testing.T) {
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	dsn := strings.Replace(dbtest.Migrated(t), "postgres://postgres@", "postgres://postgres:pa55word@", 1)
	code, key, problem := command("key", "new")
	if code != Done || len(strings.Fields(key)) != 2 {
		t.Fatal(code, key, problem)
	}
	for _, c := range []struct {
		args []string
		code int
		want string // of what is printed
	}{
		{[]string{"serve", "--db", dsn, "--listen", "127.0.0.1:0"}, Failed, "--seal-key-file"},
		{[]string{"key", "reseal", "--db", dsn}, Failed, "--seal-key-file"},
		{[]string{"key", "reseal", "--db", dsn, "--seal-key", key}, Done, "sealed 0 secrets"},
		{[]string{"key", "rotate", "--db", dsn, "--seal-key", key}, Failed, "tocsin key reseal"},
		{[]string{"backup", "--db", dsn, "--with-key", filepath.Join(dir, "backup")}, Failed, "pg_dump"},
		{[]string{"restore", "--db", dsn, filepath.Join(dir, "backup")}, Failed, "pg_dump"},
		{[]string{"release", "--db", dsn}, Done, "was not held"},
		{[]string{"migrate", "--db", dsn}, Done, "up to date"},
	} {
		code, out, problem := command(c.args...)
		if printed := out + problem; code != c.code || !strings.Contains(printed, c.want) || strings.Contains(printed, "pa55word") {
			t.Errorf("%q: %d %s", c.args[:2], code, printed)
		}
	}
	if files, err := filepath.Glob("*"); err != nil || len(files) > 0 {
		t.Errorf("files were made: %v", files)
	}
	if line := keyCreateLine(dsn, 7); strings.Contains(line, "pa55word") {
		t.Error(line)
	}
}
