package browser

import (
	"bytes"
	"cmp"
	"slices"

	"tocsin/internal/core/rumerror"
	"tocsin/internal/source"
)

// maxLines is how many events of a body are read. The SDK sends 50 at most.
const maxLines = 2000

// datadogEvent is an event of Datadog's SDK; most of its members are left out.
type datadogEvent struct {
	Type    source.Text  `json:"type"`
	Date    source.Text  `json:"date"` // Unix milliseconds
	Service source.Text  `json:"service"`
	Version source.Text  `json:"version"`
	Tags    source.Text  `json:"ddtags"`
	Error   datadogError `json:"error"`
	Session struct {
		ID source.Text `json:"id"`
	} `json:"session"`
	View struct {
		URL source.Text `json:"url"`
	} `json:"view"`
	User struct {
		ID        source.Text `json:"id"`
		Name      source.Text `json:"name"`
		Email     source.Text `json:"email"`
		Anonymous source.Text `json:"anonymous_id"`
	} `json:"usr"`
	Context struct {
		Fingerprint source.Text `json:"fingerprint"`
	} `json:"context"`
}

type datadogError struct {
	ID          source.Text `json:"id"`
	Type        source.Text `json:"type"`
	Message     source.Text `json:"message"`
	Stack       source.Text `json:"stack"`
	Source      source.Text `json:"source"`
	Handling    source.Text `json:"handling"`
	Fingerprint source.Text `json:"fingerprint"`
	IsCrash     source.Text `json:"is_crash"`
	Causes      []struct {
		Type    source.Text `json:"type"`
		Message source.Text `json:"message"`
		Stack   source.Text `json:"stack"`
	} `json:"causes"`
	Resource struct {
		Method source.Text `json:"method"`
		Status source.Text `json:"status_code"`
		URL    source.Text `json:"url"`
	} `json:"resource"`
}

// sources are those of errors that become issues: failed requests of the network are none.
var sources = []string{"custom", "source", "report", "console"}

// noStack is what Datadog's SDK sends for an error that has none.
const noStack = "No stack, consider using an instance of Error"

// Datadog reads a body of Datadog's browser SDK: one JSON event per line, of which the errors are returned. queryTags is
// the list of tags of the request, which older SDKs send instead of tags of each event. now is in Unix milliseconds.
func Datadog(body []byte, queryTags string, now int64) (b Batch) {
	lines := 0
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if lines++; lines > maxLines {
			b.Left++
			continue
		}
		if !bytes.Contains(line, []byte(`error`)) { // views and resources are most of what comes, and large
			continue
		}
		var e datadogEvent
		if err := source.Read(line, &e); err != nil {
			b.Malformed++
		} else if e.Type == "error" && slices.Contains(sources, string(e.Error.Source)) {
			b.add(e.converted(queryTags), now)
		}
	}
	return b
}

func (e *datadogEvent) converted(queryTags string) rumerror.Error {
	own, common := tags(string(e.Tags)), tags(queryTags)
	tag := func(name string) string { return cmp.Or(own[name], common[name]) }
	r := rumerror.Error{
		ID: string(e.Error.ID), Time: whole(e.Date), Type: string(e.Error.Type), Message: string(e.Error.Message),
		Stack: string(e.Error.Stack), Source: string(e.Error.Source), Handled: e.Error.Handling == "handled",
		Crash: e.Error.IsCrash == "true", Service: cmp.Or(string(e.Service), tag("service")),
		Version: cmp.Or(string(e.Version), tag("version")), Env: tag("env"), URL: string(e.View.URL), Session: string(e.Session.ID),
		User: rumerror.User{ID: string(cmp.Or(e.User.ID, e.User.Anonymous)), Name: string(e.User.Name), Email: string(e.User.Email)},
		Request: rumerror.Request{
			Method: string(e.Error.Resource.Method), URL: string(e.Error.Resource.URL), Status: whole(e.Error.Resource.Status),
		},
	}
	if r.Stack == noStack {
		r.Stack = ""
	}
	if chosen := cmp.Or(e.Error.Fingerprint, e.Context.Fingerprint); chosen != "" {
		r.Fingerprint = []string{string(chosen)}
	}
	for _, c := range e.Error.Causes {
		r.Causes = append(r.Causes, rumerror.Cause{Type: string(c.Type), Message: string(c.Message), Stack: string(c.Stack)})
	}
	return r
}
