// Package webhook keeps the history of outbound webhooks: one record for each attempt to deliver one, and
// the list of them (the specification, 2.9 and 4.7).
//
// A list of a million deliveries must open at once, with its exact total, whatever it is filtered by. So
// there is an index for each way to filter and a table of counts beside the deliveries; only Record and
// Prune may change the one, and they must never do it without the other.
package webhook

// Room is the webhook room. Make one with New.
type Room struct{ cursorKey []byte }

// New makes the room. The key authenticates the cursors it hands out; cursors are good for as long as the
// key stays the same, so it should outlive the process.
func New(cursorKey []byte) *Room { return &Room{cursorKey} }
