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

// rewriteWebhooks passes every secret of the webhooks' settings through fn. It writes to copies, so that
// other holders of the same layers keep theirs unchanged.
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
				hooks[j].Settings[name], err = s.with(text)
				if err != nil {
					return err
				}
			}
		}
		r.Layers[i].Target.Webhooks = hooks
	}
	return nil
}

// settingPlace returns the context of a sealed setting: its path in the rule. A sealed secret opens in no
// other setting.
func settingPlace(layer, webhook int, name string) string {
	return fmt.Sprintf("layers/%d/webhooks/%d/%s", layer, webhook, name)
}

// secretMember is a setting that holds a secret. A text is sealed as it is. Any other value is sealed as its JSON
// text, wrapped in an object that distinguishes it from a text when it is opened.
type secretMember struct {
	text  string
	whole bool // text is JSON
}

// wrapped is the stored form of a sealed value that is not a text.
type wrapped struct {
	Sealed string `json:"sealed_json"`
}

// secretOf reports whether a setting is secret, sealed or not, and returns the secret. All of a setting is
// secret when its name, or a name or text in it, is that of a credential or an address.
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

// with returns the setting with another text in place of the secret.
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

// secretive reports whether anything in a value may be a credential. null, a boolean and an empty text never
// are.
func secretive(name string, v jsontext.Value) bool {
	return holdsSecret(jsontext.NewDecoder(bytes.NewReader(v)), namesSecret(name))
}

func namesSecret(name string) bool { return secret.Secretive(name, "anything") }

// holdsSecret reads one value and reports whether it holds a secret. hidden means that the value is under the
// name of a credential. A value that cannot be read counts as a secret.
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

// seal seals the secrets of the rule that was sent. Readers see a secret as an empty text. An empty text that
// is sent back keeps the stored secret, if the webhook at its index is still of the same type.
func (e escalateRules) seal(c *api.Call, stored, sent *EscalateRule) error {
	if stored != nil {
		old := *stored
		if err := Escalates.Show(e.keyring, c.Who.AccountID, &old, c.Report); err != nil {
			return err
		}
		keepBlanked(&old, sent)
	}
	return Escalates.Seal(e.keyring, c.Who.AccountID, sent)
}

// keepBlanked copies the secrets of the old rule, in clear, to where the new rule has an empty text.
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
