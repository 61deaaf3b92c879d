package story

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/platform/db/dbtest"
)

// moveTo closes the program and opens it on what place makes of its folder.
func (w *world) moveTo(place func(from, to string) error) {
	w.t.Helper()
	file := dbtest.Embedded(w.t, w.dsn)
	w.http.Close()
	w.must(w.app.Close())
	w.must(os.Rename(filepath.Join(w.dir, "tocsin.db.key"), file+".key"))
	to := filepath.Join(w.t.TempDir(), "other")
	w.must(place(filepath.Dir(file), to))
	w.dir, w.dsn = to, "sqlite:"+filepath.Join(to, "tocsin.db")
	w.open()
}

// copied copies a folder file by file, as cp does.
func copied(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return os.Chmod(filepath.Join(to, "tocsin.db.key"), 0o600)
}

// release releases the world's database as the command does, from another process.
func (w *world) release() string {
	w.t.Helper()
	why, err := app.Release(context.Background(), w.app.DB, w.clock)
	w.must(err)
	w.settle()
	return why
}

// shown wants a held server to show it wherever people look, and another one not to.
func (w *world) shown(held bool) {
	w.t.Helper()
	status, ready := w.page("/health/ready")
	if status != 200 || strings.Contains(ready, `"status":"held"`) != held || strings.Contains(ready, `"held":"`) != held {
		w.t.Errorf("held %v, /health/ready: %d %s", held, status, ready)
	}
	want := "tocsin_held 0"
	if held {
		want = "tocsin_held 1"
	}
	if _, metrics := w.page("/metrics"); !strings.Contains(metrics, want+"\n") {
		w.t.Errorf("the metrics lack %q", want)
	}
	for _, path := range []string{"/channel/list?app_key=" + ownKey, "/event/push/alert/standard?integration_key=unknown"} {
		answer, err := http.Post(w.http.URL+path, "application/json", strings.NewReader(`{}`))
		w.must(err)
		answer.Body.Close()
		if got := answer.Header.Get("Tocsin-Held"); (got != "") != held {
			w.t.Errorf("held %v, %s: Tocsin-Held: %q", held, path, got)
		}
	}
}

// A copy of the files takes events, decides and records, and sends nothing at all, over restarts too. When it is released
// only what still matters is sent, once.
func TestCopyIsHeld(t *testing.T) {
	t.Parallel()
	var signs, calls atomic.Int64
	outside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/alive" {
			signs.Add(1)
		} else {
			calls.Add(1)
		}
	}))
	defer outside.Close()
	w := beginWith(t, func(c *app.Config) { c.Senders.AliveURL = outside.URL + "/alive" },
		escalates(layer(onCall(day), window(60), again(5, 2))),
		hooks("incident", fmt.Sprintf(`"endpoint": "%s/hook"`, outside.URL)))
	w.push("before", "Critical")
	w.notified(newPage("ann"))
	signs.Store(0)
	called := calls.Load()

	w.moveTo(copied)
	w.shown(true)
	w.push("before", "Ok")
	w.push("open", "Critical")
	open := w.incident()
	w.clock.Add(time.Second)
	w.push("acked", "Critical", "title=other")
	w.ack(ownKey)
	w.clock.Add(time.Second)
	w.push("over", "Critical")
	w.push("over", "Ok")
	w.pass(7 * time.Minute) // repeats pile up
	w.restart()
	w.shown(true)
	w.pass(time.Minute)
	w.notified()
	if signs.Load() != 0 || calls.Load() != called {
		t.Errorf("%d signs of life, %d webhooks", signs.Load(), calls.Load()-called)
	}
	if n := strings.Count(w.whole("open"), `"status":"waiting"`); n < 3 {
		t.Errorf("%d notifications wait", n)
	}

	if why := w.release(); !strings.Contains(why, "is a copy") {
		t.Errorf("released: %q", why)
	}
	w.settle()
	w.shown(false)
	pages := w.newPages()
	if len(pages) != 1 || pages[0].to != "ann@example.com" || !strings.Contains(pages[0].text+pages[0].subject, "Trouble with open") {
		t.Errorf("after the release: %v", pages)
	}
	if !strings.Contains(w.whole("before"), "waited while the server was held: the incident is over") ||
		!strings.Contains(w.whole("open"), "waited while the server was held: a newer one to the same target is sent") {
		t.Errorf("the reasons are not recorded: %s", w.whole("before"))
	}
	if signs.Load() == 0 || calls.Load() == called {
		t.Error("no sign of life, or no webhook, after the release")
	}
	if why := w.release(); why != "" {
		t.Errorf("released twice: %q", why)
	}
	w.as(ownKey, "/incident/resolve", `{"incident_ids": [%q]}`, open)
	w.restart()
	w.shown(false)
}

// A server that is started again, or whose folder is moved, is the same: holding it would leave people untold.
func TestMovedServerIsNotHeld(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.restart()
	w.moveTo(os.Rename)
	w.shown(false)
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
}

// Any database can be started held, and stays so until it is released.
func TestServerIsHeldOnDemand(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) { c.Hold = true }, notifyAnn)
	w.shown(true)
	w.push("cpu", "Critical")
	w.change = func(*app.Config) {}
	w.restart()
	w.pass(time.Minute)
	w.notified()
	w.change = func(c *app.Config) { c.Release = true }
	w.restart()
	w.settle()
	w.shown(false)
	w.notified(newPage("ann"))
}
