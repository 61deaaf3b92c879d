package channel

import "tocsin/internal/configstore"

// Table checks references to channels.
var Table = configstore.Table{
	Kind:  configstore.Channel,
	Query: `SELECT 1 FROM channel WHERE account_id = $1 AND channel_id = $2`,
}
