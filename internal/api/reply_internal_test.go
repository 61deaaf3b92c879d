package api

import (
	"strings"
	"testing"
)

// words is a reply that writes itself.
type words struct {
	text string
	at   *byte // of the last reply, where it ends
}

func (w *words) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, w.text...)
	w.at = &b[len(b)-1]
	return b, nil
}

// TestRepliesBytesAreNotCopied: neither of one that fits into the buffer nor of one that has outgrown it.
func TestRepliesBytesAreNotCopied(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 100, 1 << 20} {
		x, w := &exchange{}, &words{text: `"` + strings.Repeat("x", n) + `"`}
		if err := x.encode(w); err != nil {
			t.Fatal(err)
		}
		b := x.reply.Bytes()
		if want := `{"request_id":"","data":` + w.text + "}"; string(b) != want {
			t.Errorf("got %.100s, want %.100s", b, want)
		}
		if n < 1<<20 && &b[len(b)-2] != w.at {
			t.Errorf("%d bytes were copied", n)
		}
		x.release()
	}
}
