package signin

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/ratelimit"
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
	MailRate  ratelimit.Rate                                               // of the invitations of one account
	Share     *ratelimit.Share                                             // of this rate, that this process accepts; nil: the whole
	OpenID    OpenID
	Recheck   func(account int64) // makes the next call of each app key of an account read the database again
	Held      func() string       // why nothing is sent now; empty: mails are sent
	Pace      *fair.Queue         // of hashing passwords of strangers, shared with what else computes for long; nil: none waits
}

// Service signs persons in. It is safe for concurrent use.
type Service struct {
	Config
	attempts *attempts
	mailed   *ratelimit.Table[int64] // invitations, by account
	failures *failures
	provider provider
	reserved chan struct{} // held while a password is hashed of a person who is known, by the browser, a link or a session
}

// New returns a service.
func New(c Config) *Service {
	s := &Service{
		Config: c, failures: newFailures(), reserved: make(chan struct{}, 1), mailed: ratelimit.New[int64](0).Divided(c.Share),
	}
	s.attempts = newAttempts(&shared{&s.Config})
	return s
}

// hashWait is how long a sign-in waits for its turn to hash. One password of a stranger is hashed at a time, which takes 19
// MiB, and followed by a rest: a flood of sign-ins takes half of one processor. One more is hashed beside it of a person who
// is known: a flood of strangers does not keep them out.
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

// orTooMany returns the error because of which an attempt is not made.
func orTooMany(err error) error { return cmp.Or(err, ErrTooMany) }

// maxNamesakes is how many persons with the same e-mail address, in as many accounts, a password is compared for.
const maxNamesakes = 4

// Password returns the person of an e-mail address and a password. Each attempt counts, also the right one, so that
// attempts at the same moment cannot get around the limit.
func (s *Service) Password(ctx context.Context, a Attempt, now time.Time) (p Passed, err error) {
	a.Email = strings.ToValidUTF8(a.Email, "")
	known := s.knows(a)
	if may, err := s.attempts.password(ctx, a, known, now); err != nil || !may {
		return p, orTooMany(err)
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
		same, err := s.matches(ctx, hasherOf(a, known), c.Hash, a.Password)
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

// hasher is who waits for a turn to hash a password: a person who is known, or a stranger from a network.
type hasher struct {
	known   bool
	network netip.Prefix
}

func hasherOf(a Attempt, known bool) hasher { return hasher{known, networkOf(a.IP)} }

// matches compares a hash with a password when it is the caller's turn.
func (s *Service) matches(ctx context.Context, of hasher, hash, password string) (same bool, err error) {
	err = s.hashing(ctx, of, func() { same = credential.Matches(hash, password) })
	return same, err
}

// hash returns the hash of a known person's new password when it is its turn.
func (s *Service) hash(ctx context.Context, password string) (hash string, err error) {
	err = s.hashing(ctx, hasher{known: true}, func() { hash = credential.Hash(password) })
	return hash, err
}

// hashing runs fn when it is the caller's turn.
func (s *Service) hashing(ctx context.Context, of hasher, fn func()) error {
	ctx, cancel := context.WithTimeout(ctx, hashWait)
	defer cancel()
	if !of.known {
		leave, err := s.Pace.Enter(ctx, fair.Flow{Network: of.network}, 0)
		if err != nil {
			return ErrBusy
		}
		defer leave()
		fn()
		return nil
	}
	select {
	case s.reserved <- struct{}{}:
	case <-ctx.Done():
		return ErrBusy
	}
	defer func() { <-s.reserved }()
	fn()
	return nil
}
