package linkpage_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"tocsin/internal/linkpage"
	"tocsin/internal/platform/fault"
)

type view struct{ Name, Problem string }

// serve returns the reply of a page that shows the button that was pressed.
func serve(brief func(view) any, status int, req *http.Request) *httptest.ResponseRecorder {
	const body = `{{define "title"}}T{{end}}{{define "main"}}<p>{{.Name}}</p>{{template "problem" .}}{{end}}`
	files := fstest.MapFS{"body.html": {Data: []byte(body)}}
	page := &linkpage.Page[view]{Body: linkpage.Parse(files, "body.html"), Brief: brief, Log: slog.New(slog.DiscardHandler)}
	page.Answer = func(req *http.Request) (int, view) {
		if err := req.ParseForm(); err != nil {
			return http.StatusBadRequest, view{Problem: linkpage.NoAction}
		}
		return status, view{Name: "<" + req.PostForm.Get("do") + ">"}
	}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, req)
	return w
}

func press(form string) *http.Request {
	req := httptest.NewRequest("POST", "/ack/token", strings.NewReader(form))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return req
}

func TestPageIsFramedAndKeptByNoOne(t *testing.T) {
	w := serve(nil, http.StatusServiceUnavailable, press("do=ack"))
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"X-Robots-Tag": "noindex", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("status %d, Retry-After %q, want 503 with a time", w.Code, w.Header().Get("Retry-After"))
	}
	body := w.Body.String()
	for _, want := range []string{"<title>T · Tocsin</title>", "<main>\n<p>&lt;ack&gt;</p></main>"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
}

func TestFormLargerThanItsBoundIsNotRead(t *testing.T) {
	w := serve(nil, http.StatusOK, press("do=ack&x="+strings.Repeat("x", 5000)))
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `<p class="problem">This was not done: `+linkpage.NoAction) {
		t.Errorf("%d\n%s", w.Code, w.Body)
	}
}

func TestProgramGetsJSONWherePageHasIt(t *testing.T) {
	req := press("do=ack")
	req.Header.Set("Accept", "application/json")
	w := serve(func(v view) any { return map[string]string{"name": v.Name} }, http.StatusOK, req)
	if got := w.Body.String(); got != `{"name":"<ack>"}` || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("%s: %s", w.Header().Get("Content-Type"), got)
	}
	req = press("do=ack")
	req.Header.Set("Accept", "application/json")
	if got := serve(nil, http.StatusOK, req).Body.String(); !strings.HasPrefix(got, "<!doctype html>") {
		t.Errorf("a page without a brief form replied %s", got)
	}
}

func TestRefusalKeepsItsTextAndOtherErrorsDoNot(t *testing.T) {
	cause := fmt.Errorf("read: %w", fault.New(fault.Conflict, "it is closed"))
	if status, problem, ok := linkpage.Refused(cause); status != http.StatusConflict || problem != "it is closed" || !ok {
		t.Errorf("%d %q %t", status, problem, ok)
	}
	for _, err := range []error{nil, errors.New("disk"), fault.New(fault.Internal, "disk")} {
		if status, problem, ok := linkpage.Refused(err); status != 0 || problem != "" || ok {
			t.Errorf("%v: %d %q %t", err, status, problem, ok)
		}
	}
	if got := linkpage.Status(errors.New("disk")); got != http.StatusInternalServerError {
		t.Errorf("status %d of an error that is no refusal", got)
	}
}
