package dbtest

import (
	"cmp"
	"fmt"

	"tocsin/internal/platform/db"
)

// Trigger is a trigger of a test, which the engines spell differently.
type Trigger struct {
	Name string
	At   string // such as AFTER UPDATE OF revision ON account
	When string // a condition on NEW and OLD; empty: always
	Do   string // the statement; empty: it fails, and with it what it is triggered by
}

// Make makes the trigger.
func (g Trigger) Make(tx *db.Tx) error {
	queries := []string{g.embedded()}
	if Server != "" {
		queries = g.postgres()
	}
	for _, query := range queries {
		if _, err := tx.Exec(query); err != nil {
			return err
		}
	}
	return nil
}

func (g Trigger) embedded() string {
	when, do := "", cmp.Or(g.Do, "SELECT RAISE(ABORT, 'broken')")
	if g.When != "" {
		when = "WHEN " + g.When + " "
	}
	return fmt.Sprintf("CREATE TRIGGER %s %s %sBEGIN %s; END", g.Name, g.At, when, do)
}

func (g Trigger) postgres() []string {
	do := fmt.Sprintf("IF %s THEN %s; END IF", cmp.Or(g.When, "TRUE"), cmp.Or(g.Do, "RAISE EXCEPTION 'broken'"))
	return []string{
		fmt.Sprintf("CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN %s; RETURN coalesce(NEW, OLD); END $$", g.Name, do),
		fmt.Sprintf("CREATE TRIGGER %s %s FOR EACH ROW EXECUTE FUNCTION %s()", g.Name, g.At, g.Name),
	}
}

// Drop removes the trigger again.
func (g Trigger) Drop(tx *db.Tx) error {
	query := "DROP TRIGGER " + g.Name
	if Server != "" {
		query = "DROP FUNCTION " + g.Name + "() CASCADE"
	}
	_, err := tx.Exec(query)
	return err
}
