package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tocsin/test/pgserver"
)

// reading is what has been used up to a moment.
type reading struct {
	at             time.Time
	node, database time.Duration // processor time
	statements     int64         // PostgreSQL only, as the next
	rows           int64         // that statements returned or changed
	log            int64         // bytes of the write-ahead log; what the process has written to disk for the embedded engine
	size           int64         // bytes on disk
}

// since returns what was used between two readings.
func (r reading) since(before reading) reading {
	return reading{node: r.node - before.node, database: r.database - before.database, statements: r.statements - before.statements,
		rows: r.rows - before.rows, log: r.log - before.log, size: r.size - before.size}
}

// meter reads what a node and its database use.
type meter struct {
	node *process
	file string // of the embedded engine
	sql  *pgconn.PgConn
	main int // process of PostgreSQL
}

// meterOf returns the meter of a database; the server is nil for the embedded engine.
func meterOf(dsn string, server *pgserver.Server) (*meter, error) {
	if server == nil {
		return &meter{file: strings.TrimPrefix(dsn, "sqlite:")}, nil
	}
	c, err := pgconn.Connect(context.Background(), dsn)
	if err != nil {
		return nil, err
	}
	m := &meter{sql: c}
	m.main, err = parentOf(int(c.PID()))
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	_, err = m.ask(`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`)
	return m, err
}

func (m *meter) close() error {
	if m.sql == nil {
		return nil
	}
	return m.sql.Close(context.Background())
}

// ask returns the first row of a query's result.
func (m *meter) ask(query string) (row []string, err error) {
	results, err := m.sql.Exec(context.Background(), query).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		if len(r.Rows) > 0 {
			for _, v := range r.Rows[0] {
				row = append(row, string(v))
			}
			return row, nil
		}
	}
	return nil, nil
}

func (m *meter) read() (r reading, err error) {
	r.at = time.Now()
	if m.node != nil {
		r.node = m.node.processor()
	}
	if m.sql == nil {
		if m.node != nil {
			r.log = written(m.node.cmd.Process.Pid)
		}
		for _, end := range []string{"", "-wal"} {
			if info, err := os.Stat(m.file + end); err == nil {
				r.size += info.Size()
			}
		}
		return r, nil
	}
	r.database, err = family(m.main)
	if err != nil {
		return r, err
	}
	row, err := m.ask(`SELECT coalesce(sum(calls), 0), coalesce(sum(rows), 0), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'), pg_database_size(current_database())
		FROM pg_stat_statements(false) WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	if err != nil {
		return r, err
	}
	for i, into := range []*int64{&r.statements, &r.rows, &r.log, &r.size} {
		*into, err = strconv.ParseInt(row[i], 10, 64)
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// during measures what is used while a function runs.
func (m *meter) during(run func() error) (reading, error) {
	before, err := m.read()
	if err != nil {
		return before, err
	}
	if err := run(); err != nil {
		return before, err
	}
	after, err := m.read()
	return after.since(before), err
}

// stat returns the fields of a process after its name.
func stat(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text[strings.LastIndex(string(text), ") ")+2:]))
	if len(fields) < 15 {
		return nil, fmt.Errorf("/proc/%d/stat is unknown", pid)
	}
	return fields, nil
}

func parentOf(pid int) (int, error) {
	fields, err := stat(pid)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(fields[1])
}

// family returns the processor time of a process and its children, of those that have ended too.
func family(pid int) (sum time.Duration, err error) {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, path := range all {
		each, _ := strconv.Atoi(filepath.Base(path))
		fields, err := stat(each)
		if err != nil {
			continue // it has ended
		}
		counted := fields[11:13] // utime, stime
		if each == pid {
			counted = fields[11:15] // and those of its children that have ended
		} else if fields[1] != strconv.Itoa(pid) {
			continue
		}
		for _, text := range counted {
			ticks, _ := strconv.Atoi(text)
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum, nil
}

// written returns the bytes that a process has sent to the disk.
func written(pid int) (n int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "write_bytes: "); ok {
			n, _ = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
	}
	return n
}
