package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tocsin/test/browser/world"
)

// The console shows people what they may see and do, and nothing else: no link and no form that a person is shown is
// refused, and no form breaks that is sent as it stands.
func TestPeopleAreShownWhatTheyMayDo(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]func(*world.World) string{
		"owner":     func(w *world.World) string { return w.Keys.All },
		"operator":  func(w *world.World) string { return w.KeyOf(t, "Jonas Köhler") },
		"responder": func(w *world.World) string { return w.KeyOf(t, "Łukasz Wiśniewski") },
		"reader":    func(w *world.World) string { return w.Keys.ReadOnly },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			world.PushDemo(t, w)
			c, o := client(t, w, key(w)), once(t)
			s := crawl(c)
			s.wrong.report(t)
			for _, f := range s.forms {
				if strings.HasPrefix(f.action, "/sign-") || strings.Contains(f.action, "session") {
					continue // the others would not be reached
				}
				a := c.Post(f.action, f.values)
				if a.Status == http.StatusForbidden || a.Status >= 500 || a.Status == http.StatusMethodNotAllowed {
					o.note([]string{fmt.Sprintf("%d %s", a.Status, world.Shape(f.action))}, "a form of", f.page)
				}
				if a.Status != http.StatusSeeOther && !world.IsPage(a) && !world.IsFile(a) {
					t.Errorf("%s of %s is not answered with a page: %s", f.action, f.page, a)
				}
				if world.IsPage(a) {
					o.note(unsound(a), f.action)
				}
			}
		})
	}
}
