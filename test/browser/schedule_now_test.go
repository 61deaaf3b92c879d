package browser

import (
	"strings"
	"testing"
	"time"

	"tocsin/test/browser/page"
)

// A second before a handover, at it and a second after it, the first page, the list, the schedule, the explanation and the
// API name the same person.
func TestAllPagesAgreeWhoIsOnCall(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	handover := berlin(t, "2026-11-23 09:00")
	w.Clock.Add(handover.Add(-time.Second).Sub(w.Clock.Now()))
	for _, want := range []string{"김민준", "Anna Schäfer", "Anna Schäfer"} {
		now := w.Clock.Now()
		if got := onCall(t, w, weekly, now); got != want {
			t.Fatalf("at %v the API says %s", now, got)
		}
		p.Open(picture(t, w, weekly, ""))
		if got := page.Eval[string](p, `document.querySelector('#now-h').parentElement.querySelector('.big bdi').textContent`); got != want {
			t.Errorf("at %v the schedule says %s", now, got)
		}
		p.Open(picture(t, w, weekly, "/why"))
		if got := page.Eval[string](p, `document.querySelector('#answer').parentElement.querySelector('.big bdi').textContent`); got != want {
			t.Errorf("at %v the explanation says %s", now, got)
		}
		p.Open("/schedules")
		if got := page.Eval[string](p, `[...document.querySelectorAll('.schedules > li')].find(l => l.innerText.includes('`+weekly+`')).querySelector('.who bdi').textContent`); got != want {
			t.Errorf("at %v the list says %s", now, got)
		}
		p.Open("/")
		mine := page.Eval[string](p, `[...document.querySelectorAll('.on-call li')].find(l => l.innerText.includes('`+weekly+`')).innerText`)
		if on := strings.Contains(mine, "You, until"); on != (want == "Anna Schäfer") || !on && !strings.Contains(mine, "Now: "+want) {
			t.Errorf("at %v the first page says %s", now, mine)
		}
		w.Clock.Add(time.Second)
	}
	sound(t, p)
}
