package person

import (
	"tocsin/internal/object"
	"tocsin/internal/reference"
)

func init() {
	object.Own(reference.Person, `SELECT 1 FROM person WHERE account_id = $1 AND person_id = $2 AND status <> 'deleted'`)
}
