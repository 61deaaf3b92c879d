package role

import (
	"tocsin/internal/object"
	"tocsin/internal/reference"
)

func init() {
	object.Own(reference.Role, `SELECT 1 FROM role WHERE account_id = $1 AND role_id = $2`)
}
