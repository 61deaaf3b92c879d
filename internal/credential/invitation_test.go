package credential_test

import (
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/credential"
	"tocsin/internal/platform/db"
)

// A server that was restored sends none of the invitations that the backup holds: they were sent before.
func TestReleaseDropsInvitations(t *testing.T) {
	s := apitest.Start(t)
	due := func() (found bool) {
		s.Read(func(tx *db.Tx) (err error) {
			_, found, err = credential.DueInvitation(tx, s.Clock.Now())
			return err
		})
		return found
	}
	s.Write(func(tx *db.Tx) error {
		return credential.Invite(tx, credential.Invitation{AccountID: apitest.AccountA, PersonID: apitest.Reader, Kind: credential.LinkPassword}, s.Clock.Now())
	})
	if !due() {
		t.Fatal("an invitation is not due")
	}
	s.Write(func(tx *db.Tx) error { return credential.Release(tx, s.Clock.Now()) })
	if due() {
		t.Error("an invitation is due after the release")
	}
}

// A person has a few links at a time: making others ends the oldest, and deleting the person's credentials ends all.
func TestLinksAreFew(t *testing.T) {
	s := apitest.Start(t)
	var tokens []string
	for range 8 {
		s.Clock.Add(time.Minute)
		s.Write(func(tx *db.Tx) error {
			token, err := credential.NewLink(tx, credential.Link{AccountID: apitest.AccountA, PersonID: apitest.Reader, Kind: credential.LinkPassword, EndsAt: s.Clock.Now().Unix() + 3600}, s.Clock.Now())
			tokens = append(tokens, token)
			return err
		})
	}
	valid := func() (n int) {
		for _, token := range tokens {
			s.Read(func(tx *db.Tx) error {
				l, found, err := credential.FindLink(tx, token, s.Clock.Now())
				if found && l.PersonID == apitest.Reader {
					n++
				}
				return err
			})
		}
		return n
	}
	if n := valid(); n != 5 {
		t.Errorf("%d links, want 5", n)
	}
	s.Write(func(tx *db.Tx) error { return credential.Forget(tx, apitest.AccountA, apitest.Reader) })
	if n := valid(); n != 0 {
		t.Errorf("%d links are left", n)
	}
}
