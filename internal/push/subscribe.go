package push

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// Keys are what messages to a browser are encrypted with.
type Keys struct {
	P256dh string `json:"p256dh" minLength:"80" maxLength:"100" secret:"value" doc:"The browser's public key, in base64url."`
	Auth   string `json:"auth" minLength:"20" maxLength:"30" secret:"value" doc:"The secret that the browser shares, 16 bytes in base64url."`
}

// SubscribeRequest is a browser to add.
type SubscribeRequest struct {
	Endpoint string `json:"endpoint" minLength:"1" maxLength:"2048" secret:"url" doc:"Where messages to the browser go: an https URL of its push service."`
	Keys     Keys   `json:"keys" doc:"The browser's keys."`
	Name     string `json:"name,omitzero" maxLength:"100" doc:"What people call the browser; absent: the host of its push service."`
}

// Subscribed is the reply to /person/push/subscribe.
type Subscribed struct {
	SubscriptionID int64 `json:"subscription_id" doc:"The browser."`
}

func (r *Service) subscribe(c *api.Call, in SubscribeRequest) (reply Subscribed, err error) {
	if c.Who.Narrowed && c.Who.Owner {
		return reply, fault.Denied("this key is narrowed and cannot change where the account's owner is notified")
	}
	target := Target{in.Endpoint, in.Keys.P256dh, in.Keys.Auth}
	s := Subscription{AccountID: c.Who.AccountID, PersonID: c.Who.PersonID, Digest: Digest(in.Endpoint), Name: in.Name, CreatedAt: c.Unix()}
	s.Host, err = target.check()
	if err != nil {
		return reply, err
	}
	if s.Name == "" {
		s.Name = s.Host
	}
	s.PublicKey, err = PublicKey(c.Tx)
	if err != nil {
		return reply, err
	}
	old, found, err := db.One(c.Tx, scanned, `SELECT `+columns+` FROM push_subscription WHERE account_id = $1 AND digest = $2`,
		s.AccountID, s.Digest)
	if err != nil {
		return reply, err
	}
	if found {
		if err := r.replaces(target, old, s.PersonID); err != nil {
			return reply, err
		}
		if err := Remove(c.Tx, s.AccountID, old.ID); err != nil {
			return reply, err
		}
	}
	own, err := Of(c.Tx, s.AccountID, s.PersonID)
	if err != nil {
		return reply, err
	}
	if len(own) >= MaxBrowsers {
		return reply, fault.New(fault.Conflict, "a person has at most %d browsers: remove one that is not used any more", MaxBrowsers)
	}
	s.ID = id.Number()
	if found && old.PersonID == s.PersonID {
		s.ID = old.ID // notifications that wait for the browser find it
	}
	c.Touched(configstore.Person, s.PersonID, "")
	return Subscribed{s.ID}, r.insert(c.Tx, s, target)
}

// replaces returns an error if a target is not that of the browser which has its endpoint already: who knows an endpoint,
// and not the keys of its browser, must not take it from another person.
func (r *Service) replaces(target Target, old Subscription, person int64) error {
	known, err := old.Open(r.Keyring)
	if err != nil || old.PersonID == person || known == target {
		return nil //nolint:nilerr // one that cannot be opened is of no use to anyone
	}
	return fault.New(fault.Conflict, "another person receives notifications at this endpoint, with other keys")
}

// Put stores a browser under its id. That of another endpoint with the same id must not exist.
func (r *Service) Put(tx *db.Tx, s Subscription, target Target) (err error) {
	s.Digest = Digest(target.Endpoint)
	s.Host, err = target.check()
	if err != nil {
		return err
	}
	s.PublicKey, err = PublicKey(tx)
	if err != nil {
		return err
	}
	return r.insert(tx, s, target)
}

func (r *Service) insert(tx *db.Tx, s Subscription, target Target) error {
	plain, err := json.Marshal(target)
	if err != nil {
		return err
	}
	sealed, err := r.Keyring.Seal(string(plain), s.context())
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO push_subscription (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, '')`,
		s.AccountID, s.ID, s.PersonID, s.Digest, s.Name, s.Host, sealed, s.PublicKey, s.CreatedAt)
}
