package feishu

import (
	"encoding/json"
	"strings"
	"testing"

	"tocsin/internal/core/render"
)

// FuzzPost checks that the post of any text fits, and that an escaped text is shown exactly as it is.
func FuzzPost(f *testing.F) {
	f.Add("🔴 **Disk** is [full](https://a/b) **\n[ ](x) ** *")
	f.Add("**a**[b](https://c)\r\n\r\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := json.Marshal(post(render.Markup(text), 500))
		if err != nil || len(b) > 600 && !strings.ContainsAny(text, "<>&\b\f") { // these characters are longer in this encoder's output
			t.Errorf("%q is a post of %d bytes, %v", text, len(b), err)
		}
		shown := ""
		for _, line := range post(render.Rich.Escape(text), 1<<20).Chinese.Content {
			for _, e := range line {
				if e.Tag != "text" || e.Style != nil {
					t.Errorf("%q has %+v", text, e)
				}
				shown += e.Text
			}
			shown += "\n"
		}
		if want := string(render.Plain.Escape(text)); strings.TrimSpace(strings.ReplaceAll(shown, "＜", "<")) != strings.TrimSpace(strings.ReplaceAll(want, "＜", "<")) {
			t.Errorf("%q is shown as %q, want %q", text, shown, want)
		}
	})
}
