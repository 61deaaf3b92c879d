package schedule

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// AppendJSON and the encoder write the same, whatever a schedule holds.
func TestAppendJSONIsWhatTheEncoderWrites(t *testing.T) {
	for seed := range uint64(500) {
		s := randomSchedule(rand.New(rand.NewPCG(seed, 1)))
		want, err := json.Marshal(s, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.AppendJSON([]byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got[1:], want) {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, got[1:], want)
		}
	}
}

func randomSchedule(r *rand.Rand) Schedule {
	texts := []string{"", "A", "夜勤", `quo"te\`, "<b>&\u2028", "not \xff UTF-8", uncomputed, "line\nbreak\x01"}
	text := func() string { return texts[r.IntN(len(texts))] }
	number := func() int64 { return r.Int64N(1<<62) >> r.IntN(62) }
	group := func() Group {
		g := Group{GroupName: text(), Name: text(), Start: number(), End: number()}
		for range r.IntN(3) {
			m := Member{RoleID: number()}
			for range r.IntN(4) {
				m.PersonIDs = append(m.PersonIDs, number())
			}
			g.Members = append(g.Members, m)
		}
		return g
	}
	layer := func() ComputedLayer {
		l := ComputedLayer{LayerName: text(), Name: text(), Mode: r.Int64N(2)}
		if r.IntN(4) > 0 {
			entries := make([]Entry, r.IntN(4))
			for i := range entries {
				entries[i] = Entry{Start: number(), End: number(), Group: group(), Index: r.IntN(9)}
			}
			l.Schedules = &entries
		}
		return l
	}
	s := Schedule{Stamps: Stamps{AccountID: number()}, FinalSchedule: layer(), TimeZone: text()}
	name, description := text(), text()
	s.Name, s.Description = &name, &description
	if r.IntN(4) > 0 {
		layers := make([]ComputedLayer, r.IntN(3))
		for i := range layers {
			layers[i] = layer()
		}
		s.ScheduleLayers = &layers
		if r.IntN(3) > 0 {
			s.LayerSchedules = &layers
		}
	}
	if r.IntN(2) > 0 {
		s.CurOncall = &OncallEntry{Start: number(), Group: group()}
	}
	for i := range r.IntN(3) {
		s.Warnings = append(s.Warnings, fmt.Sprint(text(), i))
	}
	return s
}
