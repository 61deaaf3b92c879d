package team

import "tocsin/internal/configstore"

// Table checks references to teams.
var Table = configstore.Table{
	Kind:  configstore.Team,
	Query: `SELECT 1 FROM team WHERE account_id = $1 AND team_id = $2`,
}
