package feishu

import (
	"encoding/json"
	"strings"
	"testing"

	"tocsin/internal/core/render"
)

// However a text is marked up, its post fits; and a text that was escaped is shown, and nothing else.
func FuzzPost(f *testing.F) {
	f.Add("🔴 **Disk** is [full](https://a/b) **\n[ ](x) ** *")
	f.Add("**a**[b](https://c)\r\n\r\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := json.Marshal(post(render.Markup(text), 500))
		if err != nil || len(b) > 600 && !strings.ContainsAny(text, "<>&\b\f") { // which this encoder writes longer
			t.Errorf("%q is a post of %d bytes, %v", text, len(b), err)
		}
		said := ""
		for _, line := range post(render.Rich.Escape(text), 1<<20).Chinese.Content {
			for _, e := range line {
				if e.Tag != "text" || e.Style != nil {
					t.Errorf("%q has %+v", text, e)
				}
				said += e.Text
			}
			said += "\n"
		}
		if want := string(render.Plain.Escape(text)); strings.TrimSpace(strings.ReplaceAll(said, "＜", "<")) != strings.TrimSpace(strings.ReplaceAll(want, "＜", "<")) {
			t.Errorf("%q says %q, want %q", text, said, want)
		}
	})
}
