package push

import (
	"tocsin/internal/api"
)

// Item is a browser as it is listed.
type Item struct {
	SubscriptionID int64  `json:"subscription_id" doc:"The browser."`
	Name           string `json:"name" doc:"What people call it."`
	Host           string `json:"host" doc:"The host of its push service."`
	Digest         string `json:"digest" doc:"SHA-256 of its endpoint in hexadecimal, by which the browser recognises itself."`
	CreatedAt      int64  `json:"created_at" doc:"When it was added, in Unix seconds."`
	TriedAt        int64  `json:"tried_at" doc:"When a message was sent to it last, in Unix seconds, to the minute; 0: never."`
	Problem        string `json:"problem" doc:"Why the last message was not taken, or why none can be sent; empty: there is no problem."`
}

// Items is the reply to /person/push/list.
type Items struct {
	Items []Item `json:"items" doc:"The browsers, the oldest first."`
	Key   string `json:"application_server_key" doc:"The public key of this server, which browsers ask for, in base64url."`
}

func list(c *api.Call, _ struct{}) (reply Items, err error) {
	reply.Items = []Item{}
	reply.Key, err = PublicKey(c.Tx)
	if err != nil {
		return reply, err
	}
	all, err := Of(c.Tx, c.Who.AccountID, c.Who.PersonID)
	for _, s := range all {
		item := Item{s.ID, s.Name, s.Host, s.Digest, s.CreatedAt, s.TriedAt, s.Problem}
		if s.PublicKey != reply.Key {
			item.Problem = OldKey
		}
		reply.Items = append(reply.Items, item)
	}
	return reply, err
}

// OldKey is the problem of a browser that was given another key than the server has now.
const OldKey = "it was turned on for a key that this server has lost: turn it on again"
