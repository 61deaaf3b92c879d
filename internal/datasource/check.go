package datasource

import (
	"slices"
	"strings"
	"unicode"

	"tocsin/internal/configstore"
)

// Bounds of the free texts, in characters.
const (
	maxName = 255
	maxText = 4096
)

// check checks a whole datasource against the rules of the specification, 4.4.
func (d Item) check(at configstore.RecordPath) error {
	if err := configstore.FirstError(
		at.OneOf("type_ident", d.TypeIdent, typeIdents...),
		at.Length("name", d.Name, 1, maxName), at.Length("note", d.Note, 0, maxText),
		at.Length("address", d.Address, 0, maxText), at.Length("edge_cluster_name", d.EdgeClusterName, 1, maxName),
	); err != nil {
		return err
	}
	inner := at.Member("payload").Member(d.TypeIdent)
	_, block := d.Payload.only(d.TypeIdent)
	if block == nil {
		return inner.Invalid("", "is required with type_ident %s", d.TypeIdent)
	}
	if err := block.check(inner); err != nil {
		return err
	}
	if d.Address == "" {
		if e, ok := block.(*Elasticsearch); ok && e.Deployment == "cloud" {
			return nil // found by its cloud_id
		}
		return at.Invalid("address", "is required with type_ident %s", d.TypeIdent)
	}
	if err := addressRules[d.TypeIdent](d.Address); err != nil {
		return at.Invalid("address", "%v", err)
	}
	return nil
}

// complete returns a fault if a client certificate has no key. Callers must send the key; a payload of an export
// without secrets has none and is not checked by this.
func (p Payload) complete(typeIdent string) error {
	_, block := p.only(typeIdent)
	if b, ok := block.(interface {
		pair(at configstore.RecordPath) error
	}); ok {
		return b.pair(configstore.RecordPath("payload").Member(typeIdent))
	}
	return nil
}

func (b HTTP) check(at configstore.RecordPath) error {
	return configstore.FirstError(headers(at, b.Headers), params(at, b.Params), b.TLS.check(at))
}

func (b MySQL) check(at configstore.RecordPath) error {
	return configstore.FirstError(b.Pool.check(at), oneOf(at, "tls_mode", b.TLSMode, "disable", "require", "verify-full"), b.TLS.check(at))
}

func (b Oracle) check(at configstore.RecordPath) error { return b.Pool.check(at) }

func (b Postgres) check(at configstore.RecordPath) error {
	return configstore.FirstError(b.Pool.check(at), oneOf(at, "ssl_mode", b.SSLMode, "disable", "require", "verify-ca", "verify-full"))
}

func (b ClickHouse) check(at configstore.RecordPath) error {
	return configstore.FirstError(b.Pool.check(at), notNegative(at, "max_execution_seconds", b.MaxExecutionSeconds),
		notNegative(at, "dial_timeout_mills", b.DialTimeoutMills), b.TLS.check(at))
}

func (b Elasticsearch) check(at configstore.RecordPath) error {
	return configstore.FirstError(at.OneOf("deployment", b.Deployment, "cloud", "self-managed"),
		notNegative(at, "timeout_mills", b.TimeoutMills), headers(at, b.Headers))
}

func (b SLS) check(at configstore.RecordPath) error { return headers(at, b.Headers) }

func (p Pool) check(at configstore.RecordPath) error {
	return configstore.FirstError(notNegative(at, "open_conns", p.OpenConns), notNegative(at, "idle_conns", p.IdleConns),
		notNegative(at, "lifetime_seconds", p.LifetimeSeconds), notNegative(at, "timeout_mills", p.TimeoutMills))
}

var tlsVersions = []string{"1.0", "1.1", "1.2", "1.3"}

func (t TLS) check(at configstore.RecordPath) error {
	err := configstore.FirstError(oneOf(at, "tls_min_version", t.TLSMinVersion, tlsVersions...),
		oneOf(at, "tls_max_version", t.TLSMaxVersion, tlsVersions...))
	if low, high := value(t.TLSMinVersion), value(t.TLSMaxVersion); err == nil && high != "" && low > high {
		return at.Invalid("tls_max_version", "must not be below tls_min_version %s, got %s", low, high)
	}
	return err
}

func (c Certificates) pair(at configstore.RecordPath) error {
	switch cert, key := value(c.TLSCert) != "", value(c.TLSKey) != ""; {
	case cert && !key:
		return at.Invalid("tls_key", "is required together with tls_cert")
	case key && !cert:
		return at.Invalid("tls_cert", "is required together with tls_key")
	}
	return nil
}

// headers checks request headers, each "Key: Value". A malformed one would fail every request, or inject a second
// header. The values are secret and not repeated in the fault.
func headers(at configstore.RecordPath, items []string) error {
	i := slices.IndexFunc(items, func(item string) bool {
		name, value, ok := strings.Cut(item, ":")
		return !ok || name == "" || strings.ContainsFunc(name, notInToken) || strings.ContainsFunc(value, unicode.IsControl)
	})
	if i < 0 {
		return nil
	}
	return at.Element("headers", i).Invalid("", "must be the name of an HTTP header, a colon and a value without control characters")
}

// notInToken reports whether the name of a header must not contain a character (RFC 9110, 5.6.2).
func notInToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// params checks query parameters, each "key=value". The values are secret and not repeated in the fault.
func params(at configstore.RecordPath, items []string) error {
	i := slices.IndexFunc(items, func(item string) bool {
		name, _, ok := strings.Cut(item, "=")
		return !ok || name == ""
	})
	if i < 0 {
		return nil
	}
	return at.Element("params", i).Invalid("", "must be a name, an equals sign and a value")
}

// oneOf checks that a member is one of the choices. Unset and empty are accepted: both leave the choice to the connection.
func oneOf(at configstore.RecordPath, member string, given *string, choices ...string) error {
	if v := value(given); v != "" {
		return at.OneOf(member, v, choices...)
	}
	return nil
}

func notNegative(at configstore.RecordPath, member string, given *int64) error {
	if given != nil {
		return at.AtLeast(member, *given, 0)
	}
	return nil
}

func value(given *string) string {
	if given == nil {
		return ""
	}
	return *given
}
