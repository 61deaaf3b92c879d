package signin_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/credential"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/secret"
	"tocsin/internal/signin"
)

// nodes returns services that sign in on one database: two where several processes serve one.
func nodes(t *testing.T) (s *apitest.Server, all []*signin.Service) {
	t.Helper()
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "keys"), func() time.Time { return apitest.Now })
	if err != nil {
		t.Fatal(err)
	}
	s = apitest.Start(t)
	s.Write(func(tx *db.Tx) error {
		return credential.SetPassword(tx, apitest.AccountA, apitest.OwnerA, credential.Hash(phrase), s.Clock.Now())
	})
	for range 2 {
		all = append(all, signin.New(signin.Config{DB: s.DB, Keyring: keyring, Log: slog.New(slog.DiscardHandler), Held: func() string { return "" }}))
	}
	if dbtest.Server == "" {
		all[1] = all[0] // one process
	}
	return s, all
}

// However many nodes there are, and at whatever moment guesses come, all nodes together try no more than one would. What was
// refused does not count: the limit is free again a minute after what was tried.
func TestNodesShareGuesses(t *testing.T) {
	t.Parallel()
	s, all := nodes(t)
	ctx := context.Background()
	for minute := range 3 {
		var tried, refused atomic.Int64
		var each sync.WaitGroup
		now := s.Clock.Now()
		for i := range 20 {
			each.Go(func() {
				_, err := all[i%2].Password(ctx, signin.Attempt{Email: "nobody@example.com", Password: "x", IP: "198.51.100.7"}, now)
				switch {
				case errors.Is(err, signin.ErrWrong):
					tried.Add(1)
				case errors.Is(err, signin.ErrTooMany):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		each.Wait()
		// Attempts at the same moment may refuse each other; the next ones then pass.
		for i := range 20 {
			if _, err := all[i%2].Password(ctx, signin.Attempt{Email: "nobody@example.com", Password: "x", IP: "198.51.100.7"}, now); errors.Is(err, signin.ErrWrong) {
				tried.Add(1)
			}
		}
		if tried.Load() > 5 || refused.Load() < 15 || dbtest.Server == "" && tried.Load() != 5 {
			t.Errorf("minute %d: %d tried, %d refused", minute, tried.Load(), refused.Load())
		}
		s.Clock.Add(time.Minute)
	}
	// One after the other, all of them pass.
	tried := 0
	for i := range 20 {
		if _, err := all[i%2].Password(ctx, signin.Attempt{Email: "other@example.com", Password: "x", IP: "198.51.100.8"}, s.Clock.Now()); errors.Is(err, signin.ErrWrong) {
			tried++
		}
	}
	if tried != 5 {
		t.Errorf("%d tried one after the other, want 5", tried)
	}
}

// The limit of an e-mail address holds over networks and nodes, and a browser that is known has its own.
func TestNodesShareLimitOfAddress(t *testing.T) {
	t.Parallel()
	s, all := nodes(t)
	tried := 0
	for i := range 40 {
		_, err := all[i%2].Password(context.Background(), signin.Attempt{
			Email: "nobody@example.com", Password: "x", IP: fmt.Sprintf("198.51.100.%d", i),
		}, s.Clock.Now())
		if errors.Is(err, signin.ErrWrong) {
			tried++
		}
	}
	if tried != 30 {
		t.Errorf("%d tried, want 30", tried)
	}
}

// Rows are deleted when no window has them, and name no address.
func TestAttemptsArePruned(t *testing.T) {
	t.Parallel()
	s, all := nodes(t)
	if dbtest.Server == "" { // one process stores none
		return
	}
	_, _ = all[0].Password(context.Background(), signin.Attempt{Email: "nobody@example.com", Password: "x", IP: "198.51.100.7"}, s.Clock.Now())
	count := func() (n int64) {
		if err := s.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
			n, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM sign_in_attempt WHERE length(subject) = 64`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 3 {
		t.Errorf("%d rows of an attempt", n)
	}
	s.Clock.Add(3 * time.Minute)
	for _, job := range all[1].Module().Jobs {
		if job.Name == "sign-in failures" {
			if _, err := job.Run(context.Background(), s.Clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := count(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}
