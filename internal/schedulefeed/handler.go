package schedulefeed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
)

const maxCounted = 10_000 // feeds, and networks, that are counted separately

var (
	readLimit  = ratelimit.Rate{PerSecond: 5, PerMinute: 60} // of one feed: calendars read it a few times an hour
	guessLimit = ratelimit.Rate{PerMinute: 60}               // addresses of no feed, of one network
)

// errNoFeed is an address that is no feed's, or no longer.
var errNoFeed = errors.New("no such feed")

// Handler serves the feeds. address returns the network address of a request's sender.
func (s *Service) Handler(address func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Robots-Tag", "noindex")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		now := s.Clock.Now()
		text, err := s.read(r, now)
		switch {
		case errors.Is(err, errNoFeed):
			from, _ := netip.ParseAddr(address(r))
			if v := s.guesses.Allow(ratelimit.Network(from), guessLimit, now); !v.OK {
				tooMany(w)
				return
			}
			http.Error(w, "There is no such calendar.", http.StatusNotFound)
		case errors.Is(err, errTooOften):
			tooMany(w)
		case err != nil && r.Context().Err() == nil:
			s.Log.Error("calendar feed", "error", err)
			status := http.StatusInternalServerError
			if fault.KindOf(err) == fault.Unavailable {
				status = http.StatusServiceUnavailable
				h.Set("Retry-After", "60")
			}
			http.Error(w, "The calendar cannot be shown now.", status)
		case err == nil:
			h.Set("Content-Type", "text/calendar; charset=utf-8")
			h.Set("Content-Disposition", `inline; filename="on-call.ics"`)
			h.Set("Cache-Control", "private, no-cache") // kept, and asked for again each time, so that a revoked one is gone
			h.Set("ETag", text.tag)
			http.ServeContent(w, r, "", time.Unix(text.modified, 0), bytes.NewReader(text.body))
		}
	})
}

var errTooOften = errors.New("too often")

func tooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "60")
	http.Error(w, "Too many requests.", http.StatusTooManyRequests)
}

// read returns the text of the feed at an address.
func (s *Service) read(r *http.Request, now time.Time) (t *text, err error) {
	name, isFile := strings.CutSuffix(r.PathValue("file"), ".ics")
	at, ok := parseToken(name)
	if !isFile || !ok {
		return nil, errNoFeed
	}
	var f feed
	fresh := false
	err = s.DB.Snapshot(r.Context(), func(tx *db.Tx) (err error) {
		f, err = open(tx, at, now)
		if err != nil {
			return err
		}
		if v := s.reads.Allow(f.ID, readLimit, now); !v.OK {
			return errTooOften
		}
		t, fresh, err = cached(tx, f, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	if fresh && now.Unix()-f.ReadAt < readStep {
		return t, nil
	}
	sent, err := s.note(r, at, f, t, fresh, now)
	if err == nil || errors.Is(err, errNoFeed) || r.Context().Err() != nil {
		return sent, err
	}
	s.Log.Warn("a calendar feed was read, which could not be stored", "error", err) // who may read must not depend on writes
	return t, nil
}

// note stores that a feed was read and, unless its text is fresh, what was sent. It returns the text.
func (s *Service) note(r *http.Request, at token, f feed, t *text, fresh bool, now time.Time) (sent *text, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), maxNote)
	defer cancel()
	sent = t
	err = s.DB.WriteOf(ctx, f.Account, func(tx *db.Tx) error {
		f, err := open(tx, at, now)
		if err == nil && !fresh {
			sent, err = store(tx, f, t, now)
		}
		if err != nil {
			return err
		}
		return tx.Do(`UPDATE ical_feed SET read_at = $1 WHERE account_id = $2 AND feed_id = $3`, now.Unix(), f.Account, f.ID)
	})
	return sent, err
}

// maxNote bounds how long a reader waits for what is stored of the reading.
const maxNote = 5 * time.Second

// readStep is how old read_at may be, in seconds, so that a feed that is read often is not written often.
const readStep = 3600

// etag returns the entity tag of a text. It is weak, because the server may compress the text.
func etag(digest []byte) string { return fmt.Sprintf(`W/"%x"`, digest[:16]) }
