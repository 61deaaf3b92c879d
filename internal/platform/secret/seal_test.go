package secret

import (
	"fmt"
	"strings"
	"testing"
)

const (
	ringText = "k2 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\nk1 //79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=\n"
	context  = "datasource/12/password"
	secret   = "correct horse battery staple"

	// stored is the secret in the form that version s1 must open for ever.
	stored = "s1.k2.4kXcIcUXi65mjem461cn1FfqoiImPGre6Vq9CodX8YOjrsuRtkUN7KbepC8GMvwNlS0prlwlcXIfLN9a9GnLYh8Qg6I"
)

func newKeyring(t testing.TB, ring string) *Keyring {
	t.Helper()
	b, err := FromText(ring)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sealed(t testing.TB, b *Keyring) string {
	t.Helper()
	s, err := b.Seal(secret, context)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealedTextOpens(t *testing.T) {
	b := newKeyring(t, ringText)
	s := sealed(t, b)
	if !IsSealed(s) || KeyID(s) != "k2" || strings.Contains(s, secret) {
		t.Errorf("sealed as %q", s)
	}
	if again := sealed(t, b); again == s {
		t.Error("the same secret is sealed to the same text twice")
	}
	if got, err := b.Open(s, context); got != secret || err != nil {
		t.Errorf("opened as %q, %v", got, err)
	}
	for _, plain := range []string{"s1.k1.AAAA", "\x00\xff", strings.Repeat("x", 100_000)} {
		s, err := b.Seal(plain, context)
		if err != nil || s == plain {
			t.Fatalf("%.20q was sealed to %.20q, %v", plain, s, err)
		}
		if got, err := b.Open(s, context); got != plain || err != nil {
			t.Errorf("%.20q came back as %.20q, %v", plain, got, err)
		}
	}
}

func TestStoredTextOpens(t *testing.T) {
	if got, err := newKeyring(t, ringText).Open(stored, context); got != secret || err != nil {
		t.Errorf("opened as %q, %v", got, err)
	}
}

func TestTextThatIsNoSecretIsUnchanged(t *testing.T) {
	b := newKeyring(t, ringText)
	for _, s := range []string{"", "${env:DB_PASSWORD}", "${env:_X9}"} {
		in, err1 := b.Seal(s, context)
		out, err2 := b.Open(s, context)
		if in != s || out != s || err1 != nil || err2 != nil {
			t.Errorf("%q: sealed to %q, %v, opened as %q, %v", s, in, err1, out, err2)
		}
	}
	for _, s := range []string{"${env:}", "${env:9X}", "${env:lower}", "${env:A}b", "a${env:A}", "${env:A}\n", "${file:A}", "$env:A"} {
		if IsReference(s) {
			t.Errorf("%q passes for a reference", s)
		}
	}
}

// TestEveryCharacterCounts changes, deletes and doubles each character of sealed
// text. The alphabet has the characters that a lenient base64 decoder ignores.
func TestEveryCharacterCounts(t *testing.T) {
	b := newKeyring(t, ringText)
	for length := range 3 { // all three endings of base64 without padding
		s, err := b.Seal(secret[:20+length], context)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s {
			altered := []string{s[:i], s[:i] + s[i+1:], s[:i] + s[i:i+1] + s[i:]}
			for _, c := range "ABQgwxyz0189-_+/=. \r\n\x00.k12s" {
				altered = append(altered, s[:i]+string(c)+s[i+1:], s[:i]+string(c)+s[i:])
			}
			for _, a := range altered {
				if got, err := b.Open(a, context); err == nil && a != s && a != "" {
					t.Fatalf("%q, altered to %q, opens as %q", s, a, got)
				}
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	b := newKeyring(t, ringText)
	s := sealed(t, b)
	other := newKeyring(t, strings.ReplaceAll(ringText, "AAEC", "BBEC"))
	k1 := newKeyring(t, strings.SplitAfter(ringText, "\n")[1])
	for name, c := range map[string]struct {
		keyring         *Keyring
		sealed, context string
	}{
		"another context":          {b, s, "datasource/13/password"},
		"context and id shifted":   {b, strings.Replace(s, "k2.", "k2.d.", 1), strings.TrimPrefix(context, "d")},
		"another key of that name": {other, s, context},
		"relabelled":               {b, strings.Replace(s, "k2", "k1", 1), context},
		"unknown key":              {k1, s, context},
		"plain text":               {b, secret, context},
		"shorter than a nonce":     {b, "s1.k2.AAAA", context},
		"no ciphertext":            {b, "s1.k2.", context},
		"another version":          {b, strings.Replace(s, "s1", "s2", 1), context},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.keyring.Open(c.sealed, c.context)
			if got != "" || err == nil {
				t.Fatalf("opened as %q, %v", got, err)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), s[6:20]) {
				t.Errorf("the error quotes it: %v", err)
			}
			if !strings.Contains(err.Error(), c.context) {
				t.Errorf("the error does not say where: %v", err)
			}
		})
	}
}

func TestRingTextIsRead(t *testing.T) {
	b := newKeyring(t, "\r\n # older\n"+strings.ReplaceAll(ringText, " ", "\t "))
	if got := fmt.Sprint(b.KeyIDs()); got != "[k2 k1]" {
		t.Errorf("keys %s", got)
	}
	if got := string(b.ring.format()); got != header+ringText {
		t.Errorf("written as %q", got)
	}
	good := strings.Fields(ringText)[1]
	for _, bad := range []string{
		"", "# nothing", "k1", "k1 " + good[4:], "k1 " + good + good, "k1 " + good + " x",
		"k.1 " + good, " " + good, "k1 " + good + "\nk1 " + good, "k1 " + strings.Replace(good, "=", "", 1),
		strings.Repeat("k", 33) + " " + good,
	} {
		_, err := FromText(bad)
		if err == nil {
			t.Errorf("%q was read", bad)
		} else if strings.Contains(err.Error(), good[4:20]) {
			t.Errorf("the error quotes a key: %v", err)
		}
	}
}

func TestPrintedKeyringRevealsNoKey(t *testing.T) {
	b := newKeyring(t, ringText)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		if got := fmt.Sprintf(verb, b); got != "secret.Keyring" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

// FuzzOpen searches for text that opens although it was not sealed here.
func FuzzOpen(f *testing.F) {
	b, s := newKeyring(f, ringText), stored
	for _, seed := range []string{s, s[:len(s)-1], "s1.k1." + s[6:], "s1.k2.", "s1..", "", "${env:A}", "s1.k2.AAAA\n"} {
		f.Add(seed, context)
	}
	f.Fuzz(func(t *testing.T, text, ctx string) {
		got, err := b.Open(text, ctx)
		switch {
		case text == "" || IsReference(text):
			if got != text || err != nil {
				t.Errorf("%q opens as %q, %v", text, got, err)
			}
		case text == s && ctx == context:
			if got != secret || err != nil {
				t.Errorf("opens as %q, %v", got, err)
			}
		case err == nil:
			t.Errorf("%q opens as %q in %q", text, got, ctx)
		}
		if IsSealed(text) != (KeyID(text) != "") {
			t.Errorf("%q: sealed %v under %q", text, IsSealed(text), KeyID(text))
		}
	})
}

func BenchmarkSealAndOpen(b *testing.B) {
	x := newKeyring(b, ringText)
	for b.Loop() {
		s, _ := x.Seal(secret, context)
		x.Open(s, context)
	}
}
