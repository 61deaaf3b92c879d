package schedule

import "tocsin/internal/configstore"

// Table checks references to schedules.
var Table = configstore.Table{
	Kind:  configstore.Schedule,
	Query: `SELECT 1 FROM schedule WHERE account_id = $1 AND schedule_id = $2`,
}
