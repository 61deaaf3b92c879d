package console_test

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// seen returns what a page that is drawn now has seen of the account.
func (b *browser) seen() string {
	b.w.t.Helper()
	found := regexp.MustCompile(`data-seen="([^"]+)"`).FindStringSubmatch(b.get("/incidents").shows().body)
	if found == nil {
		b.w.t.Fatal("the page does not say what it has seen")
	}
	return found[1]
}

// follow opens the stream of a page that is drawn now.
func (b *browser) follow() (events chan string, reply *http.Response) {
	b.w.t.Helper()
	return b.followFrom(b.seen())
}

// followFrom opens the stream of a page that has seen so much. The channel has the names of its events, and is closed when
// it ends.
func (b *browser) followFrom(seen string) (events chan string, reply *http.Response) {
	b.w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	b.w.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.w.url+"/live?seen="+url.QueryEscape(seen), nil)
	b.w.must(err)
	r.Header.Set("Accept-Encoding", "gzip")
	reply, err = b.client.Do(r)
	b.w.must(err)
	events = make(chan string, 100)
	if reply.StatusCode != http.StatusOK {
		reply.Body.Close()
		return events, reply
	}
	began := make(chan struct{})
	go func() {
		defer close(events)
		defer reply.Body.Close()
		lines := bufio.NewScanner(reply.Body)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "retry:") {
				close(began)
			} else if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				events <- name
			}
		}
	}()
	<-began
	return events, reply
}

// awaits waits for an event; the limit of the test ends it when none comes.
func (w *world) awaits(events chan string) {
	w.t.Helper()
	if name, open := <-events; !open || name != "changed" {
		w.t.Fatalf("got %q, open: %t", name, open)
	}
}

// after does something that pages are notified of, after what they have been notified of already.
func (w *world) after(events chan string, change func()) {
	w.t.Helper()
	for len(events) > 0 {
		<-events
	}
	change()
	w.awaits(events)
}

// TestLive checks that the pages of an account are notified of events, of configuration and of what another process writes,
// and that those of other accounts are not.
func TestLive(t *testing.T) {
	t.Parallel()
	w := begin(t)
	everyone := dbtest.Server != "" // PostgreSQL counts the changes of all processes together, its own too
	events, reply := w.signIn(annKey).follow()
	other, _ := w.signIn(emptyKey).follow()
	if kind, coding := reply.Header.Get("Content-Type"), reply.Header.Get("Content-Encoding"); kind != "text/event-stream" || coding != "" {
		t.Errorf("%q, %q", kind, coding)
	}
	w.push(shopDown)
	w.awaits(events)
	if len(other) > 0 && !everyone {
		t.Error("another account's page was told")
	}
	w.after(events, func() {
		w.must(w.app.DB.Write(t.Context(), func(tx *db.Tx) error { return configstore.BumpRevision(tx, 7000000000001) }))
	})
	if len(other) > 0 && !everyone {
		t.Error("another account's page was told of the configuration")
	}
	if w.app.DB.Shared() {
		return // nodes count their changes for each other: TestPagesOfOtherNodes
	}
	second, err := db.Open(t.Context(), w.app.Config.DB)
	w.must(err)
	defer second.Close()
	w.after(other, func() { // whose account another process has changed is not known
		w.must(second.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE incident SET title = title || 'x' WHERE account_id = 7000000000001`)
			return err
		}))
	})
	w.awaits(events)
}

// TestLiveMissesNothing checks that a page learns of what happened after it was drawn and before its stream began.
func TestLiveMissesNothing(t *testing.T) {
	t.Parallel()
	w := begin(t)
	ann := w.signIn(annKey)
	for _, change := range []func(){
		func() { w.push(shopDown) },
		func() {
			w.must(w.app.DB.Write(t.Context(), func(tx *db.Tx) error { return configstore.BumpRevision(tx, 7000000000001) }))
		},
	} {
		before := ann.seen()
		change()
		events, _ := ann.followFrom(before)
		w.awaits(events)
	}
	events, _ := ann.follow()
	w.app.StopStreams()
	for name := range events {
		t.Errorf("a page that is new reads %q", name)
	}
}

// TestLiveEnds checks that a stream ends with its session: a browser that has signed out receives nothing.
func TestLiveEnds(t *testing.T) {
	t.Parallel()
	w := begin(t)
	ann := w.signIn(annKey)
	events, _ := ann.follow()
	ann.post("/sign-out")
	w.push(shopDown)
	for name := range events {
		t.Errorf("was told %q", name)
	}
	if a := ann.get("/live"); !strings.HasPrefix(a.path, "/sign-in") {
		t.Errorf("at %s", a.path)
	}
}

// TestLiveLimit opens as many streams as a person may have: one more is refused, and another person is not touched.
func TestLiveLimit(t *testing.T) {
	t.Parallel()
	w := begin(t)
	ann := w.signIn(annKey)
	for range 20 {
		ann.follow()
	}
	if _, reply := ann.follow(); reply.StatusCode != http.StatusTooManyRequests {
		t.Errorf("%s", reply.Status)
	}
	events, reply := w.signIn(bobKey).follow()
	if reply.StatusCode != http.StatusOK {
		t.Fatal(reply.Status)
	}
	w.push(shopDown)
	w.awaits(events)
	w.app.StopStreams()
	for range events { // until it is closed
	}
}
