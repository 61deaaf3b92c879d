package console_test

import (
	"fmt"
	"net/http"
	"testing"

	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// BenchmarkPeople draws the page of an account with 200 persons, which two calls of a list return.
func BenchmarkPeople(b *testing.B) {
	w := begin(b)
	w.must(w.app.DB.WriteOf(b.Context(), 7000000000001, func(tx *db.Tx) error {
		all := make([]person.Record, 200)
		for i := range all {
			name := fmt.Sprintf("Person %03d", i)
			all[i] = person.Record{Item: person.Item{PersonID: 7000000001000 + int64(i), PersonName: name, Status: "enabled",
				Email: fmt.Sprintf("p%d@example.com", i)}}
		}
		return person.Load(tx, 7000000000001, all)
	}))
	owner := w.signIn(ownerKey)
	for b.Loop() {
		if a := owner.get("/people"); a.status != http.StatusOK {
			b.Fatal(a.status)
		}
	}
}
