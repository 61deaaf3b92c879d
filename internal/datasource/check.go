package datasource

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tocsin/internal/fault"
)

// Bounds of the free texts, in characters.
const (
	maxName = 255
	maxText = 4096
)

// check holds a whole datasource against the rules; at is its path with a dot, empty for a request.
// The specification, 4.4.
func (d Item) check(at string) error {
	rule, ok := addressRules[d.TypeIdent]
	if !ok {
		return fault.Invalid(at+"type_ident", "must be one of %s, got %q", strings.Join(typeIdents, ", "), d.TypeIdent)
	}
	if err := first(
		text(at+"name", d.Name, 1, maxName), text(at+"note", d.Note, 0, maxText),
		text(at+"address", d.Address, 0, maxText), text(at+"edge_cluster_name", d.EdgeClusterName, 1, maxName),
	); err != nil {
		return err
	}
	inner := at + "payload." + d.TypeIdent
	_, block := d.Payload.only(d.TypeIdent)
	if block == nil {
		return fault.Invalid(inner, "is required with type_ident %s", d.TypeIdent)
	}
	if err := block.check(inner + "."); err != nil {
		return err
	}
	if e, ok := block.(*Elasticsearch); ok && e.Deployment == "cloud" {
		return nil // found by its cloud_id
	}
	if d.Address == "" {
		return fault.Invalid(at+"address", "is required with type_ident %s", d.TypeIdent)
	}
	if err := rule(d.Address); err != nil {
		return fault.Invalid(at+"address", "%v", err)
	}
	return nil
}

// complete asks of a payload that comes from a caller what one from an export without secrets cannot
// have: the key of its client certificate.
func (p Payload) complete(typeIdent string) error {
	_, block := p.only(typeIdent)
	if b, ok := block.(interface{ pair(at string) error }); ok {
		return b.pair("payload." + typeIdent + ".")
	}
	return nil
}

func (b HTTP) check(at string) error {
	return first(named(at+"headers", b.Headers, ":"), named(at+"params", b.Params, "="), b.TLS.check(at))
}

func (b MySQL) check(at string) error {
	return first(b.Pool.check(at), oneOf(at+"tls_mode", b.TLSMode, "disable", "require", "verify-full"), b.TLS.check(at))
}

func (b Oracle) check(at string) error { return b.Pool.check(at) }

func (b Postgres) check(at string) error {
	return first(b.Pool.check(at), oneOf(at+"ssl_mode", b.SSLMode, "disable", "require", "verify-ca", "verify-full"))
}

func (b ClickHouse) check(at string) error {
	return first(b.Pool.check(at), notNegative(at+"max_execution_seconds", b.MaxExecutionSeconds),
		notNegative(at+"dial_timeout_mills", b.DialTimeoutMills), b.TLS.check(at))
}

func (b Elasticsearch) check(at string) error {
	if b.Deployment != "cloud" && b.Deployment != "self-managed" {
		return fault.Invalid(at+"deployment", "must be cloud or self-managed, got %q", b.Deployment)
	}
	return first(notNegative(at+"timeout_mills", b.TimeoutMills), named(at+"headers", b.Headers, ":"))
}

func (b SLS) check(at string) error { return named(at+"headers", b.Headers, ":") }

func (p Pool) check(at string) error {
	return first(notNegative(at+"open_conns", p.OpenConns), notNegative(at+"idle_conns", p.IdleConns),
		notNegative(at+"lifetime_seconds", p.LifetimeSeconds), notNegative(at+"timeout_mills", p.TimeoutMills))
}

var tlsVersions = []string{"1.0", "1.1", "1.2", "1.3"}

func (t TLS) check(at string) error {
	err := first(oneOf(at+"tls_min_version", t.TLSMinVersion, tlsVersions...), oneOf(at+"tls_max_version", t.TLSMaxVersion, tlsVersions...))
	if low, high := value(t.TLSMinVersion), value(t.TLSMaxVersion); err == nil && high != "" && low > high {
		return fault.Invalid(at+"tls_max_version", "must not be below tls_min_version %s, got %s", low, high)
	}
	return err
}

func (c Certificates) pair(at string) error {
	switch cert, key := value(c.TLSCert) != "", value(c.TLSKey) != ""; {
	case cert && !key:
		return fault.Invalid(at+"tls_key", "is required together with tls_cert")
	case key && !cert:
		return fault.Invalid(at+"tls_cert", "is required together with tls_key")
	}
	return nil
}

// named checks a list whose items are a name, a separator and a value. The values are secret.
func named(field string, items []string, separator string) error {
	for i, item := range items {
		name, _, ok := strings.Cut(item, separator)
		if !ok || strings.TrimSpace(name) == "" {
			return fault.Invalid(fmt.Sprintf("%s[%d]", field, i), "must be a name, %q and a value", separator)
		}
	}
	return nil
}

// oneOf accepts unset and empty as well: both leave the choice to the connection.
func oneOf(field string, given *string, choices ...string) error {
	if v := value(given); v != "" && !slices.Contains(choices, v) {
		return fault.Invalid(field, "must be one of %s, got %q", strings.Join(choices, ", "), v)
	}
	return nil
}

func notNegative(field string, given *int64) error {
	if given != nil && *given < 0 {
		return fault.Invalid(field, "must be at least 0, got %d", *given)
	}
	return nil
}

func text(field, given string, least, most int) error {
	if n := utf8.RuneCountInString(given); n < least || n > most {
		return fault.Invalid(field, "must have %d to %d characters, got %d", least, most, n)
	}
	return nil
}

func value(given *string) string {
	if given == nil {
		return ""
	}
	return *given
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
