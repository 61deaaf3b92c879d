package person

import "tocsin/internal/configstore"

// Table checks references to persons.
var Table = configstore.Table{
	Kind:  configstore.Person,
	Query: `SELECT 1 FROM person WHERE account_id = $1 AND person_id = $2 AND status <> 'deleted'`,
}
