package cursor

import (
	"encoding/base64"
	"strings"
	"testing"
)

// position is the position of these tests.
type position struct {
	At int64  `json:"at"`
	ID string `json:"id"`
}

var secret = []byte("a secret of the server")

func TestDecodeReturnsPosition(t *testing.T) {
	for _, p := range []position{{}, {1776052800000, "x"}, {-1, `"<é>&` + "\u2028\x00"}} {
		text := Encode(secret, "list", p)
		if got, ok := Decode[position](secret, "list", text); !ok || got != p {
			t.Errorf("%v came back as %v, %v", p, got, ok)
		}
	}
}

func TestCursorCanBeRead(t *testing.T) {
	text, err := base64.StdEncoding.DecodeString(Encode(secret, "list", position{7, "x"}))
	if err != nil || !strings.HasPrefix(string(text), `{"at":7,"id":"x","tag":"`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestCursorIsValidForItsListOnly(t *testing.T) {
	text := Encode(secret, "list", position{7, "x"})
	for _, c := range []struct {
		name, binding string
		secret        string
	}{
		{"another list", "lis", string(secret)}, {"no list", "", string(secret)}, {"the list's name and the position's beginning", `list{`, string(secret)},
		{"another secret", "list", string(secret) + "."}, {"no secret", "list", ""},
	} {
		if _, ok := Decode[position]([]byte(c.secret), c.binding, text); ok {
			t.Errorf("%s: taken", c.name)
		}
	}
	if _, ok := Decode[struct {
		At int64 `json:"at"`
	}](secret, "list", text); ok {
		t.Error("a position of another type: taken")
	}
}

// TestEveryBitCounts changes each bit of a cursor, drops and doubles each byte, and spells the same bytes
// in other ways.
func TestEveryBitCounts(t *testing.T) {
	text := Encode(secret, "list", position{1776052800000, "x"})
	refuse := func(what, changed string) {
		if _, ok := Decode[position](secret, "list", changed); ok {
			t.Errorf("%s: %q taken", what, changed)
		}
	}
	for i := range len(text) {
		for bit := range 8 {
			refuse("a flipped bit", text[:i]+string([]byte{text[i] ^ 1<<bit})+text[i+1:])
		}
		refuse("a byte less", text[:i]+text[i+1:])
		refuse("a byte twice", text[:i]+text[i:i+1]+text[i:])
		refuse("a line broken", text[:i]+"\n"+text[i:])
	}
	inside, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	refuse("white space", base64.StdEncoding.EncodeToString([]byte(" "+string(inside))))
	refuse("another member", base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(inside), "{", `{"z":1,`, 1))))
	refuse("a number spelt otherwise", base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(inside), "1776052800000", "1776052800000.0", 1))))
	refuse("nothing", "")
}

// FuzzDecode passes Decode any text: it must not panic, and accept only what Encode returns.
func FuzzDecode(f *testing.F) {
	good := Encode(secret, "list", position{1776052800000, "x"})
	f.Add(good, "list")
	f.Add(good, "other")
	f.Add(good[:len(good)-4], "list")
	f.Add(base64.StdEncoding.EncodeToString([]byte(`{"at":1,"id":"x","tag":""}`)), "list")
	f.Add(base64.StdEncoding.EncodeToString([]byte(`{"at":1,"at":1}`)), "list")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, text, binding string) {
		if p, ok := Decode[position](secret, binding, text); ok && Encode(secret, binding, p) != text {
			t.Errorf("%q is taken as %v for %q", text, p, binding)
		}
		p := position{int64(len(text)), strings.ToValidUTF8(text, "")}
		if got, ok := Decode[position](secret, binding, Encode(secret, binding, p)); !ok || got != p {
			t.Errorf("%v came back as %v, %v", p, got, ok)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	text := Encode(secret, "list", position{1776052800000, "x"})
	for b.Loop() {
		Decode[position](secret, "list", text)
	}
}
