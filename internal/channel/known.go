package channel

import (
	"tocsin/internal/object"
	"tocsin/internal/reference"
)

func init() {
	object.Own(reference.Channel, `SELECT 1 FROM channel WHERE account_id = $1 AND channel_id = $2`)
}
