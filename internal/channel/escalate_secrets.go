package channel

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/platform/secret"
)

// rewriteWebhooks passes every secret of the webhooks' settings through fn. It leaves what it was given as
// it is and puts copies in its place.
func rewriteWebhooks(r *EscalateRule, fn func(place, text string) (string, error)) error {
	r.Layers = slices.Clone(r.Layers)
	for i := range r.Layers {
		hooks := slices.Clone(r.Layers[i].Target.Webhooks)
		for j := range hooks {
			hooks[j].Settings = maps.Clone(hooks[j].Settings)
			for name, stored := range hooks[j].Settings {
				s, secret := secretOf(name, stored)
				if !secret {
					continue
				}
				text, err := fn(settingPlace(i, j, name), s.text)
				if err != nil {
					return err
				}
				if hooks[j].Settings[name], err = s.with(text); err != nil {
					return err
				}
			}
		}
		r.Layers[i].Target.Webhooks = hooks
	}
	return nil
}

// settingPlace says where a setting is stored, in the name that its secret is sealed for.
func settingPlace(layer, webhook int, name string) string {
	return fmt.Sprintf("layers/%d/webhooks/%d/%s", layer, webhook, name)
}

// secretMember is a setting that holds a secret. A text is sealed as it is; any other value as its JSON text,
// under a name that tells it from a text when it is opened.
type secretMember struct {
	text  string
	whole bool // text is JSON
}

// wrapped is how a value that is not a text is stored once it is sealed.
type wrapped struct {
	Sealed string `json:"sealed_json"`
}

// secretOf finds out what of a setting is secret, whether it is sealed already or not: all of it, when its
// name, or the name or text of anything in it, is that of a credential or an address.
func secretOf(name string, v jsontext.Value) (secretMember, bool) {
	if v.Kind() == '"' {
		text := unquoted(v)
		return secretMember{text: text}, secret.Secretive(name, text)
	}
	if w, ok := unwrapped(v); ok {
		return secretMember{text: w, whole: true}, true
	}
	return secretMember{text: string(v), whole: true}, secretive(name, v)
}

// with is the setting with another text in its place.
func (s secretMember) with(text string) (jsontext.Value, error) {
	switch {
	case text == "" || !s.whole:
		return json.Marshal(text)
	case secret.IsSealed(text):
		return json.Marshal(wrapped{text})
	}
	return jsontext.Value(text), nil
}

func unwrapped(v jsontext.Value) (text string, ok bool) {
	var w wrapped
	if v.Kind() != '{' || json.Unmarshal(v, &w, json.RejectUnknownMembers(true)) != nil {
		return "", false
	}
	return w.Sealed, secret.IsSealed(w.Sealed)
}

// secretive tells whether anything in a value may be a credential. What cannot be one, null, a boolean or
// an empty text, never is.
func secretive(name string, v jsontext.Value) bool {
	return holdsSecret(jsontext.NewDecoder(bytes.NewReader(v)), namesSecret(name))
}

func namesSecret(name string) bool { return secret.Secretive(name, "anything") }

// holdsSecret reads one value. hidden tells that it stands under the name of a credential.
func holdsSecret(d *jsontext.Decoder, hidden bool) bool {
	token, err := d.ReadToken()
	if err != nil {
		return true
	}
	switch token.Kind() {
	case 'n', 't', 'f':
		return false
	case '"':
		text := token.String()
		return text != "" && hidden || secret.Secretive("", text)
	case '[':
		for d.PeekKind() != ']' {
			if holdsSecret(d, hidden) {
				return true
			}
		}
	case '{':
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil || holdsSecret(d, hidden || namesSecret(name.String())) {
				return true
			}
		}
	default:
		return hidden
	}
	_, err = d.ReadToken()
	return err != nil
}

func unquoted(v jsontext.Value) (text string) {
	_ = json.Unmarshal(v, &text) // a string that was read before
	return text
}

// sealEscalate seals what was sent. A secret that comes back as the empty text it is shown as to readers
// keeps the value that is stored, as long as the webhook at its place is of the same type.
func sealEscalate(keyring *secret.Keyring, c *api.Call, stored, sent *EscalateRule) error {
	if stored != nil {
		old := *stored
		if err := Escalates.Show(keyring, c.Who.AccountID, &old, c.Report); err != nil {
			return err
		}
		keepBlanked(&old, sent)
	}
	return Escalates.Seal(keyring, c.Who.AccountID, sent)
}

// keepBlanked puts the secrets of the old rule, in clear, where the new one has an empty text.
func keepBlanked(old, sent *EscalateRule) {
	for i := range min(len(old.Layers), len(sent.Layers)) {
		before, after := old.Layers[i].Target.Webhooks, sent.Layers[i].Target.Webhooks
		for j := range min(len(before), len(after)) {
			if before[j].Type != after[j].Type {
				continue
			}
			for name, v := range before[j].Settings {
				if _, secret := secretOf(name, v); secret && string(after[j].Settings[name]) == `""` {
					after[j].Settings[name] = v
				}
			}
		}
	}
}
