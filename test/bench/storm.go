package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/db"
	"tocsin/internal/sender"
)

// stormAlerts is how many alerts a storm has; every second one is Critical.
const stormAlerts = 5000

// storm measures what a storm of alerts, sent within about a second, sends to a person over each method, and when the
// last Critical one is paged.
func storm(dir string) error {
	fmt.Printf("| 5,000 alerts | sent in | incidents | messages by method in the first minute | messages in all | last Critical page | last page |\n|---|---|---|---|---|---|---|\n")
	for _, grouped := range []bool{false, true} {
		if err := oneStorm(dir, grouped); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

// stormCounter counts messages by method.
type stormCounter struct {
	sync.Mutex
	began      time.Time
	first, all map[string]int
}

func (r *stormCounter) take(_ context.Context, method string, _ notify.Address, _ sender.Message) (sender.Receipt, error) {
	r.Lock()
	defer r.Unlock()
	r.all[method]++
	if time.Since(r.began) < time.Minute {
		r.first[method]++
	}
	return sender.Receipt{Status: 200}, nil
}

func oneStorm(dir string, grouped bool) error {
	type object = map[string]any
	channel, title := object{"channel_id": eventChannel, "channel_name": "Shop"}, "not grouped"
	if grouped {
		channel["group"], title = object{"method": "p", "equals": [][]string{{"labels.service"}}}, "grouped by 10 services"
	}
	by := []string{"voice", "sms", "email"}
	dsn, err := database(dir, "storm-"+title[:3], object{
		"format":       "tocsin.account/1",
		"account":      object{"account_id": eventAccount, "account_name": "Bench", "time_zone": "UTC", "owner_id": eventPerson},
		"persons":      []object{{"person_id": eventPerson, "person_name": "Olga Owner", "email": "olga@example.com", "phone": "+15550100"}},
		"channels":     []object{channel},
		"integrations": []object{{"integration_id": eventSource, "integration_name": "Events", "integration_type": "standard", "channel_id": eventChannel, "integration_key": eventKey}},
		"escalate_rules": []object{{"rule_id": strings.Repeat("5e", 12), "channel_id": eventChannel, "rule_name": "at once", "template_id": fmt.Sprintf("%024x", 1),
			"layers": []object{{"target": object{"person_ids": []int{eventPerson}, "by": object{"critical": by, "warning": by, "info": by}}}}}},
	})
	if err != nil {
		return err
	}
	r := &stormCounter{began: time.Now(), first: map[string]int{}, all: map[string]int{}}
	a, err := app.New(context.Background(), config(dsn, app.Senders{Deliver: r.take}))
	if err != nil {
		return err
	}
	server, err := a.Start()
	if err != nil {
		return err
	}
	defer server.Stop()
	r.began = time.Now()
	const batch = 1000
	for n := 0; n < stormAlerts; n += batch {
		list := make([]string, batch)
		for i := range list {
			severity := []string{"Critical", "Warning"}[i%2]
			list[i] = fmt.Sprintf(`{"title_rule": "Trouble %d", "event_status": %q, "alert_key": "storm-%d", "labels": {"service": "s%d"}}`, n+i, severity, n+i, i%10)
		}
		reply, err := http.Post(server.URL+eventPath, "application/json", strings.NewReader("["+strings.Join(list, ",")+"]"))
		if err != nil {
			return err
		}
		if reply.Body.Close(); reply.StatusCode != http.StatusOK {
			return fmt.Errorf("%s of %d events", reply.Status, batch)
		}
	}
	sent := time.Since(r.began)
	incidents, critical, last, err := stormOver(a.DB, r.began)
	if err != nil {
		return err
	}
	r.Lock()
	defer r.Unlock()
	fmt.Printf("| %s | %s | %d | %v | %v | %s | %s |\n", title, sent.Round(10*time.Millisecond), incidents, r.first, r.all, critical.Round(100*time.Millisecond), last.Round(100*time.Millisecond))
	return nil
}

// stormOver waits until no event and no page waits, and returns the number of incidents and how long after the first
// event the last Critical page and the last page were sent.
func stormOver(d *db.DB, began time.Time) (incidents int64, critical, last time.Duration, err error) {
	count := func(query string) (n int64) {
		if err == nil {
			err = d.Read(context.Background(), func(tx *db.Tx) (err error) {
				n, _, err = db.One(tx, db.Column[int64], query)
				return err
			})
		}
		return n
	}
	after := func(query string) time.Duration { return time.UnixMilli(count(query)).Sub(began) }
	for quiet := 0; quiet < 3; time.Sleep(time.Second) {
		if err != nil {
			break
		}
		waits := count(`SELECT (SELECT count(*) FROM event_waiting) + (SELECT count(*) FROM notice WHERE settled_at = 0)
			+ (SELECT count(*) FROM escalation WHERE next_at > 0 AND done = 0)`)
		if quiet++; waits > 0 {
			quiet = 0
		}
	}
	return count(`SELECT count(*) FROM incident`), after(`SELECT max(settled_at) FROM notice WHERE urgency = 0`), after(`SELECT max(settled_at) FROM notice`), err
}
