package demo

import (
	"testing"

	"tocsin/internal/api/apitest"
)

func TestFillTwice(t *testing.T) {
	t.Parallel()
	s, keyring := serve(t)
	first := filled(t, s, keyring, apitest.Now)
	const everything = `{"limit": 1, "start_time": 1000000000000, "end_time": 9999999999999}`
	var page struct{ Total int }
	s.Call(first.All, "/webhook/history/list", everything).Into(&page)
	if page.Total != 100 {
		t.Errorf("%d deliveries, want 100", page.Total)
	}
	s.Call(first.All, "/monit/datasource/create", Calls()[6].Body).Into(&struct{}{})

	second := filled(t, s, keyring, apitest.Now.Add(100*day))
	keys := map[string]bool{first.All: true, first.ReadOnly: true, second.All: true, second.ReadOnly: true}
	if len(keys) != 4 {
		t.Fatal("the second time gives keys of the first")
	}
	for key := range keys {
		s.Call(key, "/webhook/history/list", everything).Into(&page)
		if page.Total != 100 {
			t.Errorf("%d deliveries after the second time, want 100", page.Total)
		}
	}
	if r := s.Call(second.All, "/monit/datasource/info", `{"id": 10}`); r.Status != 200 {
		t.Errorf("what was made in between is gone: %s", r.Body)
	}
}

func BenchmarkFill(b *testing.B) {
	keyring := newKeyring(b)
	for b.Loop() {
		b.StopTimer()
		d := apitest.OpenDB(b)
		b.StartTimer()
		if _, err := Fill(b.Context(), d, keyring, apitest.Now); err != nil {
			b.Fatal(err)
		}
	}
}
