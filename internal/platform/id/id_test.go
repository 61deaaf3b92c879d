package id

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
)

var now = time.Date(2026, 4, 12, 13, 31, 11, 357_472_000, time.FixedZone("", 8*3600))

func TestULIDCarriesItsTime(t *testing.T) {
	for want, at := range map[int64]time.Time{now.UnixMilli(): now, 0: time.Unix(-1, 0)} {
		u, err := ulid.ParseStrict(ULID(at))
		if err != nil {
			t.Fatal(err)
		}
		if got := int64(u.Time()); got != want {
			t.Errorf("time of ULID(%v) = %d, want %d", at, got, want)
		}
	}
}

func TestULIDsBeginWithTheirTime(t *testing.T) {
	for _, at := range []time.Time{now, time.UnixMilli(0), time.UnixMilli(1), time.UnixMilli(1 << 40)} {
		from := ULIDFrom(at)
		if one := ULID(at); one < from || len(from) != 10 || !strings.HasPrefix(one, from) {
			t.Errorf("%s begins with %s", one, from)
		}
		if earlier := ULID(at.Add(-time.Millisecond)); at.UnixMilli() > 0 && earlier >= from {
			t.Errorf("%s of a millisecond before is not less than %s", earlier, from)
		}
		for _, text := range []string{from, ULID(at)} {
			if got, err := ULIDTime(text); err != nil || got.UnixMilli() != at.UnixMilli() {
				t.Errorf("the time of %s is %v, %v, want %v", text, got, err, at)
			}
		}
	}
	if _, err := ULIDTime("no ulid"); err == nil {
		t.Error("any text has a time")
	}
}

func TestIDsOfMillisecondLaterSortLater(t *testing.T) {
	midnight := time.Date(2026, 4, 12, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{midnight, now, midnight.Add(24*time.Hour - 2*time.Millisecond)} {
		for name, draw := range map[string]func(time.Time) string{"Message": Message, "ShortAt": ShortAt} {
			first, second := draw(at), draw(at.Add(time.Millisecond))
			if first >= second || len(first) != len(second) {
				t.Errorf("%s: %s of %s, %s of a millisecond later", name, first, at, second)
			}
		}
	}
}

func TestObjectCarriesItsTimeAndCounts(t *testing.T) {
	var seen [2][12]byte
	for i := range seen {
		s := Object(now)
		if !IsObject(s) || s != strings.ToLower(s) {
			t.Fatalf("Object = %q", s)
		}
		hex.Decode(seen[i][:], []byte(s))
	}
	if got := binary.BigEndian.Uint32(seen[0][:]); int64(got) != now.Unix() {
		t.Errorf("seconds = %d, want %d", got, now.Unix())
	}
	if seen[0][4] != seen[1][4] || seen[0][8] != seen[1][8] {
		t.Errorf("the process part moved: %x, %x", seen[0], seen[1])
	}
	count := func(b [12]byte) int { return int(b[9])<<16 | int(b[10])<<8 | int(b[11]) }
	if step := (count(seen[1]) - count(seen[0])) & 0xffffff; step != 1 {
		t.Errorf("counter stepped by %d, want 1", step)
	}
}

// Lists that are in the order of ids show the objects of one second in the order in which they were made.
func TestObjectsAreInOrderForLong(t *testing.T) {
	if before := start + issued.Load(); before >= 1<<23 {
		t.Fatalf("the counter is at %d, and begins again at %d", before, 1<<24)
	}
	last := Object(now)
	for range 1000 {
		next := Object(now)
		if next <= last {
			t.Fatalf("%s comes after %s", next, last)
		}
		last = next
	}
}

func FuzzIsObject(f *testing.F) {
	form := regexp.MustCompile(`\A[0-9a-fA-F]{24}\z`)
	for _, s := range []string{NilObject, Object(now), "", NilObject[1:], NilObject + "0", strings.Repeat("G", 24), strings.Repeat("é", 12)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := IsObject(s); got != form.MatchString(s) {
			t.Errorf("IsObject(%q) = %v", s, got)
		}
	})
}

func TestShortIsNumberInBase57(t *testing.T) {
	if got, want := short(0, 0), strings.Repeat("2", 22); got != want {
		t.Errorf("short(0, 0) = %q, want %q", got, want)
	}
	cases := [][2]uint64{{0, 1}, {0, 57}, {1, 0}, {math.MaxUint64, math.MaxUint64}}
	for range 1000 {
		cases = append(cases, [2]uint64{rand.Uint64(), rand.Uint64()})
	}
	for _, c := range cases {
		s := short(c[0], c[1])
		back := new(big.Int)
		for _, r := range s {
			back.Mul(back, big.NewInt(57))
			back.Add(back, big.NewInt(int64(strings.IndexRune(base57, r))))
		}
		want := new(big.Int).Lsh(new(big.Int).SetUint64(c[0]), 64)
		want.Add(want, new(big.Int).SetUint64(c[1]))
		if len(s) != 22 || back.Cmp(want) != 0 {
			t.Fatalf("short(%d, %d) = %q, which is %v, want %v", c[0], c[1], s, back, want)
		}
	}
}

func TestNumberStaysExactInJavaScript(t *testing.T) {
	for range 10_000 {
		if n := Number(); n < 1_000_000_000_000 || n > 1<<53-1 {
			t.Fatalf("Number = %d", n)
		}
	}
}

func TestUnusedNumbersAreDrawnAgain(t *testing.T) {
	var drawn []int64
	n, err := Unused(func(n int64) (bool, error) { drawn = append(drawn, n); return len(drawn) < 3, nil })
	if err != nil || len(drawn) != 3 || n != drawn[2] || drawn[0] == drawn[1] {
		t.Errorf("%d of %v: %v", n, drawn, err)
	}
	broken := errors.New("broken")
	if _, err := Unused(func(int64) (bool, error) { return true, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// TestNumbersAreNeighbours holds numbers that are drawn one after the other to a narrow range: rows that are created
// together must share index pages.
func TestNumbersAreNeighbours(t *testing.T) {
	last, wrapped := Number(), false
	for range 10_000 {
		n := Number()
		if step := n - last; step < 1 || step > numberStep {
			if wrapped || last < 1<<53-1-numberStep || n > lowestNumber+numberStep {
				t.Fatalf("%d comes after %d", n, last)
			}
			wrapped = true
		}
		last = n
	}
}

func TestSecretsHaveTheirForm(t *testing.T) {
	if s := Token(16); !regexp.MustCompile(`\A[0-9a-f]{32}\z`).MatchString(s) {
		t.Errorf("Token(16) = %q", s)
	}
	form := regexp.MustCompile(`\Atk_[0-9A-Za-z]{33}\z`)
	used := map[rune]bool{}
	for range 200 {
		s := AppKey()
		if !form.MatchString(s) {
			t.Fatalf("AppKey = %q", s)
		}
		for _, r := range s[len(AppKeyPrefix):] {
			used[r] = true
		}
	}
	if bits := appKeyChars * math.Log2(float64(len(base62))); bits < 192 {
		t.Errorf("an app key has %.0f bits, want at least 192", bits)
	}
	// 6,600 draws miss one given character of 62 about once in 10^46 runs.
	if len(used) != len(base62) {
		t.Errorf("app keys use %d characters, want %d", len(used), len(base62))
	}
}

// TestNoTwoAreAlike draws from many goroutines at once, which is also what the
// race detector wants to see.
func TestNoTwoAreAlike(t *testing.T) {
	makers := map[string]func() string{
		"ULID":    func() string { return ULID(now) },
		"Message": func() string { return Message(now) },
		"Object":  func() string { return Object(now) },
		"Short":   Short,
		"ShortAt": func() string { return ShortAt(now) },
		"Token":   func() string { return Token(16) },
		"AppKey":  AppKey,
		"Number":  func() string { return strconv.FormatInt(Number(), 10) },
	}
	for name, draw := range makers {
		t.Run(name, func(t *testing.T) {
			var seen sync.Map
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() {
					for range 500 {
						if s, again := seen.LoadOrStore(draw(), true); again {
							t.Errorf("%s came twice", s)
						}
					}
				})
			}
			group.Wait()
		})
	}
}

func BenchmarkULID(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ULID(now)
	}
}

func BenchmarkObject(b *testing.B) {
	for b.Loop() {
		Object(now)
	}
}

func BenchmarkShort(b *testing.B) {
	for b.Loop() {
		Short()
	}
}

func BenchmarkNumber(b *testing.B) {
	for b.Loop() {
		Number()
	}
}
