package signin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// failures counts failed sign-ins of persons until they are recorded. They are recorded later and together for two
// reasons: an answer must not take longer because the person exists, and a flood must not fill the audit log.
type failures struct {
	mu   sync.Mutex
	each map[person.Ref]failed
}

type failed struct {
	n  int
	at time.Time // the last one
	ip string
}

// maxFailing is how many persons' failures wait to be recorded; those of others are lost. There are no more than persons.
const maxFailing = 1000

func newFailures() *failures { return &failures{each: map[person.Ref]failed{}} }

// add counts a failed sign-in of a person; of one who does not exist it counts nothing.
func (f *failures) add(r person.Ref, ip string, now time.Time) {
	if r.PersonID == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	one, known := f.each[r]
	if known || len(f.each) < maxFailing {
		f.each[r] = failed{one.n + 1, now, ip}
	}
}

// take returns what was counted and resets the counters.
func (f *failures) take() map[person.Ref]failed {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.each
	f.each = map[person.Ref]failed{}
	return all
}

// recordFailures writes an entry into the audit log for each person with failed sign-ins since the last time.
func (s *Service) recordFailures(ctx context.Context) (err error) {
	all := s.failures.take()
	for r, f := range all {
		err = errors.Join(err, s.DB.WriteOf(ctx, r.AccountID, func(tx *db.Tx) error {
			return s.record(tx, r, opRefused, Client{IP: f.ip}, fmt.Sprintf(`{"attempts":%d}`, f.n), "Unauthorized", f.at)
		}))
	}
	return err
}

// Client is where a sign-in comes from.
type Client struct {
	IP, Agent string
	Zone      string // IANA name of the browser's time zone; empty: not known
}

// The operations of the audit log that are calls of no operation of the API.
const (
	opSignIn    = "session:write:create"
	opRefused   = "session:write:refuse"
	opSignOut   = "session:write:end"
	opLinkSet   = "password:write:update"
	opProve     = "email_proof:write:update"
	opProvision = "member:write:create" // by the provider's word
	opFollow    = "member:write:roles"  // likewise
)

// record writes an entry about a person who signs in.
func (s *Service) record(tx *db.Tx, r person.Ref, operation string, from Client, body, outcome string, now time.Time) error {
	who, _, err := person.Find(tx, r.AccountID, r.PersonID)
	if err != nil {
		return err
	}
	return audit.Record(tx, api.AuditEntry{
		At: now, AccountID: r.AccountID, PersonID: r.PersonID, PersonName: who.PersonName, RequestID: id.ULID(now), IP: from.IP,
		Operation: operation, Outcome: outcome, Body: body, Write: true,
	})
}
