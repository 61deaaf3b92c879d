package schedule

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/platform/redact"
	"tocsin/internal/platform/secret"
)

// secretive tells whether a member that we do not know may hold a credential: by its name, by a URL in it,
// because whoever knows the address of a webhook can write to the chat, or by a member within it. So does
// whatever looks sealed, in order that nothing else does once it is stored. What cannot be a secret, null,
// a boolean, nothing, or a reference to one kept elsewhere, never is.
func secretive(name string, value jsontext.Value) bool {
	switch value.Kind() {
	case 'n', 't', 'f':
		return false
	case '"':
		text := plain(value)
		if text == "" || secret.IsReference(text) {
			return false
		}
		return named(name) || strings.Contains(text, "://") || secret.IsSealed(text)
	case '{':
		members := map[string]jsontext.Value{}
		if json.Unmarshal(value, &members) != nil {
			return true
		}
		for name, member := range members {
			if secretive(name, member) {
				return true
			}
		}
	case '[':
		var elements []jsontext.Value
		if json.Unmarshal(value, &elements) != nil {
			return true
		}
		for _, element := range elements {
			if secretive(name, element) {
				return true
			}
		}
		return false
	}
	return named(name)
}

// named tells names of credentials and of addresses.
func named(name string) bool {
	name = strings.ToLower(name)
	return redact.Hides(name) || strings.Contains(name, "url") || strings.Contains(name, "uri") || strings.Contains(name, "hook")
}

func plain(value jsontext.Value) (text string) {
	_ = json.Unmarshal(value, &text) // the value is a string that was read before
	return text
}

// sealOther seals a value of any type: its JSON text, as a JSON string.
func sealOther(keyring *secret.Keyring, value jsontext.Value, place string) (jsontext.Value, error) {
	sealed, err := keyring.Seal(string(value), place)
	if err != nil {
		return nil, err
	}
	return json.Marshal(sealed)
}

// openOther undoes sealOther. What an older version stored in clear stays as it is.
func openOther(open secret.Renew, value jsontext.Value, place string) (jsontext.Value, error) {
	if !isSealed(value) {
		return value, nil
	}
	text, err := open(plain(value), place)
	if text == "" {
		text = `""` // what is lost is shown as an empty text
	}
	return jsontext.Value(text), err
}

func isSealed(value jsontext.Value) bool { return value.Kind() == '"' && secret.IsSealed(plain(value)) }
