package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

// A scaleBed is a database with many accounts, which are copies of its first one: their ids have another prefix. The number of
// an account is what its prefix has more than firstPrefix.
const firstPrefix = 7_310_000_000

// scaleID returns an id of an account of the scaleBed; k is below 1000.
func scaleID(account, k int) int { return (firstPrefix+account)*1000 + k }

// What the ids of an account end with.
const (
	ofPerson, personsOfAccount   = 100, 5
	ofTeam                       = 150
	ofChannel, channelsOfAccount = 200, 2
	ofSource                     = 300
	ofHeartbeat                  = 350
	ofSchedule                   = 400
)

func scaleSource(account, channel int) string {
	return fmt.Sprintf("source-key-%d-%d-0123456789abcdef", firstPrefix+account, channel)
}
func scaleAppKey(account int) string {
	return fmt.Sprintf("app-key-%d-0123456789abcdef", firstPrefix+account)
}

// firstOfCrowd returns the sections of the first account's file: five persons with a weekly rotation, two channels with a
// source, an escalation rule and a silence each, and a heartbeat.
func firstOfCrowd() map[string]any {
	type object = map[string]any
	var persons, groups, channels, sources, escalations, silences []object
	ids := []int{}
	for i := range personsOfAccount {
		id := scaleID(0, ofPerson+i)
		ids = append(ids, id)
		persons = append(persons, object{"person_id": id, "person_name": fmt.Sprint("Person ", i), "email": fmt.Sprintf("p%d@example.com", id),
			"phone": fmt.Sprintf("+155501%02d", i)})
		groups = append(groups, object{"group_name": fmt.Sprint("Group ", i), "members": []object{{"role_id": 0, "person_ids": []int{id}}}})
	}
	for i := range channelsOfAccount {
		channel := scaleID(0, ofChannel+i)
		rule := func(kind int) string { return fmt.Sprintf("%010d%014x", firstPrefix, kind*100+i) }
		channels = append(channels, object{"channel_id": channel, "channel_name": fmt.Sprint("Channel ", i)})
		sources = append(sources, object{"integration_id": scaleID(0, ofSource+i), "integration_name": "Events", "integration_type": "standard",
			"channel_id": channel, "integration_key": scaleSource(0, i)})
		sms := []string{"sms"}
		escalations = append(escalations, object{"rule_id": rule(1), "channel_id": channel, "rule_name": "on call", "template_id": fmt.Sprintf("%024x", 1),
			"layers": []object{{"escalate_window": 720, "target": object{"schedule_to_role_ids": map[string][]int{strconv.Itoa(scaleID(0, ofSchedule)): {}},
				"by": object{"critical": sms, "warning": sms, "info": sms}}}}})
		silences = append(silences, object{"rule_id": rule(2), "channel_id": channel, "rule_name": "Nights", "priority": 1,
			"time_filters": []object{{"start": "02:00", "end": "04:00", "repeat": []int{2}}},
			"filters":      [][]object{{{"key": "labels.service", "oper": "IN", "vals": []string{"patching"}}}}})
	}
	sources = append(sources, object{"integration_id": scaleID(0, ofHeartbeat), "integration_name": "Backup", "integration_type": "heartbeat",
		"channel_id": scaleID(0, ofChannel), "integration_key": scaleSource(0, ofHeartbeat), "settings": object{"interval_seconds": 604800}})
	return object{
		"format":  "tocsin.account/1",
		"account": object{"account_id": scaleID(0, 0), "account_name": "Acme", "time_zone": "Europe/Berlin", "owner_id": ids[0]},
		"persons": persons, "channels": channels, "integrations": sources, "escalate_rules": escalations, "silence_rules": silences,
		"teams":    []object{{"team_id": scaleID(0, ofTeam), "team_name": "Platform", "person_ids": ids}},
		"app_keys": []object{{"name": "owner", "person_id": ids[0], "app_key": scaleAppKey(0)}},
		"schedules": []object{{"schedule_id": scaleID(0, ofSchedule), "schedule_name": "Week", "team_id": scaleID(0, ofTeam), "layers": []object{
			{"layer_name": "Week", "layer_start": 1767600000, "rotation_unit": "week", "rotation_value": 1, "handoff_time": 32400, "groups": groups}}}},
	}
}

// populate makes a scaleBed's first account.
func populate(dsn, sealKey string) error {
	file, err := accountOf(firstOfCrowd())
	if err != nil {
		return err
	}
	return imported(app.Config{DB: dsn, SealKeyFile: sealKey, Clock: clock.System}, file)
}

// pattern is the rows of a table that belong to the first account.
type pattern struct {
	table db.Table
	rows  [][]any
}

// patterns reads the rows of the first account, once a server has stored what it derives from the configuration.
func patterns(dsn string) (all []pattern, err error) {
	ctx := context.Background()
	d, err := db.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return all, d.Snapshot(ctx, func(tx *db.Tx) error {
		tables, err := d.Tables(tx)
		if err != nil {
			return err
		}
		for _, t := range tables {
			if !t.OfAccounts() {
				continue
			}
			t.Columns = withoutIdentity(t.Columns)
			m := pattern{table: t}
			if err := d.Records(tx, t, db.Span{Account: int64(scaleID(0, 0))}, func(r db.Record) error {
				m.rows = append(m.rows, r.Values)
				return nil
			}); err != nil {
				return err
			}
			if len(m.rows) > 0 {
				all = append(all, m)
			}
		}
		return nil
	})
}

// multiply copies the first account: to the numbers from one up to that before another.
func multiply(dsn string, all []pattern, from, to int) error {
	ctx := context.Background()
	d, err := db.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Write(ctx, func(tx *db.Tx) error {
		if err := d.Unhurried(tx); err != nil {
			return err
		}
		for _, m := range all {
			if err := d.Load(tx, m.table, copies(m.table, m.rows, from, to)); err != nil {
				return err
			}
		}
		return nil
	})
}

func withoutIdentity(all []db.TableColumn) (rest []db.TableColumn) {
	for _, c := range all {
		if !c.Identity {
			rest = append(rest, c)
		}
	}
	return rest
}

// copies returns the rows of the first account as those of others.
func copies(t db.Table, rows [][]any, from, to int) iter.Seq2[[]any, error] {
	prefix := strconv.Itoa(firstPrefix)
	return func(yield func([]any, error) bool) {
		for account := from; account < to; account++ {
			own := strconv.Itoa(firstPrefix + account)
			for _, row := range rows {
				values := make([]any, len(row))
				for i, v := range row {
					switch v := v.(type) {
					case int64:
						values[i] = v
						if v/1000 == firstPrefix {
							values[i] = v + int64(account)*1000
						}
					case string:
						values[i] = strings.ReplaceAll(v, prefix, own)
						if t.Columns[i].Name == "key_hash" {
							values[i] = otherHash(v, account)
						}
					default:
						values[i] = v
					}
				}
				if !yield(values, nil) {
					return
				}
			}
		}
	}
}

// otherHash returns the hash of the key of an account that stands for a key of the first one.
func otherHash(hash string, account int) string {
	for _, key := range []func(account int) string{
		scaleAppKey,
		func(a int) string { return scaleSource(a, 0) },
		func(a int) string { return scaleSource(a, 1) },
		func(a int) string { return scaleSource(a, ofHeartbeat) },
	} {
		if hash == hashed(key(0)) {
			return hashed(key(account))
		}
	}
	return hash
}

func hashed(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}
