package main

import (
	"context"
	"fmt"
	"time"

	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/demo"
	"tocsin/internal/platform/db"
)

// configuration creates many channels with twenty rules each. It measures pages of the list of channels and a channel's
// lists of rules, with one client and with many.
func configuration(binary, dsn, key string) error {
	began := time.Now()
	if err := configure(dsn, channels); err != nil {
		return err
	}
	fmt.Printf("| configuration: %d channels with 20 rules each (filled in %s) | reply bytes | 1 client p50 | p99 | %d clients, calls/s | p99 |\n|---|---|---|---|---|---|\n", channels, time.Since(began).Round(time.Second), clients)
	server, err := start(binary, "serve", "--listen", "127.0.0.1:0", "--db", dsn, "--limit-per-second", "0", "--limit-per-minute", "0")
	if err != nil {
		return err
	}
	defer server.stop()
	one := fmt.Sprintf(`{"channel_id": %d}`, firstChannel+channels/2)
	for _, c := range []struct{ path, body string }{
		{"/channel/list", `{"limit": 20}`},
		{"/channel/list", `{"limit": 100}`},
		{"/channel/list", `{"limit": 100, "p": 90, "orderby": "channel_name", "asc": true}`},
		{"/channel/list", `{"limit": 20, "query": "77"}`},
		{"/channel/silence/rule/list", one},
		{"/channel/unsubscribe/rule/list", one},
		{"/channel/inhibit/rule/list", one},
		{"/channel/escalate/rule/list", one},
	} {
		alone, err := load(server.address, post(c.path, key, c.body), 1, *span)
		if err != nil {
			return fmt.Errorf("%s: %w", c.path, err)
		}
		many, err := load(server.address, post(c.path, key, c.body), clients, *span)
		if err != nil {
			return err
		}
		fmt.Printf("| `%s` `%s` | %d | %s | %s | %.0f | %s |\n", c.path, c.body, alone.bytes, alone.p50.Round(10*time.Microsecond), alone.p99.Round(10*time.Microsecond), many.perSecond, many.p99.Round(10*time.Microsecond))
	}
	fmt.Println()
	return nil
}

// firstChannel is the id of the first of the channels that are added.
const firstChannel = 1_000_000

// configure adds the channels, five rules of each kind to every one.
func configure(dsn string, n int) error {
	ctx := context.Background()
	d, err := db.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Write(ctx, func(tx *db.Tx) error {
		account, _, err := db.One(tx, db.Column[int64], `SELECT account_id FROM account WHERE account_name = $1`, demo.Name)
		if err != nil {
			return err
		}
		conditions := filter.Filter{{{Key: "labels.service", Oper: filter.In, Vals: []string{"checkout", "cart"}}, {Key: "severity", Oper: filter.In, Vals: []string{"Warning", "Info"}}}}
		now := time.Now().Unix()
		for i := range n {
			ch := channel.Channel{ChannelID: int64(firstChannel + i), ChannelName: fmt.Sprintf("Service %05d", i), Description: "One of many", CreatedAt: now - int64(n-i), UpdatedAt: now}
			if err := channel.Load(tx, account, []channel.Channel{ch}); err != nil {
				return err
			}
			for j := range 5 {
				rule := func(kind int) channel.Rule {
					return channel.Rule{AccountID: account, Status: "enabled", ChannelID: ch.ChannelID, RuleID: fmt.Sprintf("%02x%02x%020x", kind, j, i), RuleName: fmt.Sprintf("Rule %d", j), Priority: int64(j), CreatedAt: now, UpdatedAt: now}
				}
				window := []channel.TimeFilter{{Start: "22:00", End: "06:00", Repeat: []int{1, 2, 3, 4, 5}}}
				if _, err := channel.Silences.Insert(tx, account, &channel.SilenceRule{Rule: rule(1), Filters: conditions, TimeFilters: window}); err != nil {
					return err
				}
				if _, err := channel.Drops.Insert(tx, account, &channel.DropRule{Rule: rule(2), Filters: conditions}); err != nil {
					return err
				}
				if _, err := channel.Inhibits.Insert(tx, account, &channel.InhibitRule{Rule: rule(3), Equals: []string{"labels.cluster"}, SourceFilters: filter.Groups(conditions), TargetFilters: filter.Groups(conditions)}); err != nil {
					return err
				}
				escalate := &channel.EscalateRule{Rule: rule(4), TemplateID: "000000000000000000000001", Filters: conditions, Layers: []channel.Layer{
					{MaxTimes: new(int64(2)), NotifyStep: new(5.0), EscalateWindow: new(int64(15)), Target: channel.Target{Emails: []string{"noc@example.com"}}}, {Target: channel.Target{Emails: []string{"boss@example.com"}}}}}
				if _, err := channel.Escalates.Insert(tx, account, escalate); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
