package rumintake

import (
	"bytes"
	"compress/zlib"
	"log/slog"
	"os"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/core/rumerror"
	"tocsin/internal/platform/fault"
	"tocsin/internal/rum"
	"tocsin/internal/source/browser"
)

func call(t *testing.T) *api.Call { return &api.Call{Ctx: t.Context()} }

func nothing() (browser.Batch, error) { return browser.Batch{}, nil }

// While the reports of one account are slow, those of another are stored. So many may wait, and no more.
func TestOneAccountDoesNotStopAnother(t *testing.T) {
	t.Parallel()
	r := New(Config{Log: slog.New(slog.DiscardHandler)})
	slow, other := rum.Application{AccountID: 1}, rum.Application{AccountID: 2}
	reading := make(chan struct{})
	release := make(chan struct{})
	done := make(chan error)
	go func() {
		done <- r.put(call(t), slow, func() (browser.Batch, error) {
			close(reading)
			<-release
			return browser.Batch{}, nil
		})
	}()
	<-reading
	for range maxWaiting {
		if err := r.add(1, &report{application: slow, read: nothing, done: make(chan struct{})}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.put(call(t), slow, nothing); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("one more: %v", err)
	}
	if err := r.put(call(t), other, nothing); err != nil {
		t.Error(err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := r.put(call(t), slow, nothing); err != nil {
		t.Error(err)
	}
}

// A body that cannot be read, or that breaks its reader, fails its own request.
func TestBrokenReportFailsAlone(t *testing.T) {
	t.Parallel()
	r := New(Config{Log: slog.New(slog.DiscardHandler)})
	a := rum.Application{AccountID: 1}
	if err := r.put(call(t), a, func() (browser.Batch, error) { panic("broken") }); err == nil {
		t.Error("no error of a panic")
	}
	if err := r.put(call(t), a, nothing); err != nil {
		t.Error(err)
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	one := &report{application: rum.Application{ApplicationID: "a"}, batch: browser.Batch{Errors: []rumerror.Error{{Message: "order 1"}, {Message: "x"}, {Message: "order 2"}}}}
	two := &report{application: rum.Application{ApplicationID: "b"}, batch: browser.Batch{Errors: []rumerror.Error{{Message: "order 3"}}}}
	three := &report{application: rum.Application{ApplicationID: "a"}, batch: browser.Batch{Errors: []rumerror.Error{{Message: "order 4"}}}}
	list := groups([]*report{one, two, three})
	if len(list) != 3 || len(list[0].errors) != 3 || len(list[0].reports) != 2 || len(list[1].errors) != 1 || len(list[2].reports) != 1 {
		t.Errorf("%+v", list)
	}
}

func TestRegressed(t *testing.T) {
	t.Parallel()
	versions := map[string]int64{"1": 10, "2": 20, "3": 30}
	for _, c := range []struct {
		status  string
		had     []string
		comes   string
		regress bool
	}{
		{"resolved", []string{"2"}, "2", false},
		{"resolved", []string{"2"}, "1", false}, // older than those it had
		{"resolved", []string{"2"}, "3", true},
		{"resolved", []string{"2"}, "4", true}, // more versions than are kept
		{"resolved", []string{"2"}, "", true},
		{"resolved", nil, "1", true},
		{"ignored", []string{"2"}, "3", false},
		{"for_review", []string{"2"}, "3", false},
	} {
		issue := rum.Issue{Status: c.status, Versions: c.had}
		if version, back := regressed(&issue, []*rumerror.Error{{Version: c.comes}}, versions); back != c.regress || back && version != c.comes {
			t.Errorf("%+v: %q %t", c, version, back)
		}
	}
}

// FuzzInflated checks that no body becomes larger than its bound.
func FuzzInflated(f *testing.F) {
	for _, name := range []string{"dd-03-deflate.zlib", "dd-02-fetch.ndjson"} {
		body, err := os.ReadFile("../../source/browser/testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body, true)
		f.Add(body[:len(body)/2], false)
	}
	var bomb bytes.Buffer
	w := zlib.NewWriter(&bomb)
	_, _ = w.Write(make([]byte, 2*MaxInflated))
	_ = w.Close()
	f.Add(bomb.Bytes(), true)
	f.Fuzz(func(t *testing.T, body []byte, declared bool) {
		plain, err := inflated(body, declared)
		if len(plain) > MaxInflated && !bytes.Equal(plain, body) {
			t.Errorf("%d bytes", len(plain))
		}
		if bytes.Equal(body, bomb.Bytes()) && fault.KindOf(err) != fault.TooLarge {
			t.Error(err)
		}
	})
}
