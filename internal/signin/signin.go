// Package signin lets persons into the console: by password, by a link, by an OpenID Connect provider, each with a second
// factor where the person has set one up. It slows down guessing and records sign-ins in the audit log.
//
// It must never reveal to a caller whether a person exists, nor put a password, a code or a token into an error, the log or
// the audit log.
package signin

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
	"tocsin/internal/sender"
)

// Config holds the dependencies.
type Config struct {
	DB        *db.DB
	Keyring   *secret.Keyring
	Log       *slog.Logger
	PublicURL string                                                       // for links in mails; empty: no mail is sent
	Mail      func(ctx context.Context, to string, m sender.Message) error // nil: no mail is sent
	OpenID    OpenID
	Recheck   func(account int64) // makes the next call of each app key of an account read the database again
	Held      func() string       // why nothing is sent now; empty: mails are sent
}

// Service signs persons in. It is safe for concurrent use.
type Service struct {
	Config
	attempts *attempts
	failures *failures
	provider provider
	slots    chan struct{} // held while a password of a stranger is hashed
	reserved chan struct{} // of a person who is known, by the browser, a link or a session
}

// New returns a service.
func New(c Config) *Service {
	return &Service{
		Config: c, attempts: newAttempts(), failures: newFailures(),
		slots: make(chan struct{}, maxHashes), reserved: make(chan struct{}, 1),
	}
}

// maxHashes is how many passwords of strangers are hashed at once. Each takes 19 MiB, so that a flood of sign-ins takes
// less than 80 MiB and a part of the processors, and the rest of the program goes on. One more slot is for persons who
// are known: a flood of strangers does not keep them out.
const maxHashes = 3

// hashWait is how long a sign-in waits for its turn to hash.
const hashWait = 5 * time.Second

// The reasons why a sign-in is refused. They do not reveal whether the person exists.
var (
	ErrWrong   = errors.New("the e-mail address, the password or the code is wrong")
	ErrTooMany = errors.New("too many attempts")
	ErrBusy    = errors.New("too many sign-ins at once")
	ErrEnded   = errors.New("the link or the sign-in is unknown, used or has ended")
)

// Attempt is a sign-in with a password.
type Attempt struct {
	Email, Password string
	IP              string
	Device          string // what Known returned on an earlier sign-in from this browser; may be empty
}

// Passed is a person who has proved who they are.
type Passed struct {
	person.Ref
	Way    string // as in package session
	Second bool   // a code is required besides
	setAt  int64  // of the password, Unix seconds
}

// maxNamesakes is how many persons with the same e-mail address, in as many accounts, a password is compared for.
const maxNamesakes = 4

// Password returns the person of an e-mail address and a password. Each attempt counts, also the right one, so that
// attempts at the same moment cannot get around the limit.
func (s *Service) Password(ctx context.Context, a Attempt, now time.Time) (p Passed, err error) {
	a.Email = strings.ToValidUTF8(a.Email, "")
	known := s.knows(a)
	if !s.attempts.password(a, known, now) {
		return p, ErrTooMany
	}
	type candidate struct {
		person.Ref
		credential.Password
	}
	var all []candidate
	err = s.DB.Snapshot(ctx, func(tx *db.Tx) error {
		refs, err := person.WithEmail(tx, a.Email)
		for _, r := range refs[:min(len(refs), maxNamesakes)] {
			password, e := credential.PasswordOf(tx, r.AccountID, r.PersonID)
			err = errors.Join(err, e)
			all = append(all, candidate{r, password})
		}
		return err
	})
	if err != nil {
		return p, err
	}
	if len(all) == 0 {
		all = []candidate{{}} // takes as long as a person who exists
	}
	found := -1
	for i, c := range all {
		same, err := s.matches(ctx, known, c.Hash, a.Password)
		if err != nil {
			return p, err
		}
		if same && found < 0 {
			found = i
		}
	}
	if found < 0 {
		for _, c := range all {
			s.failures.add(c.Ref, a.IP, now)
		}
		return p, ErrWrong
	}
	return s.passed(ctx, Passed{Ref: all[found].Ref, Way: byPassword, setAt: all[found].SetAt})
}

// passed finds out whether a code is required besides.
func (s *Service) passed(ctx context.Context, p Passed) (Passed, error) {
	err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		p.Second, err = credential.HasSecondFactor(tx, p.AccountID, p.PersonID)
		return err
	})
	return p, err
}

// matches compares a hash with a password when it is its turn.
func (s *Service) matches(ctx context.Context, known bool, hash, password string) (same bool, err error) {
	err = s.hashing(ctx, known, func() { same = credential.Matches(hash, password) })
	return same, err
}

// hash returns the hash of a known person's new password when it is its turn.
func (s *Service) hash(ctx context.Context, password string) (hash string, err error) {
	err = s.hashing(ctx, true, func() { hash = credential.Hash(password) })
	return hash, err
}

// hashing runs fn when it is its turn.
func (s *Service) hashing(ctx context.Context, known bool, fn func()) error {
	slots := s.slots
	if known {
		slots = s.reserved
	}
	ctx, cancel := context.WithTimeout(ctx, hashWait)
	defer cancel()
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return ErrBusy
	}
	defer func() { <-slots }()
	fn()
	return nil
}
