package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

// toyNames lists the toys of all accounts.
func toyNames(s *apitest.Server) (names []string) {
	s.Read(func(tx *tx) (err error) {
		names, err = allOf[string](tx, `SELECT toy_name FROM toy ORDER BY account_id, toy_id`)
		return err
	})
	return names
}

type audited struct {
	account, person, at               int64
	name, request, ip, op, code, body string
	danger, write                     bool
}

func auditLog(s *apitest.Server) (entries []audited) {
	s.Read(func(tx *tx) (err error) {
		entries, err = db.All(tx, func(scan db.Scan) (e audited, err error) {
			return e, scan(&e.account, &e.person, &e.at, &e.name, &e.request, &e.ip, &e.op, &e.code, &e.body, &e.danger, &e.write)
		}, `SELECT account_id, person_id, created_at, person_name, request_id, ip, operation, outcome, body, is_dangerous, is_write FROM audit_log ORDER BY created_at, audit_id`)
		return err
	})
	return entries
}

func TestWriteIsRecorded(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	r := s.Call(apitest.KeyA, create, `{"name":"ball","password":"hunter2","extra":[1]}`)
	want := []audited{{apitest.AccountA, apitest.OwnerA, apitest.Now.UnixMilli(), "Olga Owner", r.Header.Get("Service-Request-Id"), "127.0.0.1", "toy:write:create", "", `{"name":"ball","password":"***","extra":"***"}`, false, true}}
	if got := auditLog(s); r.Code != "" || !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n%+v\nwant\n%+v", r.Body, got, want)
	}
	if got := toyNames(s); len(got) != 1 {
		t.Errorf("%q", got)
	}

	s.Clock.Add(time.Second)
	r = s.Call(apitest.KeyNothing, open, "")
	if got := auditLog(s); len(got) != 2 || !got[1].danger || got[1].body != "{}" || got[1].op != "toy:write:open" {
		t.Errorf("%s %+v", r.Body, got)
	}
}

func TestReadsAreNotRecorded(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	s.Call(apitest.KeyA, echo, minimal)
	s.Call(apitest.KeyA, list, "{}")
	s.Call(apitest.KeyA, info, `{"id":1}`)
	if got := auditLog(s); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestRefusedWrite: nothing of the change is stored, one audit entry has the error code, and the next write works.
func TestRefusedWrite(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	for _, c := range []struct{ name, key, kind, body, code, recorded string }{
		{"by the operation", apitest.KeyA, "", `{"name":"ball","then":"refuse","password":"hunter2"}`, "BadRequest", `{"name":"ball","then":"refuse","password":"***"}`},
		{"by an error", apitest.KeyA, "", `{"name":"ball","then":"fail"}`, "InternalError", `{"name":"ball","then":"fail"}`},
		{"by a panic", apitest.KeyA, "", `{"name":"ball","then":"panic"}`, "InternalError", `{"name":"ball","then":"panic"}`},
		{"by a reply that cannot be encoded", apitest.KeyA, "", `{"name":"ball","then":"unspeakable"}`, "InternalError", `{"name":"ball","then":"unspeakable"}`},
		{"by a field", apitest.KeyA, "", `{"name":7,"token":"hunter2"}`, "InvalidParameter", `{"name":7,"token":"***"}`},
		{"by its syntax", apitest.KeyA, "", `{"password":"hunter2`, "InvalidParameter", `{"redacted":"not valid JSON"}`},
		{"by its type", apitest.KeyA, "text/plain", `{"name":"ball"}`, "InvalidContentType", `{"redacted":"not read"}`},
		{"by the permission", apitest.KeyNothing, "", `{"name":"ball"}`, "AccessDenied", `{"redacted":"not read"}`},
		{"by its size", apitest.KeyA, "", `{"name":"` + strings.Repeat("x", 1<<20) + `"}`, "EntityTooLarge", `{"redacted":"not read"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.Exec(`DELETE FROM toy`)
			s.Exec(`DELETE FROM audit_log`)
			q := s.Request("POST", create+"?app_key="+c.key, c.body)
			q.Header.Set("Content-Type", "application/json")
			if c.kind != "" {
				q.Header.Set("Content-Type", c.kind)
			}
			r := s.Do(q)
			log := auditLog(s)
			if r.Code != c.code || len(log) != 1 || log[0].code != c.code || log[0].body != c.recorded || log[0].request != r.Header.Get("Service-Request-Id") || log[0].op != "toy:write:create" {
				t.Errorf("%s\n%+v", r.Body, log)
			}
			if got := toyNames(s); len(got) != 0 {
				t.Errorf("left behind: %q", got)
			}
			if r := s.Call(apitest.KeyA, create, `{"name":"next"}`); r.Code != "" {
				t.Errorf("the next write: %s", r.Body)
			}
			if got := toyNames(s); !reflect.DeepEqual(got, []string{"next"}) {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestNoChangeWithoutItsRecord: when the audit entry cannot be stored, the change is rolled back.
func TestNoChangeWithoutItsRecord(t *testing.T) {
	t.Parallel()
	full := func(*db.Tx, api.AuditEntry) error { return errors.New("the log is full") }
	s := withToys(apitest.StartConfig(t, func(c *api.Config) { c.Audit = full }, toys()))
	if r := s.Call(apitest.KeyA, create, `{"name":"ball"}`); r.Code != "InternalError" {
		t.Errorf("%s", r.Body)
	}
	if got := toyNames(s); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestUnknownKeysLeaveNoRecord(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	s.Call("wrong", create, `{"name":"ball"}`)
	if got := auditLog(s); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestPanicFailsOneCallOnly(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	for range 20 { // more often than there are connections
		if r := s.Call(apitest.KeyA, broken, `{"name":"panic"}`); r.Code != "InternalError" || r.Status != 500 {
			t.Fatalf("%s", r.Body)
		}
		if r := s.Call(apitest.KeyA, create, `{"name":"ball","then":"panic"}`); r.Code != "InternalError" {
			t.Fatalf("%s", r.Body)
		}
	}
	if r := s.Call(apitest.KeyA, list, "{}"); string(r.Data) != `{"items":[]}` {
		t.Errorf("%s", r.Body)
	}
}

// TestSnapshotAgreesWithItself counts twice while other calls write: the two counts of one call must agree.
func TestSnapshotAgreesWithItself(t *testing.T) {
	t.Parallel()
	type counts struct {
		Before int64 `json:"before"`
		After  int64 `json:"after"`
	}
	between := make(chan func())
	ops := append(toys(), api.Op{Path: "/toy/twice", Effect: api.Snapshot, Do: api.Do(func(c *api.Call, in nothing) (out counts, err error) {
		count := func() int64 {
			n, _, e := db.One(c.Tx, db.Column[int64], `SELECT count(*) FROM toy`)
			err = errors.Join(err, e)
			return n
		}
		out.Before = count()
		(<-between)()
		out.After = count()
		return out, err
	})})
	s := withToys(apitest.Start(t, ops))
	go func() {
		between <- func() {
			err := s.DB.Write(context.Background(), func(tx *db.Tx) error {
				_, err := tx.Exec(`INSERT INTO toy (account_id, toy_id, toy_name) VALUES ($1, 1, 'ball')`, apitest.AccountB)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}()
	if r := s.Call(apitest.KeyA, "/toy/twice", ""); string(r.Data) != `{"before":0,"after":0}` {
		t.Errorf("%s", r.Body)
	}
	if got := toyNames(s); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// TestManyAtOnce runs writers, readers, refused and broken calls of two accounts at the same time.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	s.Grant(auth.SchedulesRead)
	call := func(key, path, body string) (apitest.Reply, error) {
		r, err := http.Post(s.URL+path+"?app_key="+key, "application/json", strings.NewReader(body))
		if err != nil {
			return apitest.Reply{}, err
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return apitest.Reply{}, err
		}
		return apitest.ReadReply(r.StatusCode, r.Header, b)
	}
	const workers, rounds = 8, 12
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				key := []string{apitest.KeyA, apitest.KeyB}[w%2]
				name := fmt.Sprintf("%d-%d", w, i)
				for _, c := range []struct{ key, path, body, code string }{
					{key, create, `{"name":"` + name + `"}`, ""},
					{key, create, `{"name":"x","then":"panic"}`, "InternalError"},
					{apitest.KeyReader, create, `{"name":"x"}`, "AccessDenied"},
					{apitest.KeyReader, echo, minimal, ""},
					{key, list, `{}`, ""},
					{"wrong", list, `{}`, "Unauthorized"},
				} {
					if r, err := call(c.key, c.path, c.body); err != nil || r.Code != c.code {
						t.Errorf("%s: %v %s", c.path, err, r.Body)
					}
				}
			}
		})
	}
	wg.Wait()
	if got := toyNames(s); len(got) != workers*rounds {
		t.Errorf("%d toys", len(got))
	}
	done, refused := 0, 0
	for _, e := range auditLog(s) {
		if e.code == "" {
			done++
		} else {
			refused++
		}
	}
	if done != workers*rounds || refused != 2*workers*rounds {
		t.Errorf("%d done and %d refused writes on record", done, refused)
	}
}
