package audit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/audit"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

var operations = []string{"schedule:write:create", "schedule:write:delete", "monit_thing:write:frob", "datasource:write:create"}

func start(t *testing.T) *apitest.Server {
	var all []audit.Operation
	for _, name := range append(operations, operations[0]) { // an operation with two paths is listed twice
		all = append(all, audit.Named(name))
	}
	return apitest.Start(t, audit.New([]byte("a key that outlives the process"), all, hidden, private).Ops())
}

// secret is a channel of account A that the person Stranger may not read.
const secret = 4242

func hidden(_ *db.Tx, who auth.Principal) ([]int64, error) {
	if who.PersonID == apitest.Stranger {
		return []int64{secret}, nil
	}
	return nil, nil
}

// private hides what was done to the application "hush" from the person Stranger.
func private(_ *db.Tx, who auth.Principal) (func(string, []fault.Ref) (bool, error), error) {
	return func(operation string, about []fault.Ref) (bool, error) {
		return who.PersonID == apitest.Stranger && slices.ContainsFunc(about, func(r fault.Ref) bool { return r.Kind == "rum_application" && r.ID == "hush" }), nil
	}, nil
}

func record(t *testing.T, s *apitest.Server, entries ...api.AuditEntry) {
	t.Helper()
	s.Write(func(tx *db.Tx) error {
		for _, e := range entries {
			if err := audit.Record(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// entry returns an entry of some time after apitest.Now.
func entry(after time.Duration) api.AuditEntry {
	return api.AuditEntry{
		At: apitest.Now.Add(after), AccountID: apitest.AccountA, PersonID: apitest.OwnerA, PersonName: "Olga Owner", RequestID: "01KP9N2V00000000000000000A",
		IP: "203.0.113.42", Operation: "schedule:write:create", Body: `{"schedule_name":"Primary"}`, Write: true,
	}
}

// random returns entries that are hard to distinguish, many of the same millisecond.
func random(r *rand.Rand, n int) []api.AuditEntry {
	all := make([]api.AuditEntry, n)
	for i := range all {
		e := entry(time.Duration(r.IntN(20))*500*time.Millisecond + time.Duration(r.IntN(2))*time.Millisecond)
		e.PersonID = 1 + r.Int64N(3)
		e.Operation = operations[r.IntN(len(operations))]
		e.RequestID = fmt.Sprintf("request-%d", r.IntN(n))
		e.Dangerous = r.IntN(4) == 0
		e.Write = r.IntN(5) != 0
		e.Body = fmt.Sprint(r.Uint64())
		for n := range r.IntN(4) {
			e.Touched = append(e.Touched, fault.Ref{Kind: []string{"schedule", "team"}[r.IntN(2)], ID: fmt.Sprint(r.IntN(4)), Name: fmt.Sprint("name ", n)})
		}
		all[i] = e
	}
	return all
}

// count returns the number of entries of all accounts.
func count(t *testing.T, s *apitest.Server) (n int64) {
	t.Helper()
	err := s.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM audit_log`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
