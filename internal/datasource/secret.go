package datasource

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"tocsin/internal/platform/secret"
)

// sealed returns a copy of the payload with its secrets sealed, as it is stored.
func (p *Payload) sealed(keyring *secret.Keyring, account int64, id uint64) (*Payload, error) {
	return p.rewritten(func(name, plain string) (string, error) { return keyring.Seal(plain, secretContext(account, id, name)) })
}

// opened returns a copy of the stored payload with its secrets in clear. open is secret.Keyring.Open, or Show for people.
func (p *Payload) opened(open secret.Renew, account int64, id uint64) (*Payload, error) {
	return p.rewritten(func(name, text string) (string, error) { return open(text, secretContext(account, id, name)) })
}

// blanked returns a copy of the stored payload without its secrets, for callers who may not read them.
func (p *Payload) blanked() *Payload {
	blank, _ := p.rewritten(func(_, text string) (string, error) { return secret.Masked(text), nil })
	return blank
}

// secretContext returns the associated data of a sealed secret, so that it opens in its own member only.
func secretContext(account int64, id uint64, name string) string {
	return fmt.Sprintf("datasource/%d/%d/%s", account, id, name)
}

// rewritten returns a copy of the payload in which every secret is replaced by the result of fn. name identifies a
// secret within the payload.
func (p *Payload) rewritten(fn func(name, text string) (string, error)) (*Payload, error) {
	c := *p
	return &c, rewrite(reflect.ValueOf(&c).Elem(), fn)
}

// rewrite replaces the secrets of a struct, of its embedded structs, and of copies of the structs it points to. The tag
// secret:"value" marks a secret; any other secret tag is a separator: each item of the list is a name,
// the separator and a secret.
func rewrite(v reflect.Value, fn func(name, text string) (string, error)) error {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		if value.Kind() == reflect.Struct {
			if err := rewrite(value, fn); err != nil {
				return err
			}
			continue
		}
		if value.IsZero() || value.Kind() == reflect.String {
			continue
		}
		switch tag := field.Tag.Get("secret"); {
		case tag == "value":
			text, err := fn(jsonName(field), value.Elem().String())
			if err != nil {
				return err
			}
			value.Set(reflect.ValueOf(&text))
		case tag != "":
			items, err := rewriteItems(jsonName(field), value.Interface().([]string), tag, fn)
			if err != nil {
				return err
			}
			value.Set(reflect.ValueOf(items))
		case value.Kind() == reflect.Pointer && value.Elem().Kind() == reflect.Struct:
			c := reflect.New(value.Elem().Type())
			c.Elem().Set(value.Elem())
			if err := rewrite(c.Elem(), fn); err != nil {
				return err
			}
			value.Set(c)
		}
	}
	return nil
}

func rewriteItems(name string, items []string, separator string, fn func(name, text string) (string, error)) ([]string, error) {
	made := make([]string, len(items))
	for i, item := range items {
		secret := item[strings.Index(item, separator)+1:]
		secret = strings.TrimLeftFunc(secret, unicode.IsSpace) // the space after "Key:" is not part of it
		text, err := fn(fmt.Sprintf("%s/%d", name, i), secret)
		if err != nil {
			return nil, err
		}
		made[i] = strings.TrimSuffix(item, secret) + text
	}
	return made, nil
}
