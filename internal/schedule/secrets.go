package schedule

import (
	"fmt"
	"slices"

	"tocsin/internal/seal"
)

// withSecrets returns the notification with every secret put through change, which is told where the
// secret is stored. It leaves n as it is.
func (n *Notify) withSecrets(of Stamps, change func(secret, place string) (string, error)) (*Notify, error) {
	if n == nil || n.Webhooks == nil {
		return n, nil
	}
	s, hooks := *n, slices.Clone(*n.Webhooks)
	for i := range hooks {
		w := &hooks[i].Settings
		for _, secret := range []struct {
			name string
			at   *string
		}{{"token", &w.Token}, {"verify_token", &w.VerifyToken}, {"sign_secret", &w.SignSecret}} {
			if *secret.at == "" {
				continue
			}
			place := fmt.Sprintf("account/%d/schedule/%d/webhooks/%d/%s", of.AccountID, of.ScheduleID, i, secret.name)
			var err error
			if *secret.at, err = change(*secret.at, place); err != nil {
				return nil, err
			}
		}
	}
	s.Webhooks = &hooks
	return &s, nil
}

// sealed returns a notification as it is stored.
func (n *Notify) sealed(box *seal.Box, of Stamps) (*Notify, error) {
	return n.withSecrets(of, box.Seal)
}

// shown returns a stored notification as it is shown: in clear to those who may see its secrets, without
// them to others. One that is not set has every member null.
func (n *Notify) shown(box *seal.Box, of Stamps, secrets bool) (*Notify, error) {
	if n == nil {
		return &Notify{}, nil
	}
	if secrets {
		return n.withSecrets(of, box.Open)
	}
	return n.withSecrets(of, func(stored, _ string) (string, error) { return seal.Blank(stored), nil })
}
