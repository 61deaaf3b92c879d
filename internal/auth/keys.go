package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/moved"
)

// freshFor is how long a cached key is used without reading the database again. Disabling a key must take effect within
// a second if another process disabled it, and at once if this one did; see Recheck.
const freshFor = 500 * time.Millisecond

// keepFor is how long an unused key stays in memory.
const keepFor = time.Minute

// Keys finds the principal of an app key. It is safe for concurrent use.
//
// Valid keys are cached for half a second. Unknown keys never are, so that a flood of guesses uses no memory. Only
// SHA-256 hashes are stored and compared. Keys are long and random, so the time that a comparison of hashes takes
// reveals nothing about a key.
type Keys struct {
	db    *db.DB
	clock clock.Clock
	mu    sync.RWMutex
	known map[[sha256.Size]byte]*entry
	turns int // calls of Recheck
}

// entry is a cached key. Its fields are immutable but for the time of last use.
type entry struct {
	principal Principal
	asked     time.Time    // when it was read from the database
	stale     atomic.Bool  // the row may have changed since
	used      atomic.Int64 // Unix seconds; 0: not used since the last Flush
}

// NewKeys returns a Keys that reads from d.
func NewKeys(d *db.DB, c clock.Clock) *Keys {
	return &Keys{db: d, clock: c, known: map[[sha256.Size]byte]*entry{}}
}

// Find returns the principal of a secret. A key that is unknown, disabled, expired or belongs to a person
// who may no longer call is Unauthorized. The error never has the reason, nor the key.
func (k *Keys) Find(ctx context.Context, secret string) (Principal, error) {
	now, sum := k.clock.Now(), sha256.Sum256([]byte(secret))
	k.mu.RLock()
	e := k.known[sum]
	k.mu.RUnlock()
	if e == nil || !e.fresh(now) {
		var err error
		e, err = k.read(ctx, sum, now, e)
		if err != nil {
			return Principal{}, err
		}
	}
	if e == nil || e.principal.ExpiresAt != 0 && now.Unix() >= e.principal.ExpiresAt {
		return Principal{}, fault.New(fault.Unauthorized, "the app key is missing, unknown, disabled or expired")
	}
	e.used.Store(now.Unix())
	return e.principal, nil
}

func (e *entry) fresh(now time.Time) bool {
	age := now.Sub(e.asked)
	return age >= 0 && age < freshFor && !e.stale.Load()
}

// Recheck makes the next call of each key of an account read the database again. It is called after every commit of
// this process that changed keys, persons or roles.
func (k *Keys) Recheck(account int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turns++
	for _, e := range k.known {
		if e.principal.AccountID == account {
			e.stale.Store(true)
		}
	}
}

// Decides reports whether objects of a kind decide which calls a key may make.
func Decides(kind string) bool {
	return kind == configstore.Person || kind == configstore.Role || kind == "app_key"
}

// read reads the key from the database and caches it. A key without a usable row is removed from the cache.
func (k *Keys) read(ctx context.Context, sum [sha256.Size]byte, now time.Time, old *entry) (e *entry, err error) {
	if old != nil { // not a guess: it does not wait for those
		ctx = db.For(ctx, old.principal.AccountID)
	}
	k.mu.RLock()
	turn := k.turns
	k.mu.RUnlock()
	err = k.db.Snapshot(ctx, func(tx *db.Tx) error {
		e, err = load(tx, hex.EncodeToString(sum[:]))
		if err == nil && e == nil {
			err = moved.ByHash(tx, hex.EncodeToString(sum[:]))
		}
		return err
	})
	if err != nil {
		return nil, fault.Wrap(err, "look up an app key")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if e == nil {
		delete(k.known, sum)
		return nil, nil
	}
	e.asked = now
	e.stale.Store(turn != k.turns) // a change was committed after the snapshot began, perhaps
	if old != nil {
		e.used.Store(old.used.Load())
	}
	k.known[sum] = e
	return e, nil
}

// load reads a usable key with everything that its principal consists of; nil when there is none.
func load(tx *db.Tx, hash string) (*entry, error) {
	p, found, err := principal(tx, keyColumns+` WHERE k.key_hash = $1 AND k.status = 'enabled'`, hash)
	if err != nil || !found {
		return nil, err
	}
	return &entry{principal: p}, nil
}

const keyColumns = `SELECT k.account_id, k.person_id, p.person_name, k.key_id, a.owner_id = k.person_id, a.time_zone,
		k.permissions, k.expires_at, k.limit_wait, p.status
	FROM app_key k
	JOIN account a ON a.account_id = k.account_id
	JOIN person p ON p.account_id = k.account_id AND p.person_id = k.person_id`

// OfKey returns the principal of a key that is enabled and has not expired.
func OfKey(tx *db.Tx, account, key int64, now time.Time) (p Principal, found bool, err error) {
	p, found, err = principal(tx, keyColumns+` WHERE k.account_id = $1 AND k.key_id = $2 AND k.status = 'enabled'`, account, key)
	return p, found && (p.ExpiresAt == 0 || now.Unix() < p.ExpiresAt), err
}

// OfPerson returns the principal of a person who acts without an app key, with all of the person's permissions.
func OfPerson(tx *db.Tx, account, person int64) (p Principal, found bool, err error) {
	return principal(tx, `SELECT p.account_id, p.person_id, p.person_name, 0, a.owner_id = p.person_id, a.time_zone, NULL, 0, NULL, p.status
		FROM person p JOIN account a ON a.account_id = p.account_id
		WHERE p.account_id = $1 AND p.person_id = $2`, account, person)
}

// principal reads the principal that a query selects, unless its person may not call.
func principal(tx *db.Tx, query string, args ...any) (p Principal, found bool, err error) {
	var zone, status string
	var narrowed *string
	_, found, err = db.One(tx, func(scan db.Scan) (struct{}, error) {
		return struct{}{}, scan(&p.AccountID, &p.PersonID, &p.PersonName, &p.KeyID, &p.Owner, &zone, &narrowed, &p.ExpiresAt, &p.Wait, &status)
	}, query, args...)
	if err != nil || !found || status == "deleted" || status == "pending" {
		return p, false, err
	}
	p.Zone, err = time.LoadLocation(zone)
	if err != nil {
		return p, false, err
	}
	p.Permissions, err = PersonPermissions(tx, p.AccountID, p.PersonID)
	if err != nil {
		return p, false, err
	}
	if narrowed != nil {
		set, err := decode(*narrowed)
		if err != nil {
			return p, false, err
		}
		p.Permissions, p.Narrowed = p.Permissions&set.Closed(), true
	}
	return p, true, nil
}

// PersonPermissions returns what a person may do: everything for the account's owner, else the union of the
// person's roles; closed.
func PersonPermissions(tx *db.Tx, account, person int64) (Permissions, error) {
	owner, _, err := db.One(tx, db.Column[int64], `SELECT owner_id FROM account WHERE account_id = $1`, account)
	if err != nil || owner == person {
		return All, err
	}
	sets, err := db.All(tx, func(scan db.Scan) (s Permissions, err error) {
		var names string
		if err := scan(&names); err != nil {
			return 0, err
		}
		return decode(names)
	}, `SELECT r.permissions FROM person_role pr JOIN role r ON r.account_id = pr.account_id AND r.role_id = pr.role_id
		WHERE pr.account_id = $1 AND pr.person_id = $2 AND r.status = 'enabled'`, account, person)
	var union Permissions
	for _, s := range sets {
		union |= s
	}
	return union.Closed(), err
}

func decode(names string) (Permissions, error) {
	var list []string
	if err := json.Unmarshal([]byte(names), &list); err != nil {
		return 0, err
	}
	return SetOf(list)
}

// Flush stores when keys were last used and removes those from the cache that were not used for a minute. It runs every
// few seconds and at shutdown. A crash loses only the times of the last seconds. A time that another process stored and
// that is later stays.
func (k *Keys) Flush(ctx context.Context) (err error) {
	now := k.clock.Now()
	used := map[int64]map[string]int64{} // by account and hash
	k.mu.Lock()
	for sum, e := range k.known {
		if at := e.used.Swap(0); at != 0 {
			account := e.principal.AccountID
			if used[account] == nil {
				used[account] = map[string]int64{}
			}
			used[account][hex.EncodeToString(sum[:])] = at
		} else if now.Sub(e.asked) > keepFor {
			delete(k.known, sum)
		}
	}
	k.mu.Unlock()
	var writes sync.WaitGroup // together, so that they share a commit
	errs := make(chan error, len(used))
	for account, keys := range used {
		writes.Go(func() {
			errs <- k.db.WriteOf(ctx, account, func(tx *db.Tx) error {
				for hash, at := range keys {
					if err := tx.Do(`UPDATE app_key SET last_used_at = $1 WHERE key_hash = $2 AND last_used_at < $1`, at, hash); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	writes.Wait()
	close(errs)
	for one := range errs {
		err = errors.Join(err, one)
	}
	return err
}
