package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

// fromEventToPage measures the way of an event to a page: how many events are accepted and how soon, the cost of
// deciding one, and when the page arrives.
func fromEventToPage(binary, dir string) error {
	for _, part := range []func() error{
		func() error { return disk(dir, "before") },
		func() error { return intake(binary, dir) },
		func() error { return deciding(dir) },
		func() error { return paging(dir) },
		func() error { return disk(dir, "after") }, // on a shared machine it shows how reliable the other figures are
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// The account of these figures.
const (
	eventAccount = 7000000000001
	eventPerson  = 7000000000011
	eventChannel = 7000000000041
	eventSource  = 7000000000051
	eventKey     = "00112233445566778899aabbccddeeff131"
)

// eventRules are the numbers of rules that the channel has, one after the other.
var eventRules = []int{0, 20, 500}

// eventDatabase creates a database with one channel that has so many rules, half of them silences and half drop
// rules, each for its own service and two severities. pages adds an escalation rule that notifies a person by e-mail
// at once.
func eventDatabase(dir, name string, rules int, pages bool) (dsn string, err error) {
	return database(dir, name, eventAccountOf(rules, pages))
}

// eventAccountOf returns the sections of the account file of that database.
func eventAccountOf(rules int, pages bool) map[string]any {
	type object = map[string]any
	sections := object{
		"format":       "tocsin.account/1",
		"account":      object{"account_id": eventAccount, "account_name": "Bench", "time_zone": "UTC", "owner_id": eventPerson},
		"persons":      []object{{"person_id": eventPerson, "person_name": "Olga Owner", "email": "olga@example.com"}},
		"channels":     []object{{"channel_id": eventChannel, "channel_name": "Shop"}},
		"integrations": []object{{"integration_id": eventSource, "integration_name": "Events", "integration_type": "standard", "channel_id": eventChannel, "integration_key": eventKey}},
	}
	var silences, drops []object
	for i := range rules {
		rule := object{"rule_id": fmt.Sprintf("%024x", i+1), "channel_id": eventChannel, "rule_name": fmt.Sprint("Rule ", i), "priority": i,
			"filters": [][]object{{{"key": "labels.service", "oper": "IN", "vals": []string{fmt.Sprint("service-", i/2)}}, {"key": "severity", "oper": "IN", "vals": []string{"Critical", "Warning"}}}}}
		if i%2 == 1 {
			drops = append(drops, rule)
			continue
		}
		rule["time_filters"] = []object{{"start": "00:00", "end": "23:59", "repeat": []int{0, 1, 2, 3, 4, 5, 6}}}
		silences = append(silences, rule)
	}
	sections["silence_rules"], sections["drop_rules"] = silences, drops
	if pages {
		sections["escalate_rules"] = []object{{"rule_id": strings.Repeat("5e", 12), "channel_id": eventChannel, "rule_name": "at once", "template_id": fmt.Sprintf("%024x", 1),
			"layers": []object{{"target": object{"person_ids": []int{eventPerson}, "by": object{"follow_preference": true}}}}}}
	}
	for section, value := range sections {
		if list, ok := value.([]object); ok && list == nil {
			delete(sections, section)
		}
	}
	return sections
}

// database creates a database with one account.
func database(dir, name string, sections map[string]any) (dsn string, err error) {
	file, err := accountOf(sections)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(dir, "events"), 0o700); err != nil {
		return "", err
	}
	dsn = "sqlite:" + filepath.Join(dir, "events", name+".db")
	return dsn, imported(app.Config{DB: dsn, Clock: clock.System}, file)
}

// accountOf reads an account file of these sections.
func accountOf(sections map[string]any) (*accountfile.File, error) {
	text, err := accountText(sections)
	if err != nil {
		return nil, err
	}
	return accountfile.Read(strings.NewReader(text))
}

func accountText(sections map[string]any) (string, error) {
	text, err := json.Marshal(sections)
	return string(text), err
}

// imported creates the schema of a database and imports an account.
func imported(c app.Config, file *accountfile.File) error {
	d, err := db.Open(context.Background(), c.DB)
	if err != nil {
		return err
	}
	defer d.Close()
	keyring, err := c.SealKeys().Open(context.Background(), d)
	if err != nil {
		return err
	}
	return accountfile.Import(context.Background(), d, keyring, file, time.Now(), false)
}

// eventPath is where the events are sent.
const eventPath = "/event/push/alert/standard?integration_key=" + eventKey

// numbered is where the number of an event stands in its text, so that a client has only to overwrite it.
const numbered = "#########"

// eventText is an event of a service for which rules are looked at and do not match. Its key, and with it its
// alert, is its number's.
const eventText = `{"title_rule": "Trouble on $host", "event_status": "Info", "alert_key": "bench-` + numbered + `", "description": "More errors than usual", "labels": {"service": "service-7", "host": "host-` + numbered + `", "cluster": "eu-1", "region": "north"}}`

// number fills in the next numbers of events: all in one event have the same.
func number(text []byte, spots []int, each int, n int) {
	for i, at := range spots {
		v := n + i/each
		for digit := len(numbered) - 1; digit >= 0; digit-- {
			text[at+digit] = byte('0' + v%10)
			v /= 10
		}
	}
}

// pushes makes the requests of one connection, each with so many events. No two connections use the same
// numbers.
func pushes(client, batch int) func() []byte {
	body := eventText
	if batch > 1 {
		body = "[" + strings.Repeat(eventText+",", batch-1) + eventText + "]"
	}
	request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", eventPath, len(body), body)
	var spots []int
	for at := 0; ; {
		found := strings.Index(string(request[at:]), numbered)
		if found < 0 {
			break
		}
		spots = append(spots, at+found)
		at += found + len(numbered)
	}
	next := client * 10_000_000
	return func() []byte {
		number(request, spots, len(spots)/batch, next)
		next += batch
		return request
	}
}

// intake measures how fast events are accepted while they are also decided: singly and in batches, with more and more
// rules.
func intake(binary, dir string) error {
	fmt.Printf("| intake, while events are decided too | rules | events/s | p50 | p99 | decided meanwhile |\n|---|---|---|---|---|---|\n")
	for _, shape := range []struct {
		title          string
		clients, batch int
	}{{"one by one", 32, 1}, {"in batches of 100", 8, 100}} {
		for _, rules := range eventRules {
			runs := []figures{}
			shares := []float64{}
			for round := range *rounds {
				dsn, err := eventDatabase(dir, fmt.Sprintf("intake-%d-%d-%d", shape.batch, rules, round), rules, false)
				if err != nil {
					return err
				}
				f, share, err := take(binary, dsn, shape.clients, shape.batch)
				if err != nil {
					return err
				}
				runs, shares = append(runs, f), append(shares, share)
			}
			m, share := middle(runs), median(shares)
			fmt.Printf("| %s, %d connections | %d | %.0f | %s | %s | %.0f %% |\n", shape.title, shape.clients, rules, m.perSecond*float64(shape.batch), m.p50.Round(10*time.Microsecond), m.p99.Round(10*time.Microsecond), 100*share)
		}
	}
	fmt.Println()
	return nil
}

// take loads a server of its own; share is how many of the events were decided when the load ended.
func take(binary, dsn string, clients, batch int) (f figures, share float64, err error) {
	server, err := start(binary, "serve", "--listen", "127.0.0.1:0", "--db", dsn, "--push-per-second", "0", "--push-per-minute", "0")
	if err != nil {
		return f, 0, err
	}
	f, err = loadEach(server.address, func(client int) func() []byte { return pushes(client, batch) }, clients, *span)
	if stopped := server.stop(); err == nil {
		err = stopped
	}
	if err != nil {
		return f, 0, err
	}
	d, err := db.Open(context.Background(), dsn)
	if err != nil {
		return f, 0, err
	}
	defer d.Close()
	err = d.Read(context.Background(), func(tx *db.Tx) error {
		count := func(query string) (n float64) {
			c, _, e := db.One(tx, db.Column[int64], query)
			err = e
			return float64(c)
		}
		share = 1 - count(`SELECT count(*) FROM event_waiting`)/max(1, count(`SELECT count(*) FROM event`))
		return err
	})
	return f, share, err
}
