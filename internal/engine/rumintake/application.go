package rumintake

import (
	"net/http"

	"tocsin/internal/api"
	"tocsin/internal/core/rumerror"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/rum"
)

// share allows pages of all origins to send to an endpoint, and to read the headers that slow SDKs down.
func share(header http.Header) {
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", "Retry-After, X-Sentry-Rate-Limits")
}

// preflight answers a browser that asks whether it may send.
func preflight(header http.Header) *api.Answer {
	header.Set("Access-Control-Allow-Methods", "POST")
	header.Set("Access-Control-Allow-Headers", "Content-Type, Content-Encoding, DD-API-KEY, X-Sentry-Auth")
	header.Set("Access-Control-Max-Age", "86400")
	return &api.Answer{Status: http.StatusOK}
}

// application returns the enabled application of a client token, within its rate limit. The account is not known before:
// the token is the only credential.
func (r *Service) application(c *api.Call, req *http.Request, token string, header http.Header) (a rum.Application, err error) {
	found := false
	err = r.DB.Read(c.Ctx, func(tx *db.Tx) (err error) {
		a, found, err = rum.ByToken(tx, token, c.Now)
		return err
	})
	if err != nil {
		return a, err
	}
	if !found {
		if err := r.Guesses.Guessed(c); err != nil {
			return a, err
		}
		return a, fault.New(fault.AccessDenied, "the client token is not a valid one")
	}
	c.Who.AccountID, c.HideIP = a.AccountID, a.NoIP // for the log
	if err := r.allow(c, &a, header); err != nil {
		return a, err
	}
	if a.Status != "enabled" {
		return a, fault.Denied("the application is disabled")
	}
	if origin := req.Header.Get("Origin"); !a.Allows(origin) {
		r.errors.WithLabelValues("origin").Inc()
		return a, fault.Denied("the application takes no errors of this page: its origin, %.255q, is not in allowed_origins", origin)
	}
	return a, nil
}

// allow counts a request against the rate of its application. Of that, one address has half at most.
func (r *Service) allow(c *api.Call, a *rum.Application, header http.Header) error {
	whose, from := "this address", senderOf(c, a)
	v := ratelimit.Result{OK: true}
	if from.bounded() {
		v = r.parts.Allow(from.part(), half(r.Rate), c.Now)
	}
	if v.OK {
		whose, v = "this application", r.rates.Allow(a.ApplicationID, r.Rate, c.Now)
	}
	if v.OK {
		return nil
	}
	r.errors.WithLabelValues("rate").Inc()
	header.Set("X-Sentry-Rate-Limits", "60:error")
	return api.Limited(header, v, whose)
}

// completed sets what the SDK does not send: the service, the browser and the address of the user.
func completed(errors []rumerror.Error, a *rum.Application, agent, ip string) {
	for i := range errors {
		e := &errors[i]
		if e.Service == "" {
			e.Service = a.ApplicationName
		}
		if e.Browser == (rumerror.Browser{}) {
			e.Browser = rumerror.BrowserOf(agent)
		}
		switch {
		case a.NoIP:
			e.IP = ""
		case e.IP == "":
			e.IP = ip
		}
	}
}
