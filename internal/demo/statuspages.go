package demo

import (
	"time"

	"tocsin/internal/statuspage"
)

const (
	shopPage      int64 = accountID + 230_000
	pricesOnPage  int64 = accountID + 231_000
	basketOnPage  int64 = accountID + 232_000
	shopComponent       = "shop"
	cartComponent       = "basket"
	payComponent        = "payment"
	appsComponent       = "apps"
	shipComponent       = "shipping"
)

func statusPages(m moments) []statuspage.Page {
	return []statuspage.Page{{
		AccountID: accountID, PageID: shopPage, Name: "Bergfink: is everything all right?", URLName: "bergfink", TeamID: checkout,
		Description: "For customers and for the people at the phone.",
		Sections:    []statuspage.Section{{SectionID: "buy", Name: "Buy"}, {SectionID: "receive", Name: "Receive"}},
		Components: []statuspage.Component{
			{ComponentID: shopComponent, SectionID: "buy", Name: "Shop", AvailableSince: m.yearAgo(0, 9).Unix()},
			{ComponentID: cartComponent, SectionID: "buy", Name: "Basket", OrderID: 1, AvailableSince: m.yearAgo(0, 9).Unix()},
			{ComponentID: payComponent, SectionID: "buy", Name: "Payment", OrderID: 2, AvailableSince: m.yearAgo(0, 9).Unix()},
			{ComponentID: appsComponent, SectionID: "buy", Name: "Apps", OrderID: 3, AvailableSince: m.yearAgo(90, 9).Unix()},
			{ComponentID: shipComponent, SectionID: "receive", Name: "Shipping", AvailableSince: m.yearAgo(0, 9).Unix()},
		},
		CreatorID: zoe, UpdatedBy: zoe, CreatedAt: m.yearAgo(0, 9).Unix(), UpdatedAt: m.ago(30 * day).Unix(),
	}}
}

// statusChanges returns what the status page shows: a trouble that is over, and one that goes on.
func statusChanges(m moments) []statuspage.Change {
	update := func(id string, ago time.Duration, status, text, component, how string) statuspage.Update {
		return statuspage.Update{
			UpdateID: id, At: m.ago(ago).Unix(), Status: status, Description: text,
			Components: []statuspage.ComponentChange{{ComponentID: component, Status: how}},
		}
	}
	over := statuspage.Change{
		ChangeID: pricesOnPage, Title: "Wrong prices on some pages", StartAt: m.ago(62 * hour).Unix(), ResponderIDs: []int64{maya},
		LinkedChangeIDs: []string{object(kindIncident, 14)},
		Updates: []statuspage.Update{
			update("u3", 60*hour, "resolved", "All pages have the price of the basket again.", shopComponent, "operational"),
			update("u2", 61*hour, "identified", "A cache holds yesterday's prices.", shopComponent, "degraded"),
			update("u1", 62*hour-10*time.Minute, "investigating", "Some pages show another price than the basket.", shopComponent, "degraded"),
		},
	}
	open := statuspage.Change{
		ChangeID: basketOnPage, Title: "The basket cannot be opened", StartAt: m.ago(25 * time.Minute).Unix(), ResponderIDs: []int64{eleni},
		LinkedChangeIDs: []string{object(kindIncident, 1)},
		Updates: []statuspage.Update{
			update("u2", 8*time.Minute, "identified", "It began with the new version of the basket.", cartComponent, "full_outage"),
			update("u1", 20*time.Minute, "investigating", "We look for the cause.", cartComponent, "partial_outage"),
		},
	}
	all := []statuspage.Change{over, open}
	for i := range all {
		c := &all[i]
		c.PageID = shopPage
		c.Type = "incident"
		c.NotifySubscribers = true
		c.CreatorID = c.ResponderIDs[0]
		c.CreatedAt, c.UpdatedAt = c.Updates[len(c.Updates)-1].At, c.Updates[0].At
	}
	return all
}
