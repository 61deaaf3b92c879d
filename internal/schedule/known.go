package schedule

import (
	"tocsin/internal/object"
	"tocsin/internal/reference"
)

func init() {
	object.Own(reference.Schedule, `SELECT 1 FROM schedule WHERE account_id = $1 AND schedule_id = $2`)
}
