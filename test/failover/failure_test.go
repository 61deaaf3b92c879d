package failover

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tocsin/test/pgserver"
)

// failure is one way for a database to fail, and to come back.
type failure struct {
	begin func() error
	end   func() error
	reads bool // reads succeed meanwhile
	some  bool // some writes succeed meanwhile, so that it is ready
	brief bool // it is over at once: clients may notice nothing
}

// try runs the program under load through a failure.
func (f failure) try(t *testing.T, dsn string) {
	p := begin(t, dsn)
	l := p.load()
	p.within(time.Minute, "events are accepted", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.events) > 50 && len(l.channels) > 5
	})
	if r := p.ready(); r.status != http.StatusOK {
		t.Errorf("before it: ready answers %d %s", r.status, r.body)
	}
	must(t, f.begin())
	if !f.brief {
		p.within(bound, "requests are refused", func() bool { return l.refusals() > 5 })
		r := p.ready()
		if !f.some && (r.status != http.StatusServiceUnavailable || r.retry == "") || r.took > bound {
			t.Errorf("ready answers %d after %s: %s", r.status, r.took, r.body)
		}
		if r := p.list(); (r.status == http.StatusOK) != f.reads {
			t.Errorf("a read is answered %d %s", r.status, r.body)
		}
		if r, _ := p.push("during"); r.status != http.StatusServiceUnavailable {
			t.Errorf("an event is answered %d %s", r.status, r.body)
		}
	}
	must(t, f.end())
	over := time.Now()
	p.within(time.Minute, "events are accepted again", func() bool {
		r, _ := p.push("after")
		return r.status == http.StatusOK
	})
	t.Logf("accepted again after %s", time.Since(over).Round(time.Millisecond))
	p.within(time.Minute, "it is ready again", func() bool { return p.ready().status == http.StatusOK })
	time.Sleep(300 * time.Millisecond) // of load
	l.end()
}

func nothing() error { return nil }

// statements are sent to a database one by one.
func statements(s *pgserver.Server, database string, texts ...string) func() error {
	return func() error {
		for _, text := range texts {
			if err := s.SQL(database, text); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		return nil
	}
}

const cutAll = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tocsin'`

// TestServerFails has failures of a whole server, each with a server of its own.
func TestServerFails(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, s *pgserver.Server) failure{
		"killed": func(_ *testing.T, s *pgserver.Server) failure {
			return failure{begin: s.Kill, end: s.Run}
		},
		"stopped": func(_ *testing.T, s *pgserver.Server) failure {
			return failure{begin: s.Stop, end: s.Run}
		},
		"restarted": func(_ *testing.T, s *pgserver.Server) failure {
			return failure{begin: func() error { return errors.Join(s.Stop(), s.Run()) }, end: nothing, brief: true}
		},
		"connections cut": func(_ *testing.T, s *pgserver.Server) failure {
			return failure{begin: statements(s, "postgres", cutAll, cutAll, cutAll), end: nothing, brief: true}
		},
		"read-only": func(_ *testing.T, s *pgserver.Server) failure {
			return failure{
				begin: statements(s, "postgres", `ALTER SYSTEM SET default_transaction_read_only = on`, `SELECT pg_reload_conf()`),
				end: statements(s, "postgres", `ALTER SYSTEM RESET default_transaction_read_only`,
					`SELECT pg_reload_conf()`),
				reads: true,
			}
		},
		"no connection left": func(_ *testing.T, s *pgserver.Server) failure {
			return failure{
				begin: statements(s, "postgres", `ALTER ROLE tocsin CONNECTION LIMIT 0`, cutAll),
				end:   statements(s, "postgres", `ALTER ROLE tocsin CONNECTION LIMIT -1`),
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, pgserver.Options{})
			must(t, statements(s, "postgres", "CREATE ROLE tocsin LOGIN", "CREATE DATABASE tocsin OWNER tocsin")())
			make(t, s).try(t, strings.Replace(s.DSN("tocsin"), "postgres@", "tocsin@", 1)) // as a role with no rights beside its database
		})
	}
}
