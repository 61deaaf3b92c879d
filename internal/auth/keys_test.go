package auth_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

func TestFindReturnsPrincipal(t *testing.T) {
	s := apitest.Start(t)
	s.Grant(auth.SchedulesManage)
	ctx := context.Background()
	owner, err := s.Keys.Find(ctx, apitest.KeyA)
	if err != nil || owner.AccountID != apitest.AccountA || owner.PersonID != apitest.OwnerA || owner.PersonName != "Olga Owner" || !owner.Owner || owner.Permissions != auth.All || owner.Zone.String() != "Asia/Shanghai" || owner.KeyID != 1 {
		t.Errorf("%v %+v", err, owner)
	}
	reader, err := s.Keys.Find(ctx, apitest.KeyReader)
	if err != nil || reader.Owner || len(auth.Names(reader.Permissions)) != 2 {
		t.Errorf("%v %+v", err, reader)
	}
	other, err := s.Keys.Find(ctx, apitest.KeyB)
	if err != nil || other.AccountID != apitest.AccountB || other.Zone.String() != "America/New_York" {
		t.Errorf("%v %+v", err, other)
	}
}

// TestUnknownKeysHaveOneError: the error shows neither the reason nor the key.
func TestUnknownKeysHaveOneError(t *testing.T) {
	s := apitest.Start(t)
	s.Exec(`UPDATE app_key SET status = 'disabled' WHERE person_id = $1`, apitest.Reader)
	s.Exec(`UPDATE app_key SET expires_at = 1 WHERE person_id = $1`, apitest.Stranger)
	s.Exec(`UPDATE person SET status = 'deleted' WHERE account_id = $1`, apitest.AccountB)
	messages := map[string]bool{}
	for _, secret := range []string{"", "unknown", apitest.KeyReader, apitest.KeyNothing, apitest.KeyB, strings.Repeat("x", 100_000)} {
		who, err := s.Keys.Find(context.Background(), secret)
		if fault.KindOf(err) != fault.Unauthorized || who.AccountID != 0 {
			t.Errorf("%.20q: %+v, %v", secret, who, err)
		}
		messages[fmt.Sprint(err)] = true
	}
	if len(messages) != 1 {
		t.Errorf("%v", messages)
	}
}

// TestOneKeyOfOneAccount: a person's roles in one account must not count in another account in which the
// same person id is in use.
func TestOneKeyOfOneAccount(t *testing.T) {
	s := apitest.Start(t)
	s.Grant(auth.SchedulesManage)
	s.Person(apitest.AccountB, apitest.Reader, "Another")
	const secret = "tk_a_namesake_in_account_b_0123456789abc"
	s.Key(apitest.AccountB, apitest.Reader, secret)
	who, err := s.Keys.Find(context.Background(), secret)
	if err != nil || who.AccountID != apitest.AccountB || who.PersonName != "Another" || who.Permissions != 0 {
		t.Errorf("%v %+v", err, who)
	}
}

// TestRolesAddUp grants two roles at once, and then revokes one.
func TestRolesAddUp(t *testing.T) {
	s := apitest.Start(t)
	s.Grant(auth.SchedulesRead)
	s.Exec(`INSERT INTO role (account_id, role_id, role_name, permissions) VALUES ($1, 2, 'more', '["Teams Manage (org)"]')`, apitest.AccountA)
	s.Exec(`INSERT INTO person_role (account_id, person_id, role_id) VALUES ($1, $2, 2)`, apitest.AccountA, apitest.Reader)
	may := func() string {
		s.Clock.Add(time.Second)
		who, err := s.Keys.Find(context.Background(), apitest.KeyReader)
		return fmt.Sprint(auth.Names(who.Permissions), err)
	}
	if got := may(); got != "[Schedules Read (on-call) Teams Read (org) Teams Manage (org)] <nil>" {
		t.Error(got)
	}
	s.Exec(`DELETE FROM person_role WHERE role_id = 1`)
	if got := may(); got != "[Teams Read (org) Teams Manage (org)] <nil>" {
		t.Error(got)
	}
}

func TestFlush(t *testing.T) {
	s := apitest.Start(t)
	ctx := context.Background()
	used := func() (at int64) {
		err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
			at, _, err = db.One(tx, db.Column[int64], `SELECT last_used_at FROM app_key WHERE person_id = $1`, apitest.OwnerA)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	find := func() {
		if _, err := s.Keys.Find(ctx, apitest.KeyA); err != nil {
			t.Fatal(err)
		}
	}
	flush := func() {
		if err := s.Keys.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	find()
	s.Clock.Add(100 * time.Millisecond)
	find()
	s.Clock.Add(10 * time.Second)
	find() // read again: the time of last use must not be lost
	if used() != 0 {
		t.Error("written before Flush")
	}
	flush()
	last := s.Clock.Now().Unix()
	if used() != last {
		t.Errorf("%d, want %d", used(), last)
	}
	s.Exec(`UPDATE app_key SET last_used_at = 5`)
	flush()
	if used() != 5 {
		t.Error("the time of an unused key was written again")
	}
	s.Clock.Add(2 * time.Minute)
	flush()
	find() // no longer cached, and read again
	flush()
	if used() != s.Clock.Now().Unix() {
		t.Errorf("%d", used())
	}
}

// TestFindAtOnce runs many callers and Flush at the same time while a key is disabled and enabled.
func TestFindAtOnce(t *testing.T) {
	s := apitest.Start(t)
	ctx := context.Background()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 50 {
				if _, err := s.Keys.Find(ctx, apitest.KeyA); err != nil {
					t.Error(err)
				}
				if _, err := s.Keys.Find(ctx, apitest.KeyReader); err != nil && fault.KindOf(err) != fault.Unauthorized {
					t.Error(err)
				}
				s.Clock.Add(100 * time.Millisecond)
			}
		})
	}
	for _, status := range []string{"disabled", "enabled", "disabled"} {
		s.Exec(`UPDATE app_key SET status = $1 WHERE person_id = $2`, status, apitest.Reader)
		if err := s.Keys.Flush(ctx); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	s.Clock.Add(time.Second)
	if _, err := s.Keys.Find(ctx, apitest.KeyReader); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("%v", err)
	}
}

// TestDatabaseErrorIsNotUnauthorized: when the key cannot be read, the caller must not be answered that it is invalid.
func TestDatabaseErrorIsNotUnauthorized(t *testing.T) {
	s := apitest.Start(t)
	ctx, cancel := context.WithCancel(context.Background())
	s.Exec(`DROP TABLE person_role`)
	s.Exec(`ALTER TABLE app_key RENAME TO lost`)
	if _, err := s.Keys.Find(ctx, apitest.KeyA); err == nil || fault.KindOf(err) != fault.Internal || strings.Contains(err.Error(), apitest.KeyA) {
		t.Errorf("%v", err)
	}
	cancel()
	if _, err := s.Keys.Find(ctx, apitest.KeyA); err == nil || errors.Is(err, context.Canceled) && fault.KindOf(err) != fault.Internal {
		t.Errorf("%v", err)
	}
}
