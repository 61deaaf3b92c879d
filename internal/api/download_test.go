package api_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/fault"
)

// TestDownload: a file arrives whole with its headers; what fails before its first byte is answered as any other failure,
// and what fails later breaks the connection, so that no one takes a part for the whole.
func TestDownload(t *testing.T) {
	t.Parallel()
	type request struct {
		Case string `json:"case"`
	}
	op := api.Op{Path: "/toy/export", Effect: api.Write, Audit: "toy:write:export", Doc: "Exports toys.", Do: api.Do(func(c *api.Call, in request) (api.Download, error) {
		c.Touched("toy", 1, "")
		return api.Download{Name: "toys.csv", Write: func(_ context.Context, to io.Writer) error {
			switch in.Case {
			case "refused":
				return fault.Invalid("end_time", "is too far")
			case "panic":
				panic("toys")
			}
			if _, err := io.WriteString(to, "name\nbear\n"); err != nil {
				return err
			}
			if in.Case == "broken" {
				return errors.New("the disk is gone")
			}
			return nil
		}}, nil
	})}
	s := apitest.Start(t, []api.Op{op})
	get := func(kind string) (*http.Response, string, error) {
		r, err := http.Post(s.URL+"/toy/export?app_key="+apitest.KeyA, "application/json", strings.NewReader(`{"case":"`+kind+`"}`))
		if err != nil { // before the first bytes have left the server
			return nil, "", err
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		return r, string(body), err
	}
	r, body, err := get("whole")
	if err != nil {
		t.Fatal(err)
	}
	if body != "name\nbear\n" || r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/csv; charset=utf-8" ||
		r.Header.Get("Content-Disposition") != `attachment; filename="toys.csv"` || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %q %v", r.StatusCode, body, r.Header)
	}
	r, body, err = get("refused")
	if err != nil {
		t.Fatal(err)
	} else if r.StatusCode != 400 || !strings.Contains(body, `"code":"InvalidParameter"`) {
		t.Errorf("refused: %d %s", r.StatusCode, body)
	}
	r, body, err = get("panic")
	if err != nil {
		t.Fatal(err)
	} else if r.StatusCode != 500 || !strings.Contains(body, `"code":"InternalError"`) || strings.Contains(body, "toys") {
		t.Errorf("panic: %d %s", r.StatusCode, body)
	}
	_, body, err = get("broken")
	if err == nil {
		t.Errorf("a broken file arrives as a whole one: %q", body)
	}
	document, err := s.Frame.OpenAPI()
	if err != nil || !strings.Contains(string(document), `"text/csv"`) {
		t.Errorf("the reference does not say that a file is answered: %v", err)
	}
}
