package architecture

import (
	"regexp"
	"testing"

	"tocsin/internal/platform/db/dbtest"
)

// unreferenced matches statements that insert rows of the tables that have no constraint for their account on PostgreSQL.
var unreferenced = regexp.MustCompile(`(?i)\bINSERT INTO (event|event_waiting|verdict|feed|webhook_delivery|webhook_exchange|audit_\w+)\b`)

// TestRowsWithoutConstraintAreChecked: such rows are inserted with Tx.Insert or DB.Append, which check their account.
func TestRowsWithoutConstraintAreChecked(t *testing.T) {
	for _, s := range statements(t) {
		if unreferenced.MatchString(s.text) {
			t.Errorf("%s: use Tx.Insert, which checks that the account exists\n\t%s", s.at, s.text)
		}
	}
}

// TestEveryStatementIsTaken prepares every SQL text of the program on the engine of the run: one text serves both engines,
// so one that only one of them takes is a fault.
func TestEveryStatementIsTaken(t *testing.T) {
	engine, prepare := "sqlite", dbtest.Prepare(t)
	if dbtest.Server != "" {
		engine = "postgres"
	}
	for _, s := range statements(t) {
		if s.only() != "" && s.only() != engine {
			continue
		}
		if err := prepare(numbered(s.text)); err != nil {
			t.Errorf("%s: %v\n\t%s", s.at, err, s.text)
		}
	}
}

// unnamed finds what depends on which columns a table has, and in which order.
var unnamed = regexp.MustCompile(`(?i)(\b(SELECT|RETURNING|DISTINCT)|,)\s+(\w+\.)?\*|\bINSERT INTO \w+\s+(VALUES|SELECT)\b`)

// TestStatementsNameTheirColumns: a program runs on while a newer one adds columns. A statement for all columns would fail
// then, because its result is not what it was when it was prepared.
func TestStatementsNameTheirColumns(t *testing.T) {
	for _, s := range statements(t) {
		if found := unnamed.FindString(s.text); found != "" {
			t.Errorf("%s: %q names no columns\n\t%s", s.at, found, s.text)
		}
	}
	for _, text := range []string{"SELECT * FROM a", "SELECT b, a.* FROM a", "DELETE FROM a RETURNING *", "INSERT INTO a VALUES (1)"} {
		if !unnamed.MatchString(text) {
			t.Errorf("%q is not found", text)
		}
	}
}
