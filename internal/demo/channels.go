package demo

import (
	"fmt"
	"time"

	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
)

const (
	payments int64 = 1001 + iota
	basket
	shopFront
	searching
	warehouse
	shipping
	databases
	network
	apps
	security
	nightly
	legacy
)

func channels(m moments) []channel.Channel {
	all := []channel.Channel{
		{ChannelID: payments, ChannelName: "Zahlungen", TeamID: checkout, Description: "Card, PayPal and SEPA payments, refunds."},
		{
			ChannelID:   basket,
			ChannelName: "Warenkorb & Checkout",
			TeamID:      checkout,
			Description: "From the basket to the confirmed order.",
			Settings: channel.Settings{
				Group: &channel.Group{
					Method: "p", Equals: [][]string{{"labels.service"}}, TimeWindow: new(int64(60)), StormThresholds: []int64{5},
				},
				JoinedInterval: new(int64(1)),
			},
		},
		{ChannelID: shopFront, ChannelName: "Storefront", TeamID: storefront, Description: "Pages, pictures, prices."},
		{ChannelID: searching, ChannelName: "Search", TeamID: storefront, Description: "Index, suggestions, relevance."},
		{ChannelID: warehouse, ChannelName: "Lager Leipzig", TeamID: storefront, Description: "Scanners, conveyor, stock."},
		{ChannelID: shipping, ChannelName: "Versand", TeamID: storefront, Description: "Labels and carriers."},
		{ChannelID: databases, ChannelName: "Datenbanken", TeamID: platform, Description: "PostgreSQL, MySQL, ClickHouse."},
		{ChannelID: network, ChannelName: "Netz & CDN", TeamID: platform, Description: "Edge, DNS, certificates."},
		{ChannelID: apps, ChannelName: "Mobile apps", TeamID: storefront, Description: "What RUM reports from iOS and Android."},
		{ChannelID: security, ChannelName: "Sicherheit", TeamID: platform, Description: "For the team Plattform only.", IsPrivate: true},
		{ChannelID: nightly, ChannelName: "Nachtläufe", TeamID: platform, Description: "Exports, invoices, backups."},
		{ChannelID: legacy, ChannelName: "Alter Shop (abgeschaltet)", TeamID: platform, Description: "Kept for its history.", Status: "disabled"},
	}
	for i := range all {
		ch := &all[i]
		if ch.Status == "" {
			ch.Status = "enabled"
		}
		ch.CreatorID = map[int64]int64{platform: jonas, checkout: zoe, storefront: maya}[ch.TeamID]
		ch.AccountID = accountID
		ch.CreatedAt = m.yearAgo(i%5, 10).Unix()
		ch.UpdatedAt = m.ago(time.Duration(20+i) * day).Unix()
	}
	return all
}

func silenceRules(m moments) []channel.SilenceRule {
	night := channel.TimeFilter{Start: "22:00", End: "06:30", Repeat: []int{}}
	weekend := channel.TimeFilter{Start: "00:00", End: "23:59", Repeat: []int{6, 0}}
	once := func(from, to time.Time) *channel.OnceTimeFilter {
		return &channel.OnceTimeFilter{StartTime: from.Unix(), EndTime: to.Unix()}
	}
	started := m.now.Truncate(30 * time.Minute).Add(-hour)
	rules := numbered(m, kindSilence, []channel.SilenceRule{
		{
			Rule:           rule(payments, 1, "Wartung des Kartenanbieters", "Announced by the provider; the fallback is on."),
			Filters:        filter.Filter{{in("labels.provider", "cardstream")}},
			TimeFilter:     once(started, started.Add(6*hour)),
			FromIncidentID: object(kindIncident, 2),
		},
		{
			Rule:        rule(payments, 5, "Abrechnung in der Nacht", "Settlement makes everything slow and nobody cares."),
			Filters:     filter.Filter{{in("severity", "Warning", "Info"), in("labels.check", "latency*")}},
			TimeFilters: []channel.TimeFilter{night},
		},
		{
			Rule:        rule(payments, 10, "Testkäufe am Wochenende", "Synthetic purchases are paused."),
			Filters:     filter.Filter{{in("labels.service", "synthetic-*")}},
			TimeFilters: []channel.TimeFilter{weekend},
		},
		{
			Rule:              rule(payments, 20, "Lasttest", "Over since last week; kept to be used again."),
			Filters:           filter.Filter{{in("labels.environment", "staging")}},
			TimeFilter:        once(m.day(-5, 20), m.day(-5, 23)),
			IsDirectlyDiscard: true,
		},
		{
			Rule:        disabled(rule(payments, 30, "Alles (Notfall)", "Only together with the status page.")),
			Filters:     filter.Filter{{in("severity", "Critical", "Warning", "Info")}},
			TimeFilters: []channel.TimeFilter{{Start: "00:00", End: "23:59", Repeat: []int{}}},
		},
		{
			Rule:        rule(databases, 1, "Sicherung", "Replicas fall behind while the backup runs."),
			Filters:     filter.Filter{{in("labels.check", "replication_lag")}},
			TimeFilters: []channel.TimeFilter{{Start: "01:00", End: "03:30", Repeat: []int{}}},
		},
		{
			Rule:        rule(databases, 2, "Vacuum am Sonntag", ""),
			Filters:     filter.Filter{{in("labels.check", "/^(io|load)/"), notIn("severity", "Critical")}},
			TimeFilters: []channel.TimeFilter{{Start: "04:00", End: "07:00", Repeat: []int{0}}},
		},
		{
			Rule:         rule(network, 1, "Zertifikatstausch", "Both certificates are valid."),
			Filters:      filter.Filter{{in("labels.check", "certificate_expiry")}},
			TimeFilter:   once(m.day(8, 8), m.day(8, 12)),
			IsAutoDelete: true,
		},
		{
			Rule:        rule(warehouse, 1, "Lager geschlossen", "Nobody works there, scanners are in their docks."),
			Filters:     filter.Filter{{in("labels.check", "scanner_offline", "wifi_*")}},
			TimeFilters: []channel.TimeFilter{{Start: "21:00", End: "05:00", Repeat: []int{1, 2, 3, 4, 5}}, weekend},
		},
		{
			Rule:           rule(searching, 1, "Search is slower than 800 ms", ""),
			Filters:        filter.Filter{{in("alert_key", troubleKey(m, slowSearch, 2))}},
			TimeFilter:     once(started, started.Add(day)),
			FromIncidentID: object(kindIncident, slowSearch),
			IsByResponder:  true,
			IsAutoDelete:   true,
		},
	}, func(r *channel.SilenceRule) *channel.Rule { return &r.Rule })
	for _, i := range []int{0, len(rules) - 1} {
		rules[i].CreatedAt, rules[i].UpdatedAt = started.Unix(), started.Unix()
	}
	return rules
}

// inhibitRules returns a rule of the payments: what is merely informative is silent while the cluster has worse problems.
func inhibitRules(m moments) []channel.InhibitRule {
	return numbered(m, kindInhibit, []channel.InhibitRule{{
		Rule:          rule(payments, 1, "Info while Critical", "Chatter while the same cluster has a real problem."),
		SourceFilters: filter.Groups(filter.Filter{{in("severity", "Critical")}}),
		TargetFilters: filter.Groups(filter.Filter{{in("severity", "Info")}}),
		Equals:        []string{"labels.cluster"},
	}}, func(r *channel.InhibitRule) *channel.Rule { return &r.Rule })
}

func dropRules(m moments) []channel.DropRule {
	return numbered(m, kindDrop, []channel.DropRule{
		{
			Rule:    rule(payments, 1, "Sandbox", "The provider's sandbox fails all the time."),
			Filters: filter.Filter{{in("labels.environment", "sandbox")}},
		},
		{
			Rule:    rule(payments, 2, "Info aus der Integration", "Chatter without consequence."),
			Filters: filter.Filter{{in("severity", "Info"), in("data_source_id", fmt.Sprint(prometheusIntake))}},
		},
		{Rule: disabled(rule(payments, 3, "Alter Anbieter", "Until the migration is over.")), Filters: filter.Filter{{in("title", "/paylane/")}}},
		{
			Rule:    rule(network, 1, "Interne Netze", "Scans from our own networks."),
			Filters: filter.Filter{{in("labels.client", "cidr:10.0.0.0/8", "cidr:192.168.0.0/16")}},
		},
		{
			Rule:    rule(shopFront, 1, "Wenige Fehler", "Below one in a hundred nothing is to be done."),
			Filters: filter.Filter{{in("labels.error_percent", "num:lt:1"), notIn("labels.page", "/checkout/")}},
		},
		{Rule: rule(apps, 1, "Vorabversionen", ""), Filters: filter.Filter{{in("labels.version", "*-beta*")}}},
	}, func(r *channel.DropRule) *channel.Rule { return &r.Rule })
}

func rule(ch, priority int64, name, description string) channel.Rule {
	return channel.Rule{ChannelID: ch, Priority: priority, RuleName: name, Description: description, Status: "enabled"}
}

func disabled(r channel.Rule) channel.Rule {
	r.Status = "disabled"
	return r
}

// numbered sets the identifiers and timestamps of rules.
func numbered[R any](m moments, kind byte, rules []R, of func(*R) *channel.Rule) []R {
	for i := range rules {
		r := of(&rules[i])
		r.AccountID = accountID
		r.RuleID = object(kind, i+1)
		r.UpdatedBy = []int64{zoe, jonas, maya}[i%3]
		r.CreatedAt, r.UpdatedAt = m.ago(time.Duration(90-i)*day).Unix(), m.ago(time.Duration(3+i)*day).Unix()
	}
	return rules
}

func in(key string, values ...string) filter.Condition {
	return filter.Condition{Key: key, Oper: filter.In, Vals: values}
}

func notIn(key string, values ...string) filter.Condition {
	return filter.Condition{Key: key, Oper: filter.NotIn, Vals: values}
}
