package team

import (
	"tocsin/internal/configstore"
)

func init() {
	configstore.Own(configstore.Team, `SELECT 1 FROM team WHERE account_id = $1 AND team_id = $2`)
}
