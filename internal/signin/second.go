package signin

import (
	"context"
	"encoding/json"
	"time"

	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// pendingContext is what a sign-in is sealed for that still needs a code.
const pendingContext = "sign-in/second"

// PendingLasts is how long a code may be entered after the password.
const PendingLasts = 5 * time.Minute

// pending is a sign-in that still needs a code. The browser holds it, sealed, so that a flood of sign-ins takes no memory.
type pending struct {
	AccountID int64  `json:"account_id"`
	PersonID  int64  `json:"person_id"`
	Way       string `json:"way"`
	SetAt     int64  `json:"set_at"` // of the password: a change ends what waits
	Until     int64  `json:"until"`  // Unix seconds
	Next      string `json:"next"`
}

// Pend returns a sign-in that still needs a code, for the browser to keep. next is where the person goes afterwards.
func (s *Service) Pend(p Passed, next string, now time.Time) (string, error) {
	text, err := json.Marshal(pending{p.AccountID, p.PersonID, p.Way, p.setAt, now.Add(PendingLasts).Unix(), next})
	if err != nil {
		return "", err
	}
	return s.Keyring.Seal(string(text), pendingContext)
}

// Second completes a sign-in with a code of the person's device, or with a recovery code.
func (s *Service) Second(ctx context.Context, sealed, code string, from Client, now time.Time) (p Passed, next string, err error) {
	var w pending
	plain, err := s.Keyring.Open(sealed, pendingContext)
	if err != nil || json.Unmarshal([]byte(plain), &w) != nil || now.Unix() >= w.Until {
		return p, "", ErrEnded
	}
	p = Passed{Ref: person.Ref{AccountID: w.AccountID, PersonID: w.PersonID}, Way: w.Way, setAt: w.SetAt}
	if may, err := s.attempts.code(ctx, p.Ref, now); err != nil || !may {
		return p, "", orTooMany(err)
	}
	accepted := false
	err = s.DB.WriteOf(ctx, p.AccountID, func(tx *db.Tx) error {
		if w.SetAt != 0 {
			password, err := credential.PasswordOf(tx, p.AccountID, p.PersonID)
			if err != nil || password.SetAt != w.SetAt {
				return orEnded(err)
			}
		}
		accepted, err = s.accept(tx, p.Ref, code, now)
		return err
	})
	switch {
	case err != nil:
		return p, "", err
	case !accepted:
		s.failures.add(p.Ref, from.IP, now)
		return p, "", ErrWrong
	}
	return p, w.Next, nil
}

// accept reports whether a code is one of the person's device or a recovery code, and uses it up. A secret that cannot be
// read, because its sealing key is lost, leaves the recovery codes.
func (s *Service) accept(tx *db.Tx, r person.Ref, code string, now time.Time) (bool, error) {
	if recovered, err := credential.AcceptRecoveryCode(tx, r.AccountID, r.PersonID, code); err != nil || recovered {
		return recovered, err
	}
	f, found, err := credential.SecondFactorOf(tx, s.Keyring, r.AccountID, r.PersonID)
	if err != nil {
		s.Log.Error("a second factor cannot be read", "account", r.AccountID, "person", r.PersonID, "error", err)
		return false, nil
	}
	if !found || f.ConfirmedAt == 0 {
		return false, nil
	}
	return credential.AcceptCode(tx, r.AccountID, r.PersonID, f, code, now)
}
