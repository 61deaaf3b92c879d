package webhook

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

// private is what a caller may not see in the history: all deliveries of webhooks that name a private channel which
// the caller may not read, and of other deliveries what they tell of such a channel.
type private struct{ webhooks, channels []int64 }

func privateTo(c *api.Call) (p private, err error) {
	if p.channels, err = channel.Hidden(c.Tx, c.Who); err != nil || len(p.channels) == 0 {
		return p, err
	}
	p.webhooks, err = integration.Hidden(c.Tx, c.Who)
	return p, err
}

// hides reports whether nothing that the filter finds is for the caller: it asks for one webhook, or for one incident
// or alert, that is private.
func (p private) hides(tx *db.Tx, f filter) (bool, error) {
	if f.integration != 0 && slices.Contains(p.webhooks, f.integration) {
		return true, nil
	}
	if f.refID == "" || len(p.channels) == 0 {
		return false, nil
	}
	of, err := db.All(tx, db.Column[int64], `SELECT DISTINCT channel_id FROM webhook_delivery WHERE account_id = $1 AND ref_id = $2`, f.account, f.refID)
	return slices.ContainsFunc(of, func(id int64) bool { return slices.Contains(p.channels, id) }), err
}

// total counts the deliveries of one type that pass the filter and that the caller may see.
func (p private) total(tx *db.Tx, f filter, w window, eventType string) (all, seen int64, err error) {
	if all, err = f.total(tx, w, eventType); err != nil || all == 0 || f.integration != 0 {
		return all, all, err
	}
	seen = all
	for _, f.integration = range p.webhooks {
		n, err := f.total(tx, w, eventType)
		if err != nil {
			return 0, 0, err
		}
		seen -= n
	}
	return all, seen, nil
}

// read gives the next deliveries after a place that the caller may see, fewer than limit only at the end.
func (p private) read(tx *db.Tx, s source, w window, after place, limit int) (seen []Delivery, err error) {
	for {
		found, err := s.read(tx, w, after, limit)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			if !slices.Contains(p.webhooks, d.IntegrationID) {
				seen = append(seen, p.masked(d))
			}
		}
		if len(found) < limit || len(seen) >= limit {
			return seen[:min(limit, len(seen))], nil
		}
		after = found[len(found)-1].place()
	}
}

// masked takes away what a delivery tells of a private channel: which it was, what happened there, and where that was
// sent.
func (p private) masked(d Delivery) Delivery {
	if slices.Contains(p.channels, d.ChannelID) {
		d.ChannelID, d.RefID, d.Endpoint = 0, "", ""
	}
	return d
}
