package api

import (
	"net/http"
	"net/url"
	"strings"

	"tocsin/internal/auth"
	"tocsin/internal/platform/fault"
)

// caller returns the principal of the app key. Guessing is limited per network address; a valid key is never affected.
func (f *Frame) caller(x *exchange) (auth.Principal, error) {
	secret := secretOf(x.r)
	if secret == "" { // not a guess
		return auth.Principal{}, fault.New(fault.Unauthorized, "an app key is needed, as app_key in the query or as a bearer token")
	}
	who, err := f.Keys.Find(x.call.Ctx, secret)
	if err == nil || fault.KindOf(err) != fault.Unauthorized {
		return who, err
	}
	if v := f.Guesses.Allow(x.network(), x.call.Now); !v.OK {
		x.retryAfter(v)
		return who, fault.New(fault.TooFrequent, "too many unknown app keys from this address")
	}
	return who, err
}

// secretOf reads the app key from the query, as the API specifies, else from the Authorization header. Clients may
// prefer the header, because query strings end up in the logs of proxies.
func secretOf(r *http.Request) string {
	if key := queryValue(r.URL, "app_key"); key != "" {
		return key
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(key)
	}
	return ""
}

// queryValue returns the first value of a name in a query. A query of this one name, without escapes, needs no parsing.
func queryValue(u *url.URL, name string) string {
	if first, value, _ := strings.Cut(u.RawQuery, "="); first == name && !strings.ContainsAny(value, "&;%+") {
		return value
	}
	return u.Query().Get(name)
}
