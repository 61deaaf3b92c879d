package phone

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/engine/notify"
	"tocsin/internal/sender"
)

// callback is what the own gateway posts: a digit that was pressed, or what became of the message.
type callback struct {
	Digit string `json:"digit"`
	State string `json:"state"` // delivered, answered, no answer, busy or failed
	Error string `json:"error"` // of a message that failed
}

// digitReply is the reply to a digit.
type digitReply struct {
	Text   string `json:"text"`
	Digits string `json:"digits,omitzero"` // those that have an effect now
}

// states maps the states that a gateway reports to stages.
var states = map[string]int{
	"queued": sender.StageQueued, "sent": sender.StageSent, "ringing": sender.StageSent,
	"delivered": sender.StageEnded, "answered": sender.StageEnded, "no answer": sender.StageEnded, "busy": sender.StageEnded,
	"failed": sender.StageEnded,
}

// gateway takes a callback of the deployment's own gateway. The signed link in the path is the permission.
func (s *Service) gateway(w http.ResponseWriter, r *http.Request) {
	text, ok := body(w, r)
	if !ok {
		return
	}
	p, ok := s.page(w, r)
	if !ok {
		return
	}
	var c callback
	err := json.Unmarshal(text, &c)
	stage, known := states[c.State]
	switch {
	case err != nil:
		http.Error(w, "the body is not a JSON object with digit or state as text", http.StatusBadRequest)
	case c.Digit != "" && c.State == "" && len(c.Digit) == 1:
		s.pressed(w, r, &p, c.Digit)
	case c.Digit == "" && known:
		d := sender.Delivery{State: c.State, Stage: stage}
		if c.State == "failed" {
			d.Failed = "the gateway reports: " + sender.Line(c.Error, 300)
		}
		s.store(w, r, d)
	default:
		http.Error(w, "want either digit, of one character, or state: queued, sent, ringing, delivered, answered, no answer, busy or failed",
			http.StatusBadRequest)
	}
}

// pressed carries out a digit that was posted.
func (s *Service) pressed(w http.ResponseWriter, r *http.Request, p *notify.PhonePage, digit string) {
	a, err := s.press(r.Context(), p, "", digit)
	if err != nil {
		s.fail(w, "a digit had no effect", err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if err := json.MarshalWrite(w, digitReply{Text: a.text, Digits: a.again.Digits()}, jsontext.AllowInvalidUTF8(true)); err != nil {
		s.Log.Warn("the reply to a digit was not sent", "error", err)
	}
}
