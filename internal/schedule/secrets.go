package schedule

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/platform/secret"
)

// passage is a way for secrets to go: into the database, out of it, or nowhere.
type passage struct {
	text  func(secret, place string) (string, error)                       // for the members that are known
	other func(value jsontext.Value, place string) (jsontext.Value, error) // for those that are not
}

// through returns the notification with every secret put through a passage, which is told where the secret
// is stored. It leaves n as it is.
func (n *Notify) through(p passage, of Stamps) (*Notify, error) {
	if n == nil || n.Webhooks == nil {
		return n, nil
	}
	s, hooks := *n, slices.Clone(*n.Webhooks)
	for i := range hooks {
		w := &hooks[i].Settings
		webhook := fmt.Sprintf("account/%d/schedule/%d/webhooks/%d/", of.AccountID, of.ScheduleID, i)
		for _, secret := range []struct {
			name string
			at   *string
		}{{"token", &w.Token}, {"verify_token", &w.VerifyToken}, {"sign_secret", &w.SignSecret}} {
			if *secret.at == "" {
				continue
			}
			var err error
			if *secret.at, err = p.text(*secret.at, webhook+secret.name); err != nil {
				return nil, err
			}
		}
		w.Others = maps.Clone(w.Others)
		for name, value := range w.Others {
			if !secretive(name, value) {
				continue
			}
			var err error
			if w.Others[name], err = p.other(value, webhook+"others/"+name); err != nil {
				return nil, err
			}
		}
	}
	s.Webhooks = &hooks
	return &s, nil
}

// sealed returns a notification as it is stored.
func (n *Notify) sealed(keyring *secret.Keyring, of Stamps) (*Notify, error) {
	return n.through(passage{keyring.Seal, func(value jsontext.Value, place string) (jsontext.Value, error) {
		return sealOther(keyring, value, place)
	}}, of)
}

// opened returns a stored notification in clear. open is secret.Keyring.Open, or Show where people see it.
func (n *Notify) opened(open secret.Renew, of Stamps) (*Notify, error) {
	return n.through(passage{open, func(value jsontext.Value, place string) (jsontext.Value, error) { return openOther(open, value, place) }},
		of)
}

// blanked returns a stored notification without its secrets.
func (n *Notify) blanked() *Notify {
	blank := func(stored, _ string) (string, error) { return secret.Masked(stored), nil }
	s, _ := n.through(passage{blank, func(jsontext.Value, string) (jsontext.Value, error) { return jsontext.Value(`""`), nil }}, Stamps{})
	return s
}

// shown returns a stored notification as it is shown: in clear to those who may see its secrets, without
// them to others. One that is not set has every member null.
func (n *Notify) shown(open secret.Renew, of Stamps, secrets bool) (*Notify, error) {
	if n == nil {
		return &Notify{}, nil
	}
	if secrets {
		return n.opened(open, of)
	}
	return n.blanked(), nil
}
