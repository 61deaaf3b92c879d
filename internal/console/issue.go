package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/core/stack"
)

// sampleRow is what the page needs of one error of an issue.
type sampleRow struct {
	At      int64         `json:"timestamp"` // Unix milliseconds
	Type    string        `json:"type"`
	Message string        `json:"message"`
	Stack   string        `json:"stack"`
	Frames  []stack.Frame `json:"frames"`
	Causes  []sampleRow   `json:"causes"`
	Handled bool          `json:"handled"`
	Service string        `json:"service"`
	Version string        `json:"version"`
	Env     string        `json:"env"`
	URL     string        `json:"url"`
	Session string        `json:"session_id"`
	Browser struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"browser"`
	User struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Email string `json:"email"`
	} `json:"user"`
}

// Seconds returns the moment in Unix seconds.
func (s sampleRow) Seconds() int64 { return s.At / 1000 }

// PageLink returns the address of the page if it can be followed; empty: it is shown as text.
func (s sampleRow) PageLink() string {
	if u, err := url.Parse(s.URL); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return s.URL
	}
	return ""
}

// frameRow is a frame of a stack, in original code if there is a map of its file.
type frameRow struct {
	stack.Frame
	Converted bool         `json:"converted"`
	Library   bool         `json:"third_party"`
	Code      []codeLine   `json:"code_snippets"`
	Minified  *stack.Frame `json:"minified"`
}

type codeLine struct {
	Line int    `json:"line"`
	Code string `json:"code"`
}

// Place returns where a frame is. A column of original code is left out: the line is shown with its code.
func (f frameRow) Place() string {
	place := f.File
	if f.Line > 0 {
		place += ":" + strconv.Itoa(f.Line)
		if f.Column > 0 && !f.Converted {
			place += ":" + strconv.Itoa(f.Column)
		}
	}
	return place
}

// frames are frames of a stack, one after the other, that are all of the application or all of libraries.
type frames struct {
	Library bool
	Frames  []frameRow
}

// stackPart is the stack of an error, or of an error that led to it.
type stackPart struct {
	Title string // of an error that led to another; empty: the error itself
	Runs  []frames
}

type issueView struct {
	titled
	Issue    issueRow
	Sample   sampleRow
	Found    bool // there is a sample
	Number   int  // of the sample, from 1, the newest
	Newer    string
	Older    string
	Raw      bool // the stack as it was delivered
	Original string
	AsSent   string
	Stacks   []stackPart
	Missing  []string // files without a map
	Denied   bool     // the person may not read code
	Statuses []string
	Causes   []string
	May      bool
	Days     issueDays
}

// shownCauses is how many of the errors that led to another are shown with their stacks.
const shownCauses = 3

func showIssue(v *visit) (view, error) {
	d := issueView{
		Statuses: []string{"for_review", "reviewed", "ignored", "resolved"}, May: v.who.MayAny(manageApplications),
		Causes: []string{
			"api.failed_request", "network.error", "code.exception", "code.invalid_object_access", "code.invalid_argument", "unknown",
		},
		Raw: v.query("code") == "sent",
	}
	if err := v.call("/rum/issue/info", map[string]any{"issue_id": v.r.PathValue("id")}, &d.Issue); err != nil {
		return nil, err
	}
	first, rest, _ := strings.Cut(d.Issue.Error.Message, "\n")
	d.titled = titled(cut(first, 300))
	if err := d.readDays(v); err != nil {
		return nil, err
	}
	if err := d.readSample(v); err != nil {
		return nil, err
	}
	if !d.Found { // the message may hold a stack
		d.Sample = sampleRow{Stack: rest, Service: d.Issue.Service, Version: d.Issue.Last.Version}
	}
	for i, e := range append([]sampleRow{d.Sample}, d.Sample.Causes[:min(len(d.Sample.Causes), shownCauses)]...) {
		part, err := d.stack(v, e)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			part.Title = v.T("Caused by %s", cut(strings.TrimPrefix(e.Type+": "+e.Message, ": "), 1000))
		}
		d.Stacks = append(d.Stacks, part)
	}
	d.Original, d.AsSent = issuePath(v, d.Number, false), issuePath(v, d.Number, true)
	return d, nil
}

// readSample reads the newest error, or the one whose number the address has.
func (d *issueView) readSample(v *visit) error {
	n, err := strconv.Atoi(v.query("n"))
	if err != nil || n < 1 || n > 20 {
		n = 1
	}
	var reply struct {
		Items []sampleRow `json:"items"`
	}
	request := map[string]any{"issue_id": v.r.PathValue("id"), "limit": min(n+1, 20)}
	if err := v.call("/rum/issue/sample/list", request, &reply); err != nil {
		return err
	}
	d.Number = max(1, min(n, len(reply.Items)))
	d.Found = len(reply.Items) > 0
	if d.Found {
		d.Sample = reply.Items[d.Number-1]
	}
	if d.Number > 1 {
		d.Newer = issuePath(v, d.Number-1, d.Raw)
	}
	if d.Number < len(reply.Items) {
		d.Older = issuePath(v, d.Number+1, d.Raw)
	}
	return nil
}

// issuePath returns the address of the page with an error by its number.
func issuePath(v *visit, number int, raw bool) string {
	query := url.Values{}
	if number > 1 {
		query.Set("n", strconv.Itoa(number))
	}
	if raw {
		query.Set("code", "sent")
	}
	path := "/rum/issues/" + url.PathEscape(v.r.PathValue("id"))
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// stack returns the stack of an error in original code, as far as there are maps and the person may read code.
func (d *issueView) stack(v *visit, e sampleRow) (stackPart, error) {
	sent := e.Frames
	if len(sent) == 0 {
		sent = stack.Parse(e.Stack)
	}
	if len(sent) == 0 {
		return stackPart{}, nil
	}
	var reply struct {
		Frames  []frameRow `json:"frames"`
		Missing []string   `json:"missing_files"`
	}
	service := e.Service
	if service == "" {
		service = d.Sample.Service
	}
	err := v.call("/sourcemap/stack/enrich", map[string]any{
		"type": "browser", "service": cut(service, 250), "version": d.Sample.Version, "frames": sent, "near": 3, "url": d.Sample.URL,
	}, &reply)
	if refused := api.RefusalOf(err); refused != nil && (service == "" || refused.Code == "AccessDenied") {
		d.Denied = service != ""
		reply.Frames = reply.Frames[:0]
		for _, f := range sent {
			reply.Frames = append(reply.Frames, frameRow{Frame: f, Library: f.Library()})
		}
	} else if err != nil {
		return stackPart{}, err
	}
	for _, file := range reply.Missing {
		if !slices.Contains(d.Missing, file) {
			d.Missing = append(d.Missing, file)
		}
	}
	return stackPart{Runs: runs(reply.Frames, d.Raw)}, nil
}

// runs returns the frames in runs of own ones and those of libraries. If all are of libraries, the first run counts as
// own, so that a stack is never all folded. raw shows frames as they were sent.
func runs(list []frameRow, raw bool) (all []frames) {
	for _, f := range list {
		if raw && f.Minified != nil {
			f = frameRow{Frame: *f.Minified, Library: f.Library}
		}
		if len(all) == 0 || all[len(all)-1].Library != f.Library {
			all = append(all, frames{Library: f.Library})
		}
		last := &all[len(all)-1]
		last.Frames = append(last.Frames, f)
	}
	if len(all) == 1 {
		all[0].Library = false
	}
	return all
}

// IssueStatus returns the state of an error in words.
func (v *visit) IssueStatus(status string) string {
	switch status {
	case "for_review":
		return v.T("For review")
	case "reviewed":
		return v.T("Reviewed")
	case "ignored":
		return v.T("Ignored")
	}
	return v.T("Resolved")
}

// IssueCause returns the suspected cause of an error in words.
func (v *visit) IssueCause(cause string) string {
	switch cause {
	case "api.failed_request":
		return v.T("A request failed")
	case "network.error":
		return v.T("The network")
	case "code.exception":
		return v.T("An exception in the code")
	case "code.invalid_object_access":
		return v.T("Access to an object that is not there")
	case "code.invalid_argument":
		return v.T("An invalid argument")
	}
	return v.T("Not known")
}

// IssueNoise returns why an error opens no alert in words.
func (v *visit) IssueNoise(reason string) string {
	switch reason {
	case "resize_observer_loop":
		return v.T("A loop of ResizeObserver only means that the browser lays the page out in two frames.")
	case "script_error":
		return v.T("Of errors in scripts of other origins browsers hide everything but that they happened.")
	}
	return v.T("A browser extension threw its newest errors.")
}

// setIssue sets what a form of the page has: the state, or the cause.
func setIssue(v *visit) (string, error) {
	request := map[string]any{"issue_id": v.r.PathValue("id")}
	for _, name := range []string{"status", "suspected_cause"} {
		if value := v.field(name); value != "" {
			request[name] = value
		}
	}
	return v.r.URL.Path, v.call("/rum/issue/update", request, nil)
}
