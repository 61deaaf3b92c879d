package rum

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/core/stack"
	"tocsin/internal/rum"
	"tocsin/internal/sourcemap"
)

// sampleRow is one error of an issue.
type sampleRow struct{ rum.Sample }

// Seconds returns the moment in Unix seconds.
func (s sampleRow) Seconds() int64 { return s.Timestamp / 1000 }

// PageLink returns the address of the page if it can be followed; empty: it is shown as text.
func (s sampleRow) PageLink() string {
	if u, err := url.Parse(s.URL); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return s.URL
	}
	return ""
}

// frameRow is a frame of a stack, in original code if there is a map of its file.
type frameRow struct{ sourcemap.Frame }

// frameAsSent returns a frame as it was sent.
func frameAsSent(f stack.Frame, library bool) frameRow {
	return frameRow{sourcemap.Frame{File: f.File, Line: f.Line, Column: f.Column, Function: f.Function, ThirdParty: library}}
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
	page.Titled
	Issue    rum.Issue
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

// issueStatuses and issueCauses are the states and the suspected causes of an error.
var (
	issueStatuses = []string{"for_review", "reviewed", "ignored", "resolved"}
	issueCauses   = []string{
		"api.failed_request", "network.error", "code.exception", "code.invalid_object_access", "code.invalid_argument", "unknown",
	}
)

func showIssue(v *page.Visit) (page.View, error) {
	d := issueView{Statuses: issueStatuses, Causes: issueCauses, May: v.Who.MayAny(manageApplications), Raw: v.Query("code") == "sent"}
	var err error
	d.Issue, err = page.Call[rum.Issue](v, "/rum/issue/info", rum.IssueInfoRequest{IssueID: v.Request.PathValue("id")})
	if err != nil {
		return nil, err
	}
	first, rest, _ := strings.Cut(d.Issue.Error.Message, "\n")
	d.Titled = page.Titled(page.Cut(first, 300))
	if err := d.readDays(v); err != nil {
		return nil, err
	}
	if err := d.readSample(v); err != nil {
		return nil, err
	}
	if !d.Found { // the message may hold a stack
		d.Sample = sampleRow{rum.Sample{Stack: rest, Service: d.Issue.Service, Version: d.Issue.LastSeen.Version}}
	}
	part, err := d.stack(v, d.Sample.Frames, d.Sample.Stack)
	if err != nil {
		return nil, err
	}
	d.Stacks = append(d.Stacks, part)
	for _, e := range d.Sample.Causes[:min(len(d.Sample.Causes), shownCauses)] {
		part, err := d.stack(v, e.Frames, e.Stack)
		if err != nil {
			return nil, err
		}
		part.Title = v.T("Caused by %s", page.Cut(strings.TrimPrefix(e.Type+": "+e.Message, ": "), 1000))
		d.Stacks = append(d.Stacks, part)
	}
	d.Original, d.AsSent = issuePath(v, d.Number, false), issuePath(v, d.Number, true)
	return d, nil
}

// readSample reads the newest error, or the one whose number the address has.
func (d *issueView) readSample(v *page.Visit) error {
	n, err := strconv.Atoi(v.Query("n"))
	if err != nil || n < 1 || n > 20 {
		n = 1
	}
	request := rum.IssueSampleListRequest{IssueID: v.Request.PathValue("id"), Limit: int64(min(n+1, 20))}
	reply, err := page.Call[api.Items[rum.Sample]](v, "/rum/issue/sample/list", request)
	if err != nil {
		return err
	}
	d.Number = max(1, min(n, len(reply.Items)))
	d.Found = len(reply.Items) > 0
	if d.Found {
		d.Sample = sampleRow{reply.Items[d.Number-1]}
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
func issuePath(v *page.Visit, number int, raw bool) string {
	query := url.Values{}
	if number > 1 {
		query.Set("n", strconv.Itoa(number))
	}
	if raw {
		query.Set("code", "sent")
	}
	path := "/rum/issues/" + url.PathEscape(v.Request.PathValue("id"))
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// stack returns the stack of an error in original code, as far as there are maps and the person may read code.
func (d *issueView) stack(v *page.Visit, sent []stack.Frame, text string) (stackPart, error) {
	if len(sent) == 0 {
		sent = stack.Parse(text)
	}
	if len(sent) == 0 {
		return stackPart{}, nil
	}
	service, list := d.Sample.Service, []frameRow{}
	reply, err := page.Call[sourcemap.Enriched](v, "/sourcemap/stack/enrich", sourcemap.EnrichRequest{
		Type: "browser", Service: page.Cut(service, 250), Version: d.Sample.Version, Frames: sent, Near: 3, URL: d.Sample.URL,
	})
	if refused := api.RefusalOf(err); refused != nil && (service == "" || refused.Code == "AccessDenied") {
		d.Denied = service != ""
		for _, f := range sent {
			list = append(list, frameAsSent(f, f.Library()))
		}
	} else if err != nil {
		return stackPart{}, err
	}
	for _, f := range reply.Frames {
		list = append(list, frameRow{f})
	}
	for _, file := range reply.Missing {
		if !slices.Contains(d.Missing, file) {
			d.Missing = append(d.Missing, file)
		}
	}
	return stackPart{Runs: runs(list, d.Raw)}, nil
}

// runs returns the frames in runs of own ones and those of libraries. If all are of libraries, the first run counts as
// own, so that a stack is never all folded. raw shows frames as they were sent.
func runs(list []frameRow, raw bool) (all []frames) {
	for _, f := range list {
		if raw && f.Minified != nil {
			f = frameAsSent(*f.Minified, f.ThirdParty)
		}
		if len(all) == 0 || all[len(all)-1].Library != f.ThirdParty {
			all = append(all, frames{Library: f.ThirdParty})
		}
		last := &all[len(all)-1]
		last.Frames = append(last.Frames, f)
	}
	if len(all) == 1 {
		all[0].Library = false
	}
	return all
}

// issueStatus returns the state of an error in words.
func issueStatus(v *page.Visit, status string) string {
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

// issueCause returns the suspected cause of an error in words.
func issueCause(v *page.Visit, cause string) string {
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

// issueNoise returns why an error opens no alert in words.
func issueNoise(v *page.Visit, reason string) string {
	switch reason {
	case "resize_observer_loop":
		return v.T("A loop of ResizeObserver only means that the browser lays the page out in two frames.")
	case "script_error":
		return v.T("Of errors in scripts of other origins browsers hide everything but that they happened.")
	}
	return v.T("A browser extension threw its newest errors.")
}

// setIssue sets what a form of the page has: the state, or the cause.
func setIssue(v *page.Visit) (string, error) {
	request := rum.IssueUpdateRequest{
		IssueID: v.Request.PathValue("id"), Status: v.Field("status"), SuspectedCause: v.Field("suspected_cause"),
	}
	return v.Request.URL.Path, page.Do[api.Empty](v, "/rum/issue/update", request)
}
