package datasource

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// keeping returns a copy of the payload in which every missing secret has the value of the stored payload, if that
// has a block of the same type. Both payloads hold their secrets in clear. lacking reports whether a secret is
// missing. The items of a list with secrets are missing together if the list is, else one by one, by their names.
//
// An absent key of a client certificate is kept only with a certificate: one is of no use without the other, and a
// caller who clears the certificate means both.
func (p *Payload) keeping(stored *Payload, lacking func(secret *string) bool) *Payload {
	c := *p
	keep(reflect.ValueOf(&c).Elem(), reflect.ValueOf(stored).Elem(), lacking)
	return &c
}

// unset reports whether a secret was not sent. An empty secret is sent to clear the stored one.
func unset(secret *string) bool { return secret == nil }

func keep(to, from reflect.Value, lacking func(*string) bool) {
	for i := range to.NumField() {
		field := to.Type().Field(i)
		target := to.Field(i)
		source := from.Field(i)
		switch tag := field.Tag.Get("secret"); {
		case target.Kind() == reflect.Struct:
			within := lacking
			if c, ok := target.Interface().(interface{ hasCertificate() bool }); ok && !c.hasCertificate() {
				within = func(secret *string) bool { return secret != nil && lacking(secret) }
			}
			keep(target, source, within)
		case tag == "value":
			if lacking(target.Interface().(*string)) && !source.IsNil() {
				target.Set(source)
			}
		case tag != "" && target.IsNil():
			if lacking(nil) {
				target.Set(source)
			}
		case tag != "" && lacking(new(string)):
			target.Set(reflect.ValueOf(keepItems(target.Interface().([]string), source.Interface().([]string), tag)))
		case target.Kind() == reflect.Pointer && target.Type().Elem().Kind() == reflect.Struct && !target.IsNil() && !source.IsNil():
			block := reflect.New(target.Type().Elem())
			block.Elem().Set(target.Elem())
			keep(block.Elem(), source.Elem(), lacking)
			target.Set(block)
		}
	}
}

// keepItems sets the secret of the items that have a name only, from the stored item of that name.
func keepItems(items, stored []string, separator string) []string {
	filled := slices.Clone(items)
	for i, item := range items {
		if name, ok := strings.CutSuffix(strings.TrimRightFunc(item, unicode.IsSpace), separator); ok {
			same := func(s string) bool { return strings.HasPrefix(s, name+separator) }
			if j := slices.IndexFunc(stored, same); j >= 0 {
				filled[i] = stored[j]
			}
		}
	}
	return filled
}

// hasCertificate reports whether there is a client certificate. TLS has it too, by embedding.
func (c Certificates) hasCertificate() bool { return value(c.TLSCert) != "" }
