package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

// The account beside: its numbers, and the key of its source.
const (
	hostileAccount = eventAccount + 1_000_000
	hostilePerson  = eventPerson + 1_000_000
	hostileChannel = eventChannel + 1_000_000
	hostileSource  = eventSource + 1_000_000
	hostileKey     = "00112233445566778899aabbccddeeff999"
)

// neighbours lists the loads of another account on the same server: its rules and the rate of its events.
var neighbours = []struct {
	title string
	vals  []string // of one drop rule for the description, written into the tables without the checks of the API
	rate  int      // events a second, each with 2,000 characters; 0: it sends none
	flood bool     // as many short events as 16 connections can send
	same  bool     // they are of the same account
}{
	{title: "nobody beside"},
	{"the largest expression that is allowed, 50 events a second", []string{"/(x|y){240}z/"}, 50, false, false},
	{"500 values of (a*)*[ab]{50}$, 50 events a second", slices.Repeat([]string{"/(a*)*[ab]{50}$/"}, 500), 50, false, false},
	{"10,000 values, 50 events a second", slices.Repeat([]string{"*a*b*c*"}, 10_000), 50, false, false},
	{title: "a flood of another account, one by one", flood: true},
	{title: "a flood of the same account, one by one", flood: true, same: true},
}

// hostile measures how long the pages of a good account take, at 50 events a second, beside others.
func hostile(dir string) error {
	fmt.Printf("| from the answer to an event to its page, beside | pages | p50 | p99 | longest |\n|---|---|---|---|---|\n")
	for i, n := range neighbours {
		dsn, err := eventDatabase(dir, fmt.Sprint("hostile-", i), 20, true)
		if err != nil {
			return err
		}
		if err := neighbour(dsn, n.vals); err != nil {
			return err
		}
		f, err := pagedBeside(dsn, 50, func(address string, stop <-chan struct{}) error {
			switch {
			case n.flood && n.same:
				return flood(address, stop, eventKey)
			case n.flood:
				return flood(address, stop, hostileKey)
			case n.rate > 0:
				return attack(address, stop, n.rate)
			}
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.0f | %s | %s | %s |\n", n.title, f.perSecond*span.Seconds(), f.p50.Round(100*time.Microsecond), f.p99.Round(100*time.Microsecond), f.longest.Round(100*time.Microsecond))
	}
	fmt.Println()
	return nil
}

// neighbour adds the account beside, with a drop rule of these values unless there are none.
func neighbour(dsn string, vals []string) error {
	type object = map[string]any
	text, err := json.Marshal(object{
		"format":       "tocsin.account/1",
		"account":      object{"account_id": hostileAccount, "account_name": "Beside", "time_zone": "UTC", "owner_id": hostilePerson},
		"persons":      []object{{"person_id": hostilePerson, "person_name": "Harm", "email": "harm@example.com"}},
		"channels":     []object{{"channel_id": hostileChannel, "channel_name": "Beside"}},
		"integrations": []object{{"integration_id": hostileSource, "integration_name": "Events", "integration_type": "standard", "channel_id": hostileChannel, "integration_key": hostileKey}},
		"drop_rules": []object{{"rule_id": strings.Repeat("6e", 12), "channel_id": hostileChannel, "rule_name": "slow",
			"filters": [][]object{{{"key": "description", "oper": "IN", "vals": []string{"VALUES"}}}}}},
	})
	if err != nil {
		return err
	}
	file, err := accountfile.Read(strings.NewReader(string(text)))
	if err != nil {
		return err
	}
	d, err := db.Open(context.Background(), dsn)
	if err != nil {
		return err
	}
	defer d.Close()
	keyring, err := app.OpenBox(context.Background(), d, app.Config{DB: dsn, Clock: clock.System})
	if err != nil {
		return err
	}
	if err := accountfile.Import(context.Background(), d, keyring, file, time.Now(), false); err != nil || len(vals) == 0 {
		return err
	}
	list, err := json.Marshal(vals)
	if err != nil {
		return err
	}
	return d.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE object SET body = replace(body, '["VALUES"]', $1) WHERE account_id = $2 AND kind = 'drop_rule'`, string(list), hostileAccount)
		return err
	})
}

// attack sends events that each cost as much as possible.
func attack(address string, stop <-chan struct{}, rate int) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	go func() { // replies are of no interest
		for b := make([]byte, 64<<10); err == nil; _, err = conn.Read(b) {
		}
	}()
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for n := 0; ; n++ {
		body := fmt.Sprintf(`{"title_rule": "t", "event_status": "Info", "alert_key": "h%d", "description": "%s"}`, n, strings.Repeat("xyab", 500))
		if _, err := fmt.Fprintf(conn, "POST /event/push/alert/standard?integration_key=%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", hostileKey, len(body), body); err != nil {
			return err
		}
		select {
		case <-stop:
			return nil
		case <-tick.C:
		}
	}
}

// flood sends the events of one source from 16 connections, as fast as they are taken.
func flood(address string, stop <-chan struct{}, key string) error {
	const clients = 16
	errs := make([]error, clients)
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for client := c; errs[c] == nil; client += clients {
				next := pushes(50+client, 1)
				_, errs[c] = loadEach(address, func(int) func() []byte {
					return func() []byte { return []byte(strings.Replace(string(next()), eventKey, key, 1)) }
				}, 1, time.Second/2)
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
