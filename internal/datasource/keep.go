package datasource

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// keeping gives a copy of the payload, its secrets in clear, in which every secret that is lacking has the
// value that the stored payload has, in clear too, if that has a block of the same type. The items of a
// list with secrets are lacking together when the list is, or else one by one, by their names.
//
// The key of a client certificate that is not there at all is kept only with a certificate: one without the
// other is of no use, and whoever takes the certificate away means both.
func (p *Payload) keeping(stored *Payload, lacking func(secret *string) bool) *Payload {
	c := *p
	keep(reflect.ValueOf(&c).Elem(), reflect.ValueOf(stored).Elem(), lacking)
	return &c
}

// unset tells that nothing was sent: an empty secret is sent to clear it.
func unset(secret *string) bool { return secret == nil }

func keep(to, from reflect.Value, lacking func(*string) bool) {
	for i := range to.NumField() {
		field, target, source := to.Type().Field(i), to.Field(i), from.Field(i)
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

// keepItems fills in the items that are a name without a secret.
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

// hasCertificate is asked of Certificates and of TLS, in which nothing else is secret.
func (c Certificates) hasCertificate() bool { return value(c.TLSCert) != "" }
