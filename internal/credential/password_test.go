package credential

import (
	"strings"
	"testing"
)

func TestHashesAreOfTheirPassword(t *testing.T) {
	hash := Hash("correct horse battery staple")
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || hash == Hash("correct horse battery staple") {
		t.Errorf("%s", hash)
	}
	if !Matches(hash, "correct horse battery staple") || Matches(hash, "correct horse battery stapl") || Matches(hash, "") {
		t.Error("a password does not match its hash, or another does")
	}
	for _, odd := range []string{"", "x", absent, strings.Replace(hash, "m=19456", "m=4194304", 1), strings.Replace(hash, "t=2", "t=9999", 1), hash[:len(hash)-2], strings.Replace(hash, "argon2id", "argon2i", 1)} {
		for _, password := range []string{"", "correct horse battery staple"} {
			if Matches(odd, password) {
				t.Errorf("%q matches %q", odd, password)
			}
		}
	}
	if _, _, _, ok := parseHash(absent); !ok {
		t.Error("a person without a password is told apart by the time that the answer takes")
	}
}

func FuzzParseHash(f *testing.F) {
	for _, s := range []string{absent, "", "$argon2id$v=19$m=1,t=1,p=1$$", "$argon2id$v=19$m=19456,t=2,p=0$YQ$YQ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if c, _, key, ok := parseHash(s); ok && (c.memory > maxMemory || c.time > maxTime || c.lanes == 0 || len(key) != keyLength) {
			t.Errorf("%q: %+v", s, c)
		}
	})
}
