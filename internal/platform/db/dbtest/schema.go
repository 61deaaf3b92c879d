package dbtest

import "tocsin/internal/platform/db"

// Tables returns the names of the program's tables: without those with which the database keeps itself in order.
func Tables(tx *db.Tx) ([]string, error) {
	query := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'goose_db_version' ORDER BY name`
	if Server != "" {
		query = `SELECT CAST(relname AS TEXT) FROM pg_class
			WHERE relnamespace = CAST('public' AS regnamespace) AND relkind IN ('r', 'p') AND NOT relispartition
				AND relname NOT IN ('goose_db_version', 'writer') ORDER BY relname`
	}
	return db.All(tx, db.Column[string], query)
}

// Column is a column of a table.
type Column struct {
	Name, Type string // the type in capital letters: BIGINT, TEXT or BOOLEAN
}

// Columns returns the columns of a table in their order.
func Columns(tx *db.Tx, table string) ([]Column, error) {
	query := `SELECT name, type FROM pragma_table_info($1) ORDER BY cid`
	if Server != "" {
		query = `SELECT CAST(column_name AS TEXT), upper(data_type) FROM information_schema.columns
			WHERE table_schema = 'public' AND table_name = $1 ORDER BY ordinal_position`
	}
	return db.All(tx, func(scan db.Scan) (c Column, err error) { return c, scan(&c.Name, &c.Type) }, query, table)
}

// WithAccount reports whether the rows of a table are deleted with their account: by a foreign key, by one to an incident
// of the account, or by a trigger.
func WithAccount(tx *db.Tx, table string) (bool, error) {
	query := `SELECT count(*) FROM pragma_foreign_key_list($1) WHERE "table" = 'account' AND on_delete = 'CASCADE'`
	if Server != "" {
		query = `SELECT (SELECT count(*) FROM pg_constraint
			WHERE contype = 'f' AND CAST(conrelid AS regclass) = CAST($1 AS regclass) AND confdeltype = 'c'
				AND (confrelid = CAST('account' AS regclass)
					OR confrelid = CAST('incident' AS regclass) AND pg_get_constraintdef(oid) LIKE 'FOREIGN KEY (account_id, %'))
			+ (SELECT count(*) FROM pg_trigger t JOIN pg_proc f ON f.oid = t.tgfoid
			WHERE t.tgrelid = CAST('account' AS regclass) AND NOT t.tgisinternal AND t.tgenabled = 'O'
				AND f.prosrc LIKE '%DELETE FROM ' || $1 || ' WHERE account_id = OLD.account_id;%')`
	}
	n, _, err := db.One(tx, db.Column[int64], query, table)
	return n > 0, err
}

// TableOf returns the table of an index.
func TableOf(tx *db.Tx, index string) (table string, found bool, err error) {
	query := `SELECT tbl_name FROM sqlite_schema WHERE type = 'index' AND name = $1`
	if Server != "" {
		query = `SELECT tablename FROM pg_indexes WHERE schemaname = 'public' AND indexname = $1`
	}
	return db.One(tx, db.Column[string], query, index)
}

// Unordered lets the rest of a transaction store rows before those that they refer to.
func Unordered(tx *db.Tx) error {
	query := `PRAGMA defer_foreign_keys = ON`
	if Server != "" {
		query = `SET LOCAL session_replication_role = replica`
	}
	_, err := tx.Exec(query)
	return err
}
