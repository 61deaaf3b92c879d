package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/test/pgserver"
)

// crowdEvents is how many Info events of the account arrive before the Critical event.
const crowdEvents = 50_000

// behindCrowd measures the time from the push of a Critical event to its page, behind thousands of Info events. The Info
// events of the same account have arrived just before. Each opens an incident and pages as well, over another method.
func behindCrowd(binary, dir string) error {
	beds := map[string]func(name string) (string, error){"embedded": func(name string) (string, error) {
		return "sqlite:" + filepath.Join(dir, name+".db"), nil
	}}
	s, err := pgserver.Start(pgserver.Options{Durable: true, Settings: map[string]string{"shared_buffers": "256MB", "min_wal_size": "512MB"}})
	switch {
	case errors.Is(err, pgserver.ErrMissing):
		fmt.Printf("PostgreSQL was not measured: %v\n\n", err)
	case err != nil:
		return err
	default:
		defer s.Close()
		beds["PostgreSQL"] = func(name string) (string, error) {
			return s.DSN(name), s.SQL("postgres", `CREATE DATABASE `+name+` TEMPLATE template0`)
		}
	}
	fmt.Printf("| a Critical event after %d Info events | until its page, each round | events that waited at its push |\n|---|---|---|\n", crowdEvents)
	for _, engine := range []string{"embedded", "PostgreSQL"} {
		if beds[engine] == nil || !strings.Contains(engine, *engineOnly) {
			continue
		}
		var took []time.Duration
		var waited []int64
		for round := range *rounds {
			dsn, err := beds[engine](fmt.Sprint("crowd_", round))
			if err != nil {
				return err
			}
			d, left, err := behindOne(binary, dsn, filepath.Join(dir, "crowd.key"))
			if err != nil {
				return fmt.Errorf("%s: %w", engine, err)
			}
			took, waited = append(took, d.Round(time.Millisecond)), append(waited, left)
		}
		fmt.Printf("| %s | %v | %v |\n", engine, took, waited)
	}
	fmt.Println()
	return nil
}

// behindOne measures the binary on a new database. left is how many events waited when the Critical event was pushed.
func behindOne(binary, dsn, sealKey string) (took time.Duration, left int64, err error) {
	g, err := newGateway()
	if err != nil {
		return 0, 0, err
	}
	sections := eventAccountOf(0, true)
	sections["persons"] = []map[string]any{{"person_id": eventPerson, "person_name": "Olga Owner", "email": "olga@example.com", "phone": "+15550100"}}
	sections["escalate_rules"].([]map[string]any)[0]["layers"] = []map[string]any{{"target": map[string]any{"person_ids": []int{eventPerson},
		"by": map[string]any{"critical": []string{"sms"}, "warning": []string{"voice"}, "info": []string{"voice"}}}}}
	file, err := accountOf(sections)
	if err != nil {
		return 0, 0, err
	}
	if err := imported(app.Config{DB: dsn, SealKeyFile: sealKey, Clock: clock.System}, file); err != nil {
		return 0, 0, err
	}
	server, err := start(binary, "serve", "--listen", "127.0.0.1:0", "--db", dsn, "--seal-key-file", sealKey, "--log-level", "error",
		"--gateway", g.url+"/gateway", "--outbound-allow", "127.0.0.0/8",
		"--limit-per-second", "0", "--limit-per-minute", "0", "--push-per-second", "0", "--push-per-minute", "0")
	if err != nil {
		return 0, 0, err
	}
	defer server.stop()
	d, err := db.Connect(context.Background(), dsn)
	if err != nil {
		return 0, 0, err
	}
	defer d.Close()
	const batch = 1000
	for n := 0; n < crowdEvents; n += batch {
		list := make([]string, batch)
		for i := range list {
			list[i] = strings.ReplaceAll(eventText, numbered, fmt.Sprintf("%0*d", len(numbered), n+i))
		}
		if err := pushed(server.address, "["+strings.Join(list, ",")+"]"); err != nil {
			return 0, 0, err
		}
	}
	mark, critical := "mark1x", &sentEvent{}
	g.mu.Lock()
	g.events[mark] = critical
	g.mu.Unlock()
	began := time.Now()
	if err := pushed(server.address, `{"title_rule": "`+mark+`", "event_status": "Critical", "alert_key": "`+mark+`"}`); err != nil {
		return 0, 0, err
	}
	if err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
		left, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM event_waiting`)
		return err
	}); err != nil {
		return 0, 0, err
	}
	for critical.text.Load() == 0 {
		if time.Since(began) > pageTimeout {
			return 0, left, fmt.Errorf("no page within %s", pageTimeout)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Unix(0, critical.text.Load()).Sub(began), left, nil
}

// pushed sends events to a server.
func pushed(address, body string) error {
	reply, err := http.Post("http://"+address+eventPath, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	if reply.Body.Close(); reply.StatusCode != http.StatusOK {
		return fmt.Errorf("a push was answered %s", reply.Status)
	}
	return nil
}
