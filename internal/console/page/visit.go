package page

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/locale"
	"tocsin/internal/console/picture"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/session"
	"tocsin/internal/signin"
)

// Visit is one request of a browser, and what its page is drawn with: who asks, in which language and time zone.
type Visit struct {
	*Site
	Writer  http.ResponseWriter
	Request *http.Request
	Context context.Context
	Who     auth.Principal
	Session session.Session

	locale.Setting // of the visitor
	Me             Person
	Theme          string // light or dark; empty: as the browser prefers
	Nonce          string
	Seen           string       // of the account's changes, before the page was read
	Failure        *api.Refusal // of the form that was sent; nil: none
	Made           any          // what an action has made that an address must not hold
	Placed         picture.Positions
	integrations   map[string]string // the names of integrations that conditions name by their ids
}

// Person is who is signed in, or whom a page names.
type Person struct {
	ID                            int64
	Name, Email, Locale, TimeZone string
}

// visited serves what fn shows or does to a person who is signed in. Others are sent to sign in first, unless open.
func (s *Site) visited(open bool, fn func(*Visit) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &Visit{Site: s, Writer: w, Request: r, Context: r.Context(), Nonce: id.Token(16)}
		v.Setting = locale.Setting{Zone: time.UTC, Now: s.Clock.Now()}
		v.headers()
		v.Lang, v.Theme = v.language(""), v.theme()
		signedIn, err := v.identify()
		if err == nil && signedIn {
			v.Seen, err = s.Live.Seen(v.Context, v.Who.AccountID)
		}
		if err == nil && !signedIn && !open {
			http.Redirect(w, r, v.SignInPath(), http.StatusSeeOther)
			return
		}
		if err == nil {
			err = fn(v)
		}
		var to Moved
		if errors.As(err, &to) {
			http.Redirect(w, r, string(to), http.StatusSeeOther)
		} else if err != nil {
			v.fail(err)
		}
	})
}

// headers sets what holds for every page: nothing from elsewhere is loaded or run, and no page is framed or kept.
func (v *Visit) headers() {
	h := v.Writer.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"+v.Nonce+"'; img-src 'self'; "+
		"font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "+
		"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types tocsin")
}

// identify finds the cookie's session and its person.
func (v *Visit) identify() (bool, error) {
	cookie, err := v.Request.Cookie(v.CookieName(""))
	if err != nil || cookie.Value == "" {
		return false, nil
	}
	var found bool
	err = v.DB.Snapshot(v.Context, func(tx *db.Tx) (err error) {
		v.Session, v.Who, found, err = session.Find(tx, cookie.Value, v.Now)
		return err
	})
	if err != nil || !found {
		return false, err
	}
	if v.Session.Stale(v.Now) {
		v.used()
	}
	err = v.recognise()
	return err == nil, err
}

// maxUsed bounds how long a page waits until the last use of its session is stored.
const maxUsed = time.Second

// used stores that the session was used. A database that takes no writes, because its disk is full for example, can still
// be read: then the last use is stored with a later page.
func (v *Visit) used() {
	ctx, cancel := context.WithTimeout(v.Context, maxUsed)
	defer cancel()
	err := v.DB.WriteOf(ctx, v.Session.AccountID, func(tx *db.Tx) error {
		return session.Use(tx, v.Session.AccountID, v.Session.ID, v.Now)
	})
	if err != nil && v.Context.Err() == nil {
		v.Log.Warn("the last use of a session could not be stored", "error", err)
	}
}

// recognise reads the profile of the person who is signed in: name, language and time zone.
func (v *Visit) recognise() error {
	v.Zone = v.Who.Zone
	people, err := v.People([]int64{v.Who.PersonID})
	if err != nil {
		return err
	}
	v.Me = people[v.Who.PersonID]
	v.Lang = v.language(v.Me.Locale)
	if zone, err := time.LoadLocation(v.Me.TimeZone); err == nil && v.Me.TimeZone != "" {
		v.Zone = zone
	}
	return nil
}

// People returns persons by their ids; unknown ones are left out.
func (v *Visit) People(ids []int64) (map[int64]Person, error) {
	found := map[int64]Person{}
	if len(ids) == 0 {
		return found, nil
	}
	request := person.InfosRequest{PersonIDs: make([]uint64, len(ids))}
	for i, id := range ids {
		request.PersonIDs[i] = uint64(id)
	}
	reply, err := Call[api.Items[person.Item]](v, "/person/infos", request)
	for _, p := range reply.Items {
		found[p.PersonID] = Person{p.PersonID, p.PersonName, p.Email, p.Locale, p.TimeZone}
	}
	return found, err
}

// Call calls an operation with the operation's types, for the person who is signed in. An error is what the operation answers. What the
// reply refers to must not be changed: see api.Ask.
func Call[Out, In any](v *Visit, path string, in In) (Out, error) {
	return api.Ask[Out](v.Context, v.Frame, v.Inside(), path, in)
}

// Do is Call without the reply.
func Do[Out, In any](v *Visit, path string, in In) error {
	_, err := Call[Out](v, path, in)
	return err
}

// ByPage asks for a list page by page, until there is no next page or take returns false. Pages of large elements are short, so
// a page is found by the cursor and not by its number.
func ByPage[Out interface{ Part() ([]T, string) }, In, T any, Ask interface {
	*In
	Continue(limit int64, cursor string)
}](v *Visit, path string, in In, take func([]T) bool) error {
	for cursor := ""; ; {
		Ask(&in).Continue(100, cursor)
		reply, err := Call[Out](v, path, in)
		if err != nil {
			return err
		}
		items, next := reply.Part()
		if !take(items) || next == "" {
			return nil
		}
		cursor = next
	}
}

// Inside is the person as a caller of operations.
func (v *Visit) Inside() api.Inside {
	return api.Inside{Who: v.Who, IP: v.Frame.ClientIP(v.Request), Language: v.Lang}
}

// Field returns what a form holds in a field, without white space around it.
func (v *Visit) Field(name string) string { return strings.TrimSpace(v.Request.PostFormValue(name)) }

// Query returns a parameter of the address.
func (v *Visit) Query(name string) string { return strings.TrimSpace(v.Request.URL.Query().Get(name)) }

// Path returns the address of the page, with its parameters.
func (v *Visit) Path() string { return v.Request.URL.RequestURI() }

// LocalPath returns an address to go on to, if it is one of the console, else the first page. Otherwise a link to the
// console could send a person who signs in to any other site.
func LocalPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") ||
		strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

// SignInPath returns the address to sign in, from which the person comes back to what was asked for.
func (v *Visit) SignInPath() string {
	if v.Request.Method != http.MethodGet || v.Request.URL.Path == "/" && v.Request.URL.RawQuery == "" {
		return "/sign-in"
	}
	return "/sign-in?" + url.Values{"next": {v.Request.URL.RequestURI()}}.Encode()
}

// Origin returns the address of this server without a final slash: its public address or, where that is not known, the one
// that the browser used. A proxy may hide the port from the latter.
func (v *Visit) Origin() string {
	switch {
	case v.PublicURL != "":
		return strings.TrimSuffix(v.PublicURL, "/")
	case v.TLS:
		return "https://" + v.Request.Host
	}
	return "http://" + v.Request.Host
}

// CookieName returns the name of a cookie; an empty name is that of the session's. Browsers accept the prefix __Host-
// over HTTPS alone; it keeps other hosts of the same domain from setting the cookie.
func (v *Visit) CookieName(name string) string {
	full := "tocsin"
	if name != "" {
		full += "-" + name
	}
	if v.TLS {
		return "__Host-" + full
	}
	return full
}

// BrowserOf returns the browser and the system that an agent names, in a few words; the whole text when neither is known.
func BrowserOf(agent string) string {
	var words []string
	for _, group := range [][][2]string{
		{{"Edg/", "Edge"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"}},
		{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS", "macOS"}, {"Linux", "Linux"}},
	} {
		for _, known := range group {
			if strings.Contains(agent, known[0]) {
				words = append(words, known[1])
				break
			}
		}
	}
	if words == nil {
		return agent
	}
	return strings.Join(words, " · ")
}

// Client returns where the request comes from.
func (v *Visit) Client() signin.Client {
	return signin.Client{IP: v.Frame.ClientIP(v.Request), Agent: v.Request.UserAgent(), Zone: v.Cookie("tocsin-zone")}
}

// Put keeps a secret in the browser, for seconds; a negative number removes it.
func (v *Visit) Put(name, value string, seconds int) {
	http.SetCookie(v.Writer, &http.Cookie{
		Name: v.CookieName(name), Value: value, Path: "/", MaxAge: seconds, Secure: v.TLS, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}
