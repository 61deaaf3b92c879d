package schedule

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/platform/secret"
)

// transform converts secrets: it seals, opens or masks them. context is where a secret is stored; it is authenticated with
// the sealed value, so that a secret cannot be moved to another schedule.
type transform struct {
	text  func(secret, context string) (string, error)                       // for known members
	other func(value jsontext.Value, context string) (jsontext.Value, error) // for unknown members
}

// transformSecrets returns a copy of the notification in which every secret is transformed.
func (n *Notify) transformSecrets(p transform, of Stamps) (*Notify, error) {
	if n == nil || n.Webhooks == nil {
		return n, nil
	}
	s, hooks := *n, slices.Clone(*n.Webhooks)
	for i := range hooks {
		w := &hooks[i].Settings
		webhook := fmt.Sprintf("account/%d/schedule/%d/webhooks/%d/", of.AccountID, of.ScheduleID, i)
		for _, secret := range []struct {
			name string
			at   **string
		}{{"token", &w.Token}, {"verify_token", &w.VerifyToken}, {"sign_secret", &w.SignSecret}} {
			if *secret.at == nil || **secret.at == "" {
				continue
			}
			text, err := p.text(**secret.at, webhook+secret.name)
			if err != nil {
				return nil, err
			}
			*secret.at = &text // the notification that is copied keeps its own
		}
		w.Others = maps.Clone(w.Others)
		for name, value := range w.Others {
			if !mayHoldCredential(name, value) {
				continue
			}
			var err error
			w.Others[name], err = p.other(value, webhook+"others/"+name)
			if err != nil {
				return nil, err
			}
		}
	}
	s.Webhooks = &hooks
	return &s, nil
}

// sealed returns the notification with sealed secrets, as it is stored.
func (n *Notify) sealed(keyring *secret.Keyring, of Stamps) (*Notify, error) {
	return n.transformSecrets(transform{keyring.Seal, func(value jsontext.Value, context string) (jsontext.Value, error) {
		return sealOther(keyring, value, context)
	}}, of)
}

// opened returns a stored notification in clear. open is secret.Keyring.Open, or Show where people see it.
func (n *Notify) opened(open secret.Renew, of Stamps) (*Notify, error) {
	return n.transformSecrets(transform{open, func(value jsontext.Value, context string) (jsontext.Value, error) {
		return openOther(open, value, context)
	}},
		of)
}

// withoutSecrets returns a stored notification with empty secrets.
func (n *Notify) withoutSecrets() *Notify {
	mask := func(stored, _ string) (string, error) { return secret.Masked(stored), nil }
	s, _ := n.transformSecrets(transform{mask, func(jsontext.Value, string) (jsontext.Value, error) { return jsontext.Value(`""`), nil }},
		Stamps{})
	return s
}

// shown returns a stored notification as the API shows it, with its secrets in clear if secrets is set, else without
// them. For a notification that is not set every member is null.
func (n *Notify) shown(open secret.Renew, of Stamps, secrets bool) (*Notify, error) {
	if n == nil {
		return &Notify{}, nil
	}
	if secrets {
		return n.opened(open, of)
	}
	return n.withoutSecrets(), nil
}
