package insight

import "testing"

func TestPlainText(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "5 < 6 > 4": "5 < 6 > 4", "<p>a</p><p>b &amp; c</p>": "a\nb & c", "a<br/>b<BR>c": "a\nb\nc", "<a href=\"x\">link</a>": "link",
		"a < b": "a < b", "<": "<", "a<": "a<", "<!-- x -->y": "y", "<b": "<b", "&lt;b&gt;": "<b>",
	} {
		if got := PlainText(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// FuzzPlainText: it never fails.
func FuzzPlainText(f *testing.F) {
	for _, text := range []string{"", "<p>a", "<", "<!--", "&lt;", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) { PlainText(text) })
}
