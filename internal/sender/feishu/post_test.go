package feishu

import (
	"encoding/json"
	"strings"
	"testing"
)

// However a text is marked up, its post fits and says all of a short text.
func FuzzPost(f *testing.F) {
	f.Add("🔴 **Disk** is [full](https://a/b) **\n[ ](x) ** *")
	f.Add("**a**[b](https://c)\r\n\r\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := json.Marshal(post(text, 500))
		if err != nil || len(b) > 600 && !strings.ContainsAny(text, "<>&\b\f") { // which this encoder writes longer
			t.Errorf("%q is a post of %d bytes, %v", text, len(b), err)
		}
		said := ""
		for _, line := range post(text, 1<<20).Chinese.Content {
			for _, e := range line {
				said += e.Text
			}
		}
		plain := markup.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "$1$2")
		if want := strings.NewReplacer("\r", "", "\n", "").Replace(plain); strings.ReplaceAll(said, "\r", "") != want {
			t.Errorf("%q says %q, want %q", text, said, want)
		}
	})
}
