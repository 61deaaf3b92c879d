package team

import (
	"tocsin/internal/object"
	"tocsin/internal/reference"
)

func init() {
	object.Own(reference.Team, `SELECT 1 FROM team WHERE account_id = $1 AND team_id = $2`)
}
