package event

import (
	"testing"

	"github.com/go-json-experiment/json"
)

// FuzzAppendJSON compares an event as it is stored with what the common encoder writes, and refuses what that refuses.
func FuzzAppendJSON(f *testing.F) {
	f.Add("key", "title", "", "Info", "host", "web-1", "", "", int64(0), 0)
	f.Add("", "a\"b\\c\n\x01\u2028<&>", "d", "Ok", "\U0001F600", "v", "\uFFFD", "alt", int64(-1), 3)
	f.Add("key", "title", "", "Warning", "severity", "page", "", "Page", int64(1), 4)
	f.Add("\x00", "\xff", "", "", "a", "\xed\xa0\x80", "g", "", int64(1)<<62, 1)
	f.Fuzz(func(t *testing.T, key, title, description, status, name, value, group, alt string, n int64, more int) {
		e := Event{ID: key, Integration: n, AlertKey: key, TitleRule: title, Title: title, Description: description, Status: status,
			Severity: status, Word: alt, UnknownWord: more&4 > 0, GroupKey: group, GroupTitle: group, GroupText: group, Time: n, OwnChannel: n / 2,
			ByHand: n%2 == 1, Shortened: n%3 == 1, Received: n}
		if more&1 > 0 {
			e.Labels = map[string]string{name: value, "\uFF00" + name: title, "\U0001F600": "", "a": key}
			e.Identifying = Identifying(e.Labels)
		}
		if more&2 > 0 {
			e.Images = []Image{{Src: value, Href: key, Alt: alt}, {Src: title, Alt: group}}
		}
		want, refused := json.Marshal(&e, json.Deterministic(true))
		got, err := e.AppendJSON([]byte("before"))
		if (err != nil) != (refused != nil) {
			t.Fatalf("%v, want %v", err, refused)
		}
		if err == nil && string(got) != "before"+string(want) {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	})
}

func BenchmarkAppendJSON(b *testing.B) {
	e := Event{ID: "6a6b5c3f0011223344556677", Integration: 7000000000051, AlertKey: "bench-1", TitleRule: "Trouble on $host", Title: "Trouble on a",
		Description: "More errors than usual", Status: Info, Severity: Info, Time: 1776000000, Received: 1776000000000000000,
		Labels: map[string]string{"service": "service-7", "host": "host-1", "cluster": "eu-1", "region": "north"}}
	b.ReportAllocs()
	for text := []byte(nil); b.Loop(); {
		text, _ = e.AppendJSON(text[:0])
	}
}
