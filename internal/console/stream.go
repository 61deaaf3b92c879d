package console

import (
	"fmt"
	"net/http"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/platform/db"
	"tocsin/internal/session"
)

// The times of a stream.
const (
	eventEvery        = 300 * time.Millisecond // at most, of one stream
	heartbeatEvery    = 15 * time.Second
	streamWriteBudget = 30 * time.Second // a browser that does not read for so long is disconnected
)

// listen answers with server-sent events: changed, when something in the account has changed. It ends when the session
// does, which is checked before each event, so that a browser that has signed out receives nothing.
func listen(v *page.Visit) error {
	s := v.Live.Join(v.Who.AccountID, v.Who.PersonID)
	if s == nil {
		return &api.Refusal{Status: http.StatusTooManyRequests, Code: "RequestTooFrequently", Message: v.T("Too many pages are open.")}
	}
	defer v.Live.Leave(v.Who.AccountID, s)
	v.Live.Check(v.Who.AccountID) // the changes from here on are noticed
	h := v.Writer.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // proxies must not hold events back
	h.Set(gzhttp.HeaderNoCompression, "1")
	heartbeat := time.NewTicker(heartbeatEvery)
	defer heartbeat.Stop()
	text := "retry: 2000\n\n"
	if seen, err := v.Live.Seen(v.Context, v.Who.AccountID); err != nil || v.Query("seen") != seen { // in between something happened
		text += "event: changed\ndata:\n\n"
	}
	for {
		if err := send(v, text); err != nil {
			return nil // the browser is gone
		}
		select { // changes that come in a storm are one event
		case <-v.Context.Done():
			return nil
		case <-time.After(eventEvery):
		}
		select {
		case <-v.Context.Done():
			return nil
		case <-v.Live.Ended:
			return nil
		case <-s.Changed:
			text = "event: changed\ndata:\n\n"
		case <-heartbeat.C:
			text = "event: alive\ndata:\n\n"
		}
		if signedIn, err := stillSignedIn(v); err != nil || !signedIn {
			return nil
		}
	}
}

// send writes a part of a stream at once. The server's limit on the time of an answer does not suit one that goes on, so
// each part has a limit of its own.
func send(v *page.Visit, text string) error {
	control := http.NewResponseController(v.Writer)
	if err := control.SetWriteDeadline(time.Now().Add(streamWriteBudget)); err != nil {
		return err
	}
	if _, err := fmt.Fprint(v.Writer, text); err != nil {
		return err
	}
	return control.Flush()
}

// stillSignedIn reports whether the session goes on.
func stillSignedIn(v *page.Visit) (found bool, err error) {
	cookie, err := v.Request.Cookie(v.CookieName(""))
	if err != nil {
		return false, err
	}
	err = v.DB.Snapshot(v.Context, func(tx *db.Tx) (err error) {
		_, _, found, err = session.Find(tx, cookie.Value, v.Clock.Now())
		return err
	})
	return found, err
}
