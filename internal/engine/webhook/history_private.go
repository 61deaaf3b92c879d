package webhook

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

// private is the part of the history that a caller may not see: all deliveries of webhooks that name a private channel
// which the caller may not read, and in other deliveries the fields that reveal such a channel.
type private struct{ webhooks, channels []int64 }

// privateTo returns what the caller may not see.
func privateTo(c *api.Call) (p private, err error) {
	p.channels, err = channel.Hidden(c.Tx, c.Who)
	if err != nil || len(p.channels) == 0 {
		return p, err
	}
	p.webhooks, err = integration.Hidden(c.Tx, c.Who)
	return p, err
}

// hides reports whether the caller may see no delivery of the filter: it names one webhook, or one incident or alert,
// that is private.
func (p private) hides(tx *db.Tx, f filter) (bool, error) {
	if f.integration != 0 && slices.Contains(p.webhooks, f.integration) {
		return true, nil
	}
	if f.refID == "" || len(p.channels) == 0 {
		return false, nil
	}
	of, err := db.All(tx, db.Column[int64],
		`SELECT DISTINCT channel_id FROM webhook_delivery WHERE account_id = $1 AND ref_id = $2`, f.account, f.refID)
	return slices.ContainsFunc(of, func(id int64) bool { return slices.Contains(p.channels, id) }), err
}

// total returns how many deliveries of one type pass the filter, and how many of them the caller may see.
func (p private) total(tx *db.Tx, f filter, w window, eventType string) (all, seen int64, err error) {
	all, err = f.total(tx, w, eventType)
	if err != nil || all == 0 || f.integration != 0 {
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

// read returns the next deliveries after a rank that the caller may see, fewer than limit only at the end.
func (p private) read(tx *db.Tx, s source, w window, after rank, limit int) (seen []Delivery, err error) {
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
		after = found[len(found)-1].rank()
	}
}

// masked clears the fields of a delivery that reveal a private channel: its id, the incident or alert, and the endpoint.
func (p private) masked(d Delivery) Delivery {
	if slices.Contains(p.channels, d.ChannelID) {
		d.ChannelID = 0
		d.RefID = ""
		d.Endpoint = ""
	}
	return d
}
