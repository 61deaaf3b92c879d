package rum

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/rumerror"
	"tocsin/internal/core/stack"
	"tocsin/internal/platform/db"
)

// MaxSamples is how many of its newest errors an issue keeps.
const MaxSamples = 20

// Sample is one error of an issue, as a browser reported it.
type Sample struct {
	Number     int64            `json:"number" doc:"Which one of the issue's errors it is, from 1."`
	ReceivedAt int64            `json:"received_at" doc:"When it arrived, Unix milliseconds."`
	Timestamp  int64            `json:"timestamp" doc:"When it happened by the browser's clock, Unix milliseconds."`
	Type       string           `json:"type" maxLength:"1024" doc:"The error's type; may be empty."`
	Message    string           `json:"message" maxLength:"65536" doc:"The error's message."`
	Stack      string           `json:"stack" maxLength:"65536" doc:"The stack as the SDK sent it; may be empty."`
	Frames     []stack.Frame    `json:"frames" maxItems:"100" doc:"The frames of the stack, innermost first."`
	Causes     []SampleCause    `json:"causes" maxItems:"10" doc:"The errors that led to it."`
	Source     string           `json:"source" maxLength:"64" doc:"source: it was thrown; custom: the page reported it; console; report: the browser did."`
	Handled    bool             `json:"handled" doc:"The page caught it."`
	Service    string           `json:"service" maxLength:"1024" doc:"The service, as the SDK names it."`
	Version    string           `json:"version" maxLength:"255" doc:"The application's version; may be empty."`
	Env        string           `json:"env" maxLength:"255" doc:"The environment; may be empty."`
	URL        string           `json:"url" maxLength:"4096" doc:"The page."`
	Browser    rumerror.Browser `json:"browser" doc:"The browser."`
	User       SampleUser       `json:"user" doc:"The user, as the page names them."`
	SessionID  string           `json:"session_id" maxLength:"255" doc:"The session; may be empty."`
	IP         string           `json:"ip" maxLength:"64" doc:"The user's address; empty if the application has no_ip."`
}

// SampleUser is the user of the page.
type SampleUser struct {
	ID    string `json:"id" maxLength:"255" doc:"May be empty."`
	Name  string `json:"name" maxLength:"255" doc:"May be empty."`
	Email string `json:"email" maxLength:"255" doc:"May be empty."`
}

// SampleCause is an error that led to another one.
type SampleCause struct {
	Type    string        `json:"type" maxLength:"1024" doc:"Its type."`
	Message string        `json:"message" maxLength:"65536" doc:"Its message."`
	Stack   string        `json:"stack" maxLength:"65536" doc:"Its stack as the SDK sent it."`
	Frames  []stack.Frame `json:"frames" maxItems:"100" doc:"The frames of its stack, innermost first."`
}

func sampleOf(e *rumerror.Error, number int64, now time.Time) Sample {
	s := Sample{
		Number: number, ReceivedAt: now.UnixMilli(), Timestamp: e.Time, Type: e.Type, Message: e.Message, Stack: e.Stack,
		Frames: framesOf(e.Frames), Causes: []SampleCause{}, Source: e.Source, Handled: e.Handled, Service: e.Service, Version: e.Version,
		Env: e.Env, URL: e.URL, Browser: e.Browser, User: SampleUser(e.User), SessionID: e.Session, IP: e.IP,
	}
	for _, c := range e.Causes {
		s.Causes = append(s.Causes, SampleCause{c.Type, c.Message, c.Stack, framesOf(c.Frames)})
	}
	return s
}

// framesOf returns a list that is not nil.
func framesOf(list []stack.Frame) []stack.Frame { return append([]stack.Frame{}, list...) }

// AddSamples stores the newest errors of the issue, which are counted already, and deletes the older ones.
func (i *Issue) AddSamples(tx *db.Tx, account int64, errors []*rumerror.Error, now time.Time) error {
	errors = errors[max(0, len(errors)-MaxSamples):]
	for n, e := range errors {
		s := sampleOf(e, i.ErrorCount-int64(len(errors)-1-n), now)
		body, err := json.Marshal(s, json.Deterministic(true))
		if err != nil {
			return err
		}
		if err := tx.Do(`INSERT INTO rum_sample (account_id, issue_id, number, received_at, body) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (account_id, issue_id, number) DO UPDATE SET received_at = excluded.received_at, body = excluded.body`,
			account, i.IssueID, s.Number, s.ReceivedAt, string(body)); err != nil {
			return err
		}
	}
	return tx.Do(`DELETE FROM rum_sample WHERE account_id = $1 AND issue_id = $2 AND number <= $3`,
		account, i.IssueID, i.ErrorCount-MaxSamples)
}

// scanSample reads a sample. A corrupt one is returned without its content.
func scanSample(scan db.Scan) (s Sample, err error) {
	var number, at int64
	var body string
	if err := scan(&number, &at, &body); err != nil {
		return s, err
	}
	if json.Unmarshal([]byte(strings.ToValidUTF8(body, "\uFFFD")), &s) != nil {
		s = Sample{Frames: []stack.Frame{}, Causes: []SampleCause{}}
	}
	s.Number, s.ReceivedAt = number, at
	return s, nil
}
