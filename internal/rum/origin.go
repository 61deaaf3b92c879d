package rum

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"tocsin/internal/configstore"
)

// anyHost begins the host of an origin that stands for all hosts below a domain.
const anyHost = "*."

// checkOrigins returns a fault for the first origin that no browser sends.
func checkOrigins(at configstore.RecordPath, origins []string) error {
	for i, origin := range origins {
		u, err := url.Parse(strings.Replace(origin, "://"+anyHost, "://", 1))
		if err != nil || u.Scheme == "" || u.Host == "" || origin != strings.ToLower(origin) || len(origin) > 255 ||
			u.Scheme+"://"+u.Host != strings.Replace(origin, "://"+anyHost, "://", 1) || strings.ContainsAny(u.Host, "* ") {
			return at.Invalid(fmt.Sprintf("allowed_origins[%d]", i),
				"must be an origin in lower case, such as https://shop.example.com or https://*.example.com, got %.100q", origin)
		}
	}
	return nil
}

// origins returns the origins as they are stored.
func (a *Application) origins() string { return strings.Join(a.AllowedOrigins, " ") }

// Allows reports whether pages of an origin, as browsers send it, may send errors to the application.
func (a *Application) Allows(origin string) bool {
	origin = strings.ToLower(origin)
	return len(a.AllowedOrigins) == 0 || slices.ContainsFunc(a.AllowedOrigins, func(allowed string) bool {
		scheme, domain, below := strings.Cut(allowed, "://"+anyHost)
		if !below {
			return origin == allowed
		}
		host, ok := strings.CutPrefix(origin, scheme+"://")
		return ok && strings.HasSuffix(host, "."+domain)
	})
}
