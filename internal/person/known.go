package person

import (
	"tocsin/internal/configstore"
)

func init() {
	configstore.Own(configstore.Person, `SELECT 1 FROM person WHERE account_id = $1 AND person_id = $2 AND status <> 'deleted'`)
}
