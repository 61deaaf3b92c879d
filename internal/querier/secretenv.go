package querier

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"tocsin/internal/core/evaluate"
)

// SecretEnv lists, for variables of the environment that datasources may refer to, the hosts that may receive their values.
// Without the hosts, a person who manages datasources could have the program's environment sent to any address.
type SecretEnv map[string][]string

var (
	variable  = regexp.MustCompile(`\A[A-Z_][A-Z0-9_]*\z`)
	reference = regexp.MustCompile(`\$\{env:([^}]*)\}`)
)

// ParseSecretEnv reads a list of NAME=host or NAME=host:port.
func ParseSecretEnv(list []string) (SecretEnv, error) {
	env := SecretEnv{}
	for _, text := range list {
		name, host, _ := strings.Cut(text, "=")
		switch {
		case !variable.MatchString(name) || host == "" || strings.ContainsAny(host, "/@ *"):
			return nil, fmt.Errorf("%q: want NAME=host, such as PROMETHEUS_PASSWORD=prometheus.example.com", text)
		case strings.HasPrefix(name, "TOCSIN_"):
			return nil, fmt.Errorf("%q: variables whose names begin with TOCSIN_ are the server's own", text)
		}
		env[name] = append(env[name], strings.ToLower(host))
	}
	return env, nil
}

// Set returns the part of the list whose variables this process has.
func (e SecretEnv) Set() SecretEnv {
	set := SecretEnv{}
	for name, hosts := range e {
		if _, has := os.LookupEnv(name); has {
			set[name] = hosts
		}
	}
	return set
}

// Refused returns why a variable to which the datasource refers is not resolved by a process with this list, which has all
// variables of it; empty: all are, or the list is not known.
func (e SecretEnv) Refused(d Datasource) string {
	if e == nil {
		return ""
	}
	if _, failed := e.resolve(d, func(string) (string, bool) { return "", true }); failed != nil {
		return failed.Message
	}
	return ""
}

// resolve returns the datasource with the values of the variables that it refers to. A reference that is not listed for every
// host of the datasource is a failure.
func (e SecretEnv) resolve(d Datasource, value func(name string) (string, bool)) (Datasource, *evaluate.Failure) {
	if !strings.Contains(d.Address, "${env:") && !strings.Contains(string(d.Payload), "${env:") {
		return d, nil
	}
	var payload any
	if err := json.Unmarshal(d.Payload, &payload); err != nil {
		return d, &evaluate.Failure{Kind: evaluate.Invalid, Message: "the payload of the datasource is not JSON"}
	}
	r := &resolver{env: e, lookup: value, hosts: hosts(d.Address)}
	if found := reference.FindString(d.Address); found != "" {
		r.refuse(found, "is in the address, where references are not resolved")
	}
	payload = r.replace(payload, "")
	if r.failed != nil {
		return d, r.failed
	}
	var err error
	d.Payload, err = json.Marshal(payload)
	if err != nil {
		return d, &evaluate.Failure{Kind: evaluate.Invalid, Message: "the payload of the datasource cannot be encoded"}
	}
	return d, nil
}

type resolver struct {
	env    SecretEnv
	lookup func(name string) (string, bool)
	hosts  []string
	failed *evaluate.Failure // the first
}

func (r *resolver) refuse(found, why string) {
	if r.failed == nil {
		r.failed = &evaluate.Failure{Kind: evaluate.Denied, Phase: PhaseSignIn, Message: cut(found + " " + why)}
	}
}

// replace replaces the references in a JSON value. Parameters are part of addresses, which proxies log: they have none.
func (r *resolver) replace(v any, member string) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = r.replace(inner, name)
		}
	case []any:
		for i, inner := range v {
			v[i] = r.replace(inner, member)
		}
	case string:
		return reference.ReplaceAllStringFunc(v, func(found string) string {
			if member == "params" {
				r.refuse(found, "is in params, where references are not resolved")
				return ""
			}
			return r.value(found)
		})
	}
	return v
}

func (r *resolver) value(found string) string {
	name := reference.FindStringSubmatch(found)[1]
	allowed := r.env[name]
	if len(allowed) == 0 || len(r.hosts) == 0 {
		r.refuse(found, "is not resolved: there is no --secret-env "+name+"=host")
		return ""
	}
	for _, host := range r.hosts {
		bare := host
		if h, _, err := net.SplitHostPort(host); err == nil {
			bare = h
		}
		if !slices.Contains(allowed, host) && !slices.Contains(allowed, bare) {
			r.refuse(found, "is not resolved: --secret-env does not list "+bare+" for it")
			return ""
		}
	}
	text, set := r.lookup(name)
	if !set {
		r.refuse(found, "is not resolved: the environment does not have it")
	}
	return text
}

// hosts returns the hosts of an address, with their ports where it has them: a URL, host:port, or several with commas.
func hosts(address string) (list []string) {
	for text := range strings.SplitSeq(address, ",") {
		text = strings.ToLower(strings.TrimSpace(text))
		if strings.Contains(text, "://") {
			u, err := url.Parse(text)
			if err != nil {
				return nil
			}
			text = u.Host
		}
		if text != "" {
			list = append(list, text)
		}
	}
	return list
}
