package signin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// OpenID configures signing in at an OpenID Connect provider. Its zero value is none.
type OpenID struct {
	Name         string // of the provider, on the button
	Issuer       string // URL
	ClientID     string
	ClientSecret string
	Scopes       []string          // besides openid
	Claim        string            // of the values that roles and teams depend on, such as groups
	Roles        map[string]string // names of roles by value of the claim
	Teams        map[string]string // names of teams, likewise
	Provision    bool              // persons who are not known are created
	TrustEmail   bool              // addresses count as verified although the provider does not confirm it
	Account      int64             // in which persons sign in; 0: the only one
	Client       *http.Client
}

// On reports whether persons can sign in at a provider.
func (o *OpenID) On() bool { return o.Issuer != "" }

// OpenIDPath is where the provider sends persons back to.
const OpenIDPath = "/sign-in/oidc/callback"

// The reasons why a sign-in at the provider leads to nothing.
var (
	ErrProvider = errors.New("the OpenID Connect provider does not answer, or not as it should")
	ErrDenied   = errors.New("the OpenID Connect provider has refused")
	ErrUnknown  = errors.New("the provider's person is not known here")
)

// provider is the provider's discovery document. It is read at the first sign-in, so that the program starts
// without the provider, and again after a failure.
type provider struct {
	mu    sync.Mutex
	found *oidc.Provider
}

func (s *Service) discover() (*oidc.Provider, error) {
	s.provider.mu.Lock()
	defer s.provider.mu.Unlock()
	if s.provider.found == nil {
		// The provider keeps this context for reading its keys later, so it must not be that of a request. The client
		// limits the time.
		found, err := oidc.NewProvider(oidc.ClientContext(context.Background(), s.OpenID.Client), s.OpenID.Issuer)
		if err != nil {
			return nil, s.providerFailed("discovery", err)
		}
		s.provider.found = found
	}
	return s.provider.found, nil
}

// providerFailed logs what the provider did wrong, without what it was sent.
func (s *Service) providerFailed(at string, err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) { // its text holds the reply, which may repeat the code
		s.Log.Warn("OpenID Connect", "at", at, "error", "the provider refused: "+refused.ErrorCode)
		return ErrDenied
	}
	s.Log.Warn("OpenID Connect", "at", at, "error", err)
	return ErrProvider
}

func (s *Service) oauth(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: s.OpenID.ClientID, ClientSecret: s.OpenID.ClientSecret, Endpoint: p.Endpoint(),
		RedirectURL: s.PublicURL + OpenIDPath, Scopes: append([]string{oidc.ScopeOpenID}, s.OpenID.Scopes...),
	}
}

// away is a sign-in that goes on at the provider. The browser holds it, sealed: only this browser can complete it.
type away struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"` // of PKCE
	Next     string `json:"next"`
	Until    int64  `json:"until"` // Unix seconds
}

const awayContext = "sign-in/oidc"

// AwayLasts is how long a sign-in at the provider may take.
const AwayLasts = 10 * time.Minute

// BeginOpenID returns the provider's address to go to, and what the browser keeps meanwhile.
func (s *Service) BeginOpenID(next string, now time.Time) (address, keep string, err error) {
	p, err := s.discover()
	if err != nil {
		return "", "", err
	}
	a := away{id.Token(16), id.Token(16), oauth2.GenerateVerifier(), next, now.Add(AwayLasts).Unix()}
	text, err := json.Marshal(a)
	if err != nil {
		return "", "", err
	}
	keep, err = s.Keyring.Seal(string(text), awayContext)
	if err != nil {
		return "", "", err
	}
	return s.oauth(p).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), keep, nil
}

// FinishOpenID returns the person whom the provider has sent back with a code, and where to go on to. The person is found
// by the provider's own identifier; the first time by a verified e-mail address; or is created.
func (s *Service) FinishOpenID(
	ctx context.Context, keep string, sent url.Values, from Client, now time.Time,
) (p Passed, next string, err error) {
	var a away
	plain, err := s.Keyring.Open(keep, awayContext)
	if err != nil || json.Unmarshal([]byte(plain), &a) != nil || now.Unix() >= a.Until ||
		subtle.ConstantTimeCompare([]byte(sent.Get("state")), []byte(a.State)) != 1 {
		return p, "", ErrEnded
	}
	if may, err := s.attempts.network(ctx, from.IP, now); err != nil || !may {
		return p, "", orTooMany(err)
	}
	if err := s.spend(ctx, a); err != nil {
		return p, "", err
	}
	if sent.Get("error") != "" || sent.Get("code") == "" {
		return p, "", ErrDenied
	}
	c, err := s.claims(ctx, a, sent.Get("code"), now)
	if err != nil {
		return p, "", err
	}
	p.Ref, err = s.known(ctx, c, from, now)
	if err != nil {
		return p, "", err
	}
	p.Way = byOpenID
	p, err = s.passed(ctx, p)
	return p, a.Next, err
}

// spend uses up the state of a sign-in at the provider, on all nodes: the browser holds it, and could keep it.
func (s *Service) spend(ctx context.Context, a away) error {
	sum := sha256.Sum256([]byte(a.State))
	return s.DB.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) error {
		n, err := tx.Exec(`INSERT INTO sign_in_state (state_hash, ends_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
			hex.EncodeToString(sum[:]), a.Until)
		if err == nil && n == 0 {
			err = ErrEnded
		}
		return err
	})
}

// sweepStates deletes the states that would have ended by themselves.
func (s *Service) sweepStates(ctx context.Context, now time.Time) error {
	if !s.OpenID.On() {
		return nil
	}
	return s.DB.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) error {
		return tx.Do(`DELETE FROM sign_in_state WHERE ends_at <= $1`, now.Unix())
	})
}

// claims exchanges a code for the provider's claims about the person.
func (s *Service) claims(ctx context.Context, a away, code string, now time.Time) (c claims, err error) {
	p, err := s.discover()
	if err != nil {
		return c, err
	}
	ctx = oidc.ClientContext(ctx, s.OpenID.Client)
	token, err := s.oauth(p).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return c, s.providerFailed("token", err)
	}
	raw, _ := token.Extra("id_token").(string)
	verifier := p.VerifierContext(ctx, &oidc.Config{ClientID: s.OpenID.ClientID, Now: func() time.Time { return now }})
	verified, err := verifier.Verify(ctx, raw)
	if err != nil {
		return c, s.providerFailed("ID token", err)
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(a.Nonce)) != 1 {
		return c, s.providerFailed("ID token", errors.New("the nonce is another"))
	}
	if verified.Subject == "" || len(verified.Subject) > maxSubject { // all persons without an identifier would be one
		return c, s.providerFailed("ID token", fmt.Errorf("its sub must have 1 to %d characters, got %d", maxSubject, len(verified.Subject)))
	}
	if err := c.read(verified.Claims, s.OpenID.Claim); err != nil {
		return c, s.providerFailed("ID token", err)
	}
	c.subject = verified.Subject
	if c.Email != "" || p.UserInfoEndpoint() == "" {
		return c, nil
	}
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil || info.Subject != c.subject { // another person's profile must not count
		return c, s.providerFailed("user info", errors.Join(err, errors.New("it cannot be read, or is of another person")))
	}
	if err := c.read(info.Claims, s.OpenID.Claim); err != nil {
		return c, s.providerFailed("user info", err)
	}
	return c, nil
}

// maxSubject is the longest identifier of a person at a provider, as OpenID Connect Core 1.0 has it.
const maxSubject = 255

// claims holds the provider's claims about a person.
type claims struct {
	subject       string
	Email         string `json:"email"`
	EmailVerified any    `json:"email_verified"` // some providers send a text
	Name          string `json:"name"`
	Nickname      string `json:"preferred_username"`
	ZoneInfo      any    `json:"zoneinfo"` // a name of the IANA database
	groups        []string
}

func (c *claims) read(decode func(any) error, group string) error {
	var all map[string]any
	if err := errors.Join(decode(c), decode(&all)); err != nil {
		return err
	}
	switch v := all[group].(type) {
	case string:
		c.groups = []string{v}
	case []any:
		for _, one := range v {
			if text, ok := one.(string); ok {
				c.groups = append(c.groups, text)
			}
		}
	}
	return nil
}

// verified reports whether the provider has verified that the e-mail address is the person's.
func (c *claims) verified() bool { return c.EmailVerified == true || c.EmailVerified == "true" }
