package datasource

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// typeIdents are the supported types, in the specification's order.
var typeIdents = []string{"prometheus", "loki", "mysql", "oracle", "postgres", "clickhouse", "elasticsearch", "sls", "victorialogs"}

// addressRules checks the form of an address for each type (the specification, 4.4).
var addressRules = map[string]func(address string) error{
	"prometheus": httpURL, "loki": httpURL, "victorialogs": httpURL,
	"mysql": hostPort, "oracle": hostPort, "postgres": hostPort, "clickhouse": hostPort,
	"elasticsearch": nodes, "sls": endpoint,
}

func httpURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return wrong("an http or https URL with a host", address)
	}
	if u.User != nil {
		return errors.New("must hold no credentials; they belong in the payload")
	}
	if isHost(u.Host) || hostPort(u.Host) == nil {
		return nil
	}
	return wrong("a URL with a valid host and a port from 1 to 65535", address)
}

func hostPort(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return wrong("host:port, an IPv6 address in brackets", address)
	}
	if address[0] == '[' {
		host = "[" + host + "]"
	}
	if !isHost(host) {
		return wrong("host:port with the name or address of a host", address)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return wrong("host:port with a port from 1 to 65535", address)
	}
	return nil
}

// nodes checks the addresses of an Elasticsearch cluster: URLs or host:port, separated by commas.
func nodes(address string) error {
	for node := range strings.SplitSeq(address, ",") {
		node = strings.TrimSpace(node)
		rule := hostPort
		if strings.Contains(node, "://") {
			rule = httpURL
		}
		if err := rule(node); err != nil {
			return fmt.Errorf("must be comma-separated URLs or host:port; a node %w", err)
		}
	}
	return nil
}

// endpoint checks that an address is a host, with or without a port, and nothing else.
func endpoint(address string) error {
	if strings.Contains(address, "://") {
		return wrong("an endpoint without http:// or https://", address)
	}
	if isHost(address) || hostPort(address) == nil {
		return nil
	}
	return wrong("an endpoint such as cn-hangzhou.log.aliyuncs.com", address)
}

// isHost reports whether a text is the name of a host, an IPv4 address, or an IPv6 address in brackets.
func isHost(host string) bool {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		a, err := netip.ParseAddr(inner)
		return closed && err == nil && a.Is6()
	}
	if strings.Trim(host, "0123456789.") == "" {
		a, err := netip.ParseAddr(host)
		return err == nil && a.Is4()
	}
	return !strings.ContainsFunc(host, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._", r)
	})
}

// wrong returns an error that repeats the address, unless the address may contain credentials.
func wrong(want, address string) error {
	if strings.Contains(address, "@") || len(address) > 200 {
		return fmt.Errorf("must be %s", want)
	}
	return fmt.Errorf("must be %s, got %q", want, address)
}
