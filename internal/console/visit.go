package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/session"
)

// visit is one request of a browser, and what its page is drawn with: who asks, in which language and time zone.
type visit struct {
	*Service
	w       http.ResponseWriter
	r       *http.Request
	ctx     context.Context
	who     auth.Principal
	session session.Session

	Now     time.Time
	Me      profile
	Lang    string // en or zh
	Theme   string // light or dark; empty: as the browser prefers
	Zone    *time.Location
	Nonce   string
	Seen    string          // of the account's changes, before the page was read
	Failure *api.Refusal    // of the form that was sent; nil: none
	made    any             // what an action has made that an address must not hold
	style   strings.Builder // rules for positions
	placed  int             // how many there are

	plan     *changePlan     // what a form that was sent for review would change
	effects  []absenceEffect // likewise, of an absence
	reviewed bool            // effects are known
	edited   *edited         // a schedule that is being edited
	stale    bool            // it was changed meanwhile: nothing was saved, and the plan is a new one
	feedURL  string          // of a calendar feed that was made
}

// profile is who is signed in, or whom a page names.
type profile struct {
	ID                            int64
	Name, Email, Locale, TimeZone string
}

// visited serves what fn shows or does to a person who is signed in. Others are sent to sign in first, unless open.
func (s *Service) visited(open bool, fn func(*visit) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{Service: s, w: w, r: r, ctx: r.Context(), Now: s.Clock.Now(), Nonce: id.Token(16), Zone: time.UTC}
		v.headers()
		v.Lang, v.Theme = v.language(""), v.theme()
		signedIn, err := v.identify()
		if err == nil && signedIn {
			v.Seen, err = s.Live.Seen(v.ctx, v.who.AccountID)
		}
		if err == nil && !signedIn && !open {
			http.Redirect(w, r, v.signInPath(), http.StatusSeeOther)
			return
		}
		if err == nil {
			err = fn(v)
		}
		var to moved
		if errors.As(err, &to) {
			http.Redirect(w, r, string(to), http.StatusSeeOther)
		} else if err != nil {
			v.fail(err)
		}
	})
}

// headers sets what holds for every page: nothing from elsewhere is loaded or run, and no page is framed or kept.
func (v *visit) headers() {
	h := v.w.Header()
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
func (v *visit) identify() (bool, error) {
	cookie, err := v.r.Cookie(v.cookieName(""))
	if err != nil || cookie.Value == "" {
		return false, nil
	}
	var found bool
	err = v.DB.Snapshot(v.ctx, func(tx *db.Tx) (err error) {
		v.session, v.who, found, err = session.Find(tx, cookie.Value, v.Now)
		return err
	})
	if err != nil || !found {
		return false, err
	}
	if v.session.Stale(v.Now) {
		v.used()
	}
	err = v.recognise()
	return err == nil, err
}

// maxUsed bounds how long a page waits until the last use of its session is stored.
const maxUsed = time.Second

// used stores that the session was used. A database that takes no writes, because its disk is full for example, can still
// be read: then the last use is stored with a later page.
func (v *visit) used() {
	ctx, cancel := context.WithTimeout(v.ctx, maxUsed)
	defer cancel()
	err := v.DB.WriteOf(ctx, v.session.AccountID, func(tx *db.Tx) error {
		return session.Use(tx, v.session.AccountID, v.session.ID, v.Now)
	})
	if err != nil && v.ctx.Err() == nil {
		v.Log.Warn("the last use of a session could not be stored", "error", err)
	}
}

// recognise reads the profile of the person who is signed in: name, language and time zone.
func (v *visit) recognise() error {
	v.Zone = v.who.Zone
	people, err := v.people([]int64{v.who.PersonID})
	if err != nil {
		return err
	}
	v.Me = people[v.who.PersonID]
	v.Lang = v.language(v.Me.Locale)
	if zone, err := time.LoadLocation(v.Me.TimeZone); err == nil && v.Me.TimeZone != "" {
		v.Zone = zone
	}
	return nil
}

// people returns persons by their ids; unknown ones are left out.
func (v *visit) people(ids []int64) (map[int64]profile, error) {
	found := map[int64]profile{}
	if len(ids) == 0 {
		return found, nil
	}
	request := person.InfosRequest{PersonIDs: make([]uint64, len(ids))}
	for i, id := range ids {
		request.PersonIDs[i] = uint64(id)
	}
	reply, err := call[api.Items[person.Item]](v, "/person/infos", request)
	for _, p := range reply.Items {
		found[p.PersonID] = profile{p.PersonID, p.PersonName, p.Email, p.Locale, p.TimeZone}
	}
	return found, err
}

// call calls an operation with the operation's types, for the person who is signed in. An error is what the operation answers. What the
// reply refers to must not be changed: see api.Ask.
func call[Out, In any](v *visit, path string, in In) (Out, error) {
	return api.Ask[Out](v.ctx, v.Frame, v.inside(), path, in)
}

// do is call without the reply.
func do[Out, In any](v *visit, path string, in In) error {
	_, err := call[Out](v, path, in)
	return err
}

// pageByPage asks for a list page by page, until there is no next page or take returns false. Pages of large elements are short, so
// a page is found by the cursor and not by its number.
func pageByPage[Out interface{ Part() ([]T, string) }, In, T any, Ask interface {
	*In
	Continue(limit int64, cursor string)
}](v *visit, path string, in In, take func([]T) bool) error {
	for cursor := ""; ; {
		Ask(&in).Continue(100, cursor)
		reply, err := call[Out](v, path, in)
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

// inside is the person as a caller of operations.
func (v *visit) inside() api.Inside {
	return api.Inside{Who: v.who, IP: v.Frame.ClientIP(v.r), Language: v.Lang}
}

// May reports whether the person has a permission, for templates. A name that is none is an error: else a control would
// stay hidden from everyone.
func (v *visit) May(name string) (bool, error) {
	p, err := auth.Parse(name)
	return err == nil && v.who.May(p), err
}

// field returns what a form holds in a field, without white space around it.
func (v *visit) field(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }

// query returns a parameter of the address.
func (v *visit) query(name string) string { return strings.TrimSpace(v.r.URL.Query().Get(name)) }

// Param is query, for templates.
func (v *visit) Param(name string) string { return v.query(name) }

// Path returns the address of the page, with its parameters.
func (v *visit) Path() string { return v.r.URL.RequestURI() }

// local returns an address to go on to, if it is one of the console, else the first page. Otherwise a link to the
// console could send a person who signs in to any other site.
func local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") ||
		strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

// signInPath returns the address to sign in, from which the person comes back to what was asked for.
func (v *visit) signInPath() string {
	if v.r.Method != http.MethodGet || v.r.URL.Path == "/" && v.r.URL.RawQuery == "" {
		return "/sign-in"
	}
	return "/sign-in?" + url.Values{"next": {v.r.URL.RequestURI()}}.Encode()
}
