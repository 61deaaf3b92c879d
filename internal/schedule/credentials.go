package schedule

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/platform/secret"
)

// mayHoldCredential reports whether an unknown member may hold a credential: by its name, by a member within it, or by a
// URL in it, because the address of a webhook is enough to write to the chat. A text that tries sealed counts too:
// otherwise a text sent in clear could pass for a sealed one once it is stored. Null, booleans, empty texts and
// references to secrets kept elsewhere never count.
func mayHoldCredential(name string, value jsontext.Value) bool {
	switch value.Kind() {
	case 'n', 't', 'f':
		return false
	case '"':
		return secret.Secretive(name, plain(value))
	case '{':
		members := map[string]jsontext.Value{}
		if json.Unmarshal(value, &members) != nil {
			return true
		}
		for name, member := range members {
			if mayHoldCredential(name, member) {
				return true
			}
		}
	case '[':
		var elements []jsontext.Value
		if json.Unmarshal(value, &elements) != nil {
			return true
		}
		for _, element := range elements {
			if mayHoldCredential(name, element) {
				return true
			}
		}
		return false
	}
	return isCredentialName(name)
}

// isCredentialName reports whether a name is that of a credential or of an address, whatever its value is.
func isCredentialName(name string) bool { return secret.Secretive(name, "anything") }

// plain returns the text of a JSON string.
func plain(value jsontext.Value) (text string) {
	_ = json.Unmarshal(value, &text) // the value is a string that was read before
	return text
}

// sealOther seals a value of any type: its JSON text, as a JSON string.
func sealOther(keyring *secret.Keyring, value jsontext.Value, context string) (jsontext.Value, error) {
	sealed, err := keyring.Seal(string(value), context)
	if err != nil {
		return nil, err
	}
	return json.Marshal(sealed)
}

// openOther opens a value that sealOther sealed. A value that an older version stored in clear is returned unchanged.
func openOther(open secret.Renew, value jsontext.Value, context string) (jsontext.Value, error) {
	if !isSealed(value) {
		return value, nil
	}
	text, err := open(plain(value), context)
	if text == "" {
		text = `""` // a secret that cannot be opened is shown as an empty text
	}
	return jsontext.Value(text), err
}

// isSealed reports whether a value is a sealed text.
func isSealed(value jsontext.Value) bool { return value.Kind() == '"' && secret.IsSealed(plain(value)) }
