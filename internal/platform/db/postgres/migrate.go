package postgres

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tocsin/internal/platform/db/driver"
)

// asMigration names the connection that migrates.
const asMigration = "tocsin migration"

// aside returns the statements with which a migration gets its locks while programs run on: first writers stand aside,
// which all lock their row of the table writer before anything else. They wait until the migration has ended. It can then
// wait only for appends and reads, which are short, and for a vacuum. It takes its other locks together, in the order of
// their names: while it lacks one it has none for long, so that what waits behind it goes on. The server stops its own
// vacuum for one who has waited for a second.
func aside(text []byte) string {
	altered, indexed := tablesOf(alters, text), tablesOf(indexes, text)
	const writers = "SET LOCAL lock_timeout = '1500ms';\nLOCK TABLE writer IN EXCLUSIVE MODE;\n"
	all := append(indexed, altered...)
	if len(all) == 0 {
		return writers + "SET LOCAL lock_timeout TO DEFAULT;\n"
	}
	return writers + fmt.Sprintf(`-- +goose StatementBegin
DO $aside$
DECLARE
    one record;
BEGIN
    FOR try IN 1 .. 7 LOOP
        BEGIN
            FOR one IN SELECT c.relname, bool_or(n.relname = ANY ('{%[1]s}')) AS altered, EXISTS (SELECT 1 FROM pg_locks l WHERE l.granted
                    AND l.relation = c.oid AND l.mode = 'ShareUpdateExclusiveLock' AND l.pid <> pg_backend_pid()) AS vacuumed
                    FROM pg_class n LEFT JOIN pg_index x ON x.indexrelid = n.oid JOIN pg_class c ON c.oid = coalesce(x.indrelid, n.oid)
                    WHERE n.relnamespace = CAST(current_schema() AS regnamespace) AND n.relname = ANY ('{%[2]s}')
                        AND c.relkind IN ('r', 'p') GROUP BY c.oid, c.relname ORDER BY c.relname LOOP
                PERFORM set_config('lock_timeout', CASE WHEN one.vacuumed AND try = 7 THEN '1200ms' ELSE 50 * try || 'ms' END, TRUE);
                EXECUTE format('LOCK TABLE %%I IN %%s MODE', one.relname, CASE WHEN one.altered THEN 'ACCESS EXCLUSIVE' ELSE 'SHARE' END);
            END LOOP;
            RETURN;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF try = 7 THEN
                RAISE;
            END IF;
            PERFORM pg_sleep(0.05);
        END;
    END LOOP;
END $aside$;
-- +goose StatementEnd
SET LOCAL lock_timeout TO DEFAULT;
`, strings.Join(altered, ","), strings.Join(all, ","))
}

// The tables and indexes that a migration alters or drops, and the tables of indexes that it creates.
var (
	alters  = regexp.MustCompile(`(?:(?:ALTER|DROP) TABLE (?:IF EXISTS )?|DROP INDEX (?:IF EXISTS )?|in_parts\(')(\w+)`)
	indexes = regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?\w+ ON (\w+)`)
)

func tablesOf(found *regexp.Regexp, text []byte) (names []string) {
	for _, at := range found.FindAllSubmatch(text, -1) {
		names = append(names, string(bytes.ToLower(at[1])))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Blocking describes the session that has a lock for which the migration waits, and the table; empty: none.
func (e *Engine) Blocking(ctx context.Context, read driver.Read) (session string, err error) {
	if on := e.migrating.Load(); on > 0 && on < e.outage.timeline.Load() {
		return "", driver.ErrFormer
	}
	err = read(ctx, func(q driver.Queries) (err error) {
		session, _, err = driver.One(q, driver.Column[string], `SELECT coalesce(nullif(o.application_name, ''), o.backend_type, 'a session')
				|| ' (process ' || o.pid || ' of the server, in a transaction for '
				|| coalesce(CAST(round(extract(epoch FROM clock_timestamp() - o.xact_start), 1) AS TEXT), '?') || ' seconds) at '
				|| coalesce((SELECT min(CAST(CAST(l.relation AS regclass) AS TEXT)) FROM pg_locks l
					WHERE l.pid = m.pid AND NOT l.granted), 'a row')
			FROM pg_stat_activity m CROSS JOIN LATERAL unnest(pg_blocking_pids(m.pid)) b JOIN pg_stat_activity o ON o.pid = b
			WHERE m.datname = current_database() AND m.application_name = $1 ORDER BY o.xact_start LIMIT 1`, asMigration)
		return err
	})
	return session, err
}
