package phone

import (
	"io"
	"net/http"
	"net/url"

	"tocsin/internal/sender/twilio"
)

// signed returns a handler that refuses requests that Twilio did not sign, and passes the parameters of others on.
func (s *Service) signed(next func(http.ResponseWriter, *http.Request, url.Values)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := body(w, r)
		if !ok {
			return
		}
		// The public URL and not the Host header: a proxy may change that, and a caller may choose it.
		params, ok := s.Twilio.Verify(s.Notify.Links.Base+r.URL.RequestURI(), text, r.Header.Get("X-Twilio-Signature"))
		if !ok {
			s.Log.Warn("a callback is not signed by the Twilio account; if Twilio sent it, --public-url or the auth token is wrong",
				"path", r.Pattern)
			http.Error(w, "the signature is wrong", http.StatusForbidden)
			return
		}
		next(w, r, params)
	})
}

// twilioDigit takes a digit that was pressed in a call.
func (s *Service) twilioDigit(w http.ResponseWriter, r *http.Request, params url.Values) {
	p, ok := s.page(w, r)
	if !ok {
		return
	}
	a, err := s.press(r.Context(), &p, params.Get("CallSid"), params.Get("Digits"))
	if err != nil { // Twilio would read out an error message of its own
		s.Log.Error("a digit had no effect", "notice_id", p.ID, "error", err)
		a = answer{text: "That has failed. Please use the link in another message."}
	}
	if a.again == nil {
		twiml(w, twilio.Speak(a.text))
		return
	}
	twiml(w, twilio.Page(a.text, a.again))
}

// twilioStatus takes the state of a call or text message.
func (s *Service) twilioStatus(w http.ResponseWriter, r *http.Request, params url.Values) {
	d, known := twilio.DeliveryOf(params)
	if !known { // a state of later days: nothing to store
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.store(w, r, d)
}

// twilioText takes a text message from a person.
func (s *Service) twilioText(w http.ResponseWriter, r *http.Request, params url.Values) {
	text, err := s.reply(r.Context(), params.Get("MessageSid"), params.Get("From"), params.Get("Body"))
	if err != nil {
		s.fail(w, "a text message could not be acted on", err)
		return
	}
	twiml(w, twilio.Reply(text))
}

func twiml(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, text)
}
