// Package person holds the account itself and the persons in it: who they are, how they are reached and
// which roles they have.
//
// Persons' contact data is personal: this package must never log it, nor give a phone number to callers
// who only want to tell persons apart.
package person

import (
	"embed"

	"tocsin/internal/api"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops are the operations on persons.
func Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/person/infos", Effect: api.Read,
			Doc:     "Reads up to 1,000 persons at once.",
			Notes:   "Items come in the order of the request, each once. Ids that name nobody in the account are left out. The account's own id is answered with the account's record.",
			Example: `{"person_ids": [2476123212131, 2659460982131]}`,
			Do:      api.Do(infos),
		},
	})
}
