package rumintake

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
	"tocsin/internal/source/browser"
)

// envelopePath is the path of envelopes, after any prefix that a DSN may have.
var envelopePath = regexp.MustCompile(`^(?:/[^/]+)*/api/[0-9]{1,20}/envelope/?$`)

// IsEnvelope reports whether a path is that of Sentry's envelopes: [/prefix]/api/PROJECT/envelope/.
func IsEnvelope(path string) bool { return len(path) < 1000 && envelopePath.MatchString(path) }

// Sentry accepts the envelopes of Sentry's SDKs. The key of the DSN is the client token of the application; its project
// may be any number. Through a tunnel the DSN comes in the envelope.
func (r *Service) Sentry() api.Endpoint {
	return api.Endpoint{
		Path: "/api/{project}/envelope/", Methods: []string{http.MethodPost, http.MethodOptions}, MaxBody: MaxBytes, Do: r.sentry,
	}
}

func (r *Service) sentry(c *api.Call, req *http.Request, header http.Header, body *api.Body) (any, error) {
	share(header)
	if req.Method == http.MethodOptions {
		return preflight(header), nil
	}
	token := cmp.Or(req.URL.Query().Get("sentry_key"), authKey(req.Header.Get("X-Sentry-Auth")))
	var text []byte
	var err error
	tunnel := token == ""
	if tunnel {
		text, err = body.ReadUnknown(MaxBytes)
		if err != nil {
			return nil, err
		}
		if e, ok := browser.Header(text); ok {
			token = e.Key
		}
	}
	a, err := r.application(c, req, token, header)
	if err != nil {
		return nil, err
	}
	if !tunnel {
		text, err = body.Read(a.AccountID, keyOf(a.ApplicationID))
		if err != nil {
			return nil, err
		}
	}
	e, ok := browser.Header(text)
	if !ok {
		return nil, fault.New(fault.BadRequest, "the body is not an envelope: its first line must be a JSON object")
	}
	agent := req.UserAgent()
	ip := c.IP
	now := c.Now
	err = r.put(c, a, func() (browser.Batch, error) {
		b := browser.Sentry(text, now.UnixMilli())
		completed(b.Errors, &a, agent, ip)
		return b, nil
	})
	return &api.Answer{Status: http.StatusOK, Body: struct {
		ID string `json:"id,omitzero"`
	}{e.EventID}}, err
}

// authKey returns the key in the header X-Sentry-Auth, such as Sentry sentry_version=7, sentry_key=KEY.
func authKey(auth string) string {
	for part := range strings.FieldsFuncSeq(auth, func(r rune) bool { return r == ',' || r == ' ' }) {
		if key, ok := strings.CutPrefix(part, "sentry_key="); ok {
			return key
		}
	}
	return ""
}
