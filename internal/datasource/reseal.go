package datasource

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// Reseal replaces the secrets of all accounts' datasources by the results of renew and returns their number. It stops at the first error.
func Reseal(tx *db.Tx, renew secret.Renew) (secrets int, err error) {
	items, err := db.All(tx, scanItem, `SELECT `+columns+` FROM datasource`)
	if err != nil {
		return 0, err
	}
	for _, d := range items {
		before := secrets
		renewed, err := d.Payload.rewritten(func(name, sealed string) (string, error) {
			if sealed == "" || secret.IsReference(sealed) {
				return sealed, nil
			}
			secrets++
			return renew(sealed, secretContext(d.AccountID, d.ID, name))
		})
		if err != nil {
			return 0, fault.Wrap(err, "reseal the secrets of datasource %d", d.ID)
		}
		if secrets == before {
			continue
		}
		payload, err := json.Marshal(renewed)
		if err != nil {
			return 0, err
		}
		if err := tx.Do(`UPDATE datasource SET payload = $1 WHERE account_id = $2 AND datasource_id = $3`,
			string(payload), d.AccountID, int64(d.ID)); err != nil {
			return 0, err
		}
	}
	return secrets, nil
}
