package channel

import (
	"tocsin/internal/configstore"
)

func init() {
	configstore.Own(configstore.Channel, `SELECT 1 FROM channel WHERE account_id = $1 AND channel_id = $2`)
}
