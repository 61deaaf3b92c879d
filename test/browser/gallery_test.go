package browser

import (
	"os/exec"
	"strconv"
	"testing"

	"tocsin/test/browser/page"
)

// A product is chosen in the gallery, and the page of its integration waits for the first event and shows it without being loaded
// again. What its page offers is usable on a phone and with the keyboard.
func TestGalleryLeadsToFirstEvent(t *testing.T) {
	w := begin(t)
	in := newInlet(t, w)
	p := signedIn(t, w)
	o := once(t)
	p.Open("/integrations")
	p.Follow("New integration")
	o.note(p.Axe(), "the gallery")
	p.Follow("Prometheus Alertmanager")
	p.See("New integration: Prometheus Alertmanager")
	p.Type("input[name=name]", "Alertmanager of the shop")
	fill(p, "select[name=channel]", strconv.FormatInt(in.channel, 10))
	p.Follow("Save")
	p.See("Waiting for the first event")
	p.See("credentials: ")
	o.note(p.Axe(), "an integration that waits")
	p.Phone()
	if wide, what := p.Sideways(); wide > 0 {
		t.Errorf("%d px sideways by %s", wide, what)
	}
	page.Eval[bool](p, "window.same = true")
	command := page.Eval[string](p, "[...document.querySelectorAll('pre')].map(e => e.textContent).find(t => t.startsWith('curl '))")
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", command, err, out)
	}
	w.Pass(t, 0)
	p.See("1 event in the last 7 days.")
	if !page.Eval[bool](p, "window.same === true") {
		t.Error("the page was loaded again")
	}
}
