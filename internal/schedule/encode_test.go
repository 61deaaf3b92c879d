package schedule

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
)

// TestAppendJSONEqualsEncoder compares AppendJSON with the encoder for random schedules.
func TestAppendJSONEqualsEncoder(t *testing.T) {
	t.Parallel()
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

// TestAppendJSONOfPage is the same for a page of a list.
func TestAppendJSONOfPage(t *testing.T) {
	t.Parallel()
	for n := range 4 {
		page := Page{api.CursorPage[Schedule]{Items: make([]Schedule, n), Total: int64(n) * 1e15, HasNextPage: n > 1, SearchAfterCtx: "x\"y"}}
		for i := range page.Items {
			page.Items[i] = randomSchedule(rand.New(rand.NewPCG(uint64(n), uint64(i))))
		}
		want, err := json.Marshal(page, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := page.AppendJSON([]byte("x")); err != nil || string(got[1:]) != string(want) {
			t.Fatalf("%v: got\n%s\nwant\n%s", err, got[1:], want)
		}
	}
}

// randomSchedule fills every member by reflection, so that a later one cannot be forgotten.
func randomSchedule(r *rand.Rand) (s Schedule) {
	fill(r, reflect.ValueOf(&s).Elem())
	s.Notify = nil
	if r.IntN(2) > 0 { // the encoder writes it in both cases
		advance := r.Int64N(9)
		s.Notify = &Notify{AdvanceInTime: &advance, Webhooks: &[]Webhook{{}}}
	}
	if r.IntN(3) > 0 {
		s.LayerSchedules = s.ScheduleLayers
	}
	return s
}

func fill(r *rand.Rand, v reflect.Value) {
	texts := []string{"", "A", "夜勤", `quo"te\`, "<b>&\u2028", "not \xff UTF-8", "null", "line\nbreak\x01"}
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64N(1<<62)>>r.IntN(62) - r.Int64N(2))
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) > 0)
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		if r.IntN(4) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
			for i := range v.Len() {
				fill(r, v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "_" && name != "Notify" {
				fill(r, v.Field(i))
			}
		}
	default:
		panic("a member of the kind " + v.Kind().String())
	}
}
