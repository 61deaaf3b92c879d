package role

import (
	"tocsin/internal/configstore"
)

func init() {
	configstore.Own(configstore.Role, `SELECT 1 FROM role WHERE account_id = $1 AND role_id = $2`)
}
