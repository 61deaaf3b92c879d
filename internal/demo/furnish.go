package demo

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"tocsin/internal/core/filter"
	"tocsin/internal/route"
)

// Furnish adds what an account file does not hold, by the operations that users call: changes of systems, versions of a
// route, and errors of pages.
func Furnish(ctx context.Context, base string, keys Keys, now time.Time) error {
	m := momentsAt(now)
	for _, c := range changes(m) {
		if err := call(ctx, base+"/event/push/change/standard?integration_key="+url.QueryEscape(keys.Changes), c, nil); err != nil {
			return fmt.Errorf("push change %v: %w", c["change_key"], err)
		}
	}
	for _, r := range routeVersions(m) {
		if err := call(ctx, base+"/route/upsert?app_key="+keys.All, r, nil); err != nil {
			return fmt.Errorf("change the route: %w", err)
		}
	}
	if err := reportErrors(ctx, base, m); err != nil {
		return fmt.Errorf("report errors of pages: %w", err)
	}
	if err := uploadMap(ctx, base, keys.All); err != nil {
		return fmt.Errorf("upload a source map: %w", err)
	}
	return nil
}

// changes returns changes of systems, most of them shortly before a trouble with the same service begins.
func changes(m moments) (events []map[string]any) {
	add := func(service, key, title, kind, link string, statuses map[string]time.Duration) {
		for _, status := range []string{"Planned", "Processing", "Canceled", "Done"} {
			ago, happened := statuses[status]
			if !happened {
				continue
			}
			events = append(events, map[string]any{
				"title": title, "change_key": key, "change_status": status, "event_time": m.ago(ago).Unix(),
				"link":   "https://deploy." + domain + "/" + link,
				"labels": map[string]string{"service": service, "type": kind, "environment": "production"},
			})
		}
	}
	const minute = time.Minute
	add("basket", "deploy-basket-812", "Basket 8.12 is rolled out", "deployment", "basket/812",
		map[string]time.Duration{"Processing": 44 * minute, "Done": 31 * minute})
	add("payment-gateway", "cert-cardstream", "New TLS certificate for the card provider", "configuration", "payment/cert",
		map[string]time.Duration{"Planned": 26 * hour, "Processing": 130 * minute, "Done": 126 * minute})
	add("orders-db", "index-orders", "Index on orders.created_at is built", "database", "orders-db/index",
		map[string]time.Duration{"Processing": 5*hour + 20*minute, "Done": 4 * hour})
	add("shop-ios", "release-ios-520", "shop-ios 5.2.0 is in the store", "release", "shop-ios/520",
		map[string]time.Duration{"Processing": 9 * hour, "Done": 8 * hour})
	add("search", "reindex-search", "Search index is rebuilt", "maintenance", "search/reindex",
		map[string]time.Duration{"Planned": 30 * hour, "Processing": 10 * hour})
	add("conveyor", "firmware-conveyor", "Firmware of conveyor 2", "maintenance", "conveyor/firmware",
		map[string]time.Duration{"Planned": 50 * hour, "Canceled": 20 * hour})
	return events
}

// routeVersions returns what a user saves of the route for Prometheus, one after the other: each has what the one before
// it was missing.
func routeVersions(m moments) []map[string]any {
	base := configured(m).Routes[0].Cases
	search := append([]route.Case{toChannels("/^(search|suggest)$/", searching)}, base...)
	named := route.Case{
		If: []filter.Condition{in("labels.channel", "*")}, RoutingMode: route.NameMapping, NameMappingLabel: "channel",
	}
	var all []map[string]any
	for _, v := range []struct {
		cases    []route.Case
		sections []route.Section
	}{
		{cases: search},
		{cases: append([]route.Case{toChannels("cdn", network)}, search...)},
		{
			append([]route.Case{named, toChannels("cdn", network)}, search...),
			[]route.Section{{Name: "Named by the alert"}, {Name: "By service", Position: 1}},
		},
	} {
		all = append(all, map[string]any{
			"integration_id": prometheusIntake, "cases": v.cases, "sections": v.sections, "default": route.Default{ChannelIDs: []int64{shopFront}},
		})
	}
	return all
}

func toChannels(service string, channels ...int64) route.Case {
	return route.Case{If: []filter.Condition{in("labels.service", service)}, ChannelIDs: channels}
}

func in(key string, values ...string) filter.Condition {
	return filter.Condition{Key: key, Oper: filter.In, Vals: values}
}
