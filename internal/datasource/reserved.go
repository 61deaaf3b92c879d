package datasource

import (
	"maps"
	"reflect"
	"slices"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// checkReserved returns a fault for the first member that refers to a variable of the server itself.
func (d Item) checkReserved(at configstore.RecordPath) error {
	if member, reference := d.reserved(at); reference != "" {
		return member.Invalid("", "must not refer to a variable whose name begins with TOCSIN_, which is the server's own, got %s", reference)
	}
	return nil
}

// reserved returns the first member that refers to a variable of the server itself, and the reference; empty: none does.
func (d Item) reserved(at configstore.RecordPath) (member configstore.RecordPath, reference string) {
	reference = secret.Reserved(d.Address)
	if reference != "" {
		return at.Member("address"), reference
	}
	return reservedIn(at.Member("payload"), reflect.ValueOf(d.Payload))
}

func reservedIn(at configstore.RecordPath, v reflect.Value) (member configstore.RecordPath, reference string) {
	switch v.Kind() {
	case reflect.String:
		return at, secret.Reserved(v.String())
	case reflect.Pointer:
		if !v.IsNil() {
			return reservedIn(at, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			member, reference = reservedIn(configstore.PathOf(string(at), i), v.Index(i))
			if reference != "" {
				return member, reference
			}
		}
	case reflect.Map: // the options of oracle
		options, _ := v.Interface().(map[string]string)
		for _, name := range slices.Sorted(maps.Keys(options)) {
			reference = secret.Reserved(options[name])
			if reference != "" {
				return at.Member(name), reference
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			inner := at
			if field := v.Type().Field(i); !field.Anonymous {
				inner = at.Member(jsonName(field))
			}
			member, reference = reservedIn(inner, v.Field(i))
			if reference != "" {
				return member, reference
			}
		}
	}
	return at, ""
}

// Refers is a stored datasource that refers to a variable of the server itself.
type Refers struct {
	ID        uint64
	Name      string
	Member    string // the path of the member
	Reference string
}

// Reserved returns the account's datasources that refer to a variable of the server itself, by id. A version before the
// names were refused may have stored them. A datasource whose secrets cannot be opened is checked without those.
func Reserved(tx *db.Tx, keyring *secret.Keyring, account int64) (list []Refers, err error) {
	items, err := db.All(tx, scanItem, `SELECT `+columns+` FROM datasource WHERE account_id = $1`, account)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(items, byID)
	for _, d := range items {
		d.Payload, err = d.Payload.opened(keyring.Show(func(error) {}), account, d.ID)
		if err != nil {
			return nil, fault.Wrap(err, "open the secrets of datasource %d", d.ID)
		}
		if member, reference := d.reserved(""); reference != "" {
			list = append(list, Refers{d.ID, d.Name, string(member), reference})
		}
	}
	return list, nil
}
