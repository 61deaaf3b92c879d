package schedule

import (
	"tocsin/internal/configstore"
)

func init() {
	configstore.Own(configstore.Schedule, `SELECT 1 FROM schedule WHERE account_id = $1 AND schedule_id = $2`)
}
