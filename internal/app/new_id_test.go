package app_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/app"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/id"
)

// TestNewObjectReplacesNoOther creates an object of each kind while all numbers that come next belong to others. They
// all stay, and there is one more.
func TestNewObjectReplacesNoOther(t *testing.T) {
	t.Parallel()
	a, url, owner, _ := start(t)
	s := client{t, url}
	for _, c := range []struct{ table, column, path, body, member string }{
		{"channel", "channel_id", "/channel/create", `{"channel_name":"~","team_id":0}`, "channel_id"},
		{"role", "role_id", "/role/upsert", `{"role_name":"~"}`, "role_id"},
		{"team", "team_id", "/team/upsert", `{"team_name":"~"}`, "team_id"},
		{"object", "id", "/integration/create", `{"integration_name":"~","integration_type":"standard"}`, "integration_id"},
		{"schedule", "schedule_id", "/schedule/create", `{"schedule_name":"~"}`, "schedule_id"},
	} {
		t.Run(c.path, func(t *testing.T) {
			s := s
			s.t = t
			first := s.must(owner, c.path, strings.ReplaceAll(c.body, "~", "first"), c.member)
			taken := copies(t, a, c.table, c.column, first)
			if got := s.must(owner, c.path, strings.ReplaceAll(c.body, "~", "second"), c.member); got <= taken {
				t.Errorf("the new one is %s, but the numbers up to %s are taken", got, taken)
			}
		})
	}
}

// copies copies a row to the next few thousand numbers, of which the next ids are a choice. It returns the last.
func copies(t *testing.T, a *app.App, table, column, first string) (last string) {
	t.Helper()
	next := id.Number() + 1
	end := next + 4095
	err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
		columns, err := dbtest.Columns(tx, table)
		if err != nil {
			return err
		}
		var into, from []string
		for _, c := range columns {
			value := `"` + c.Name + `"`
			into = append(into, value)
			if c.Name == column {
				value = `CAST(numbers.n AS ` + c.Type + `)`
			}
			from = append(from, value)
		}
		_, err = tx.Exec(`WITH RECURSIVE numbers (n) AS (SELECT $1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $2)
			INSERT INTO "`+table+`" (`+strings.Join(into, `, `)+`) SELECT `+strings.Join(from, `, `)+` FROM "`+table+`", numbers WHERE CAST("`+column+`" AS TEXT) = $3`, next, end, first)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(end)
}
