package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/test/pgserver"
)

// attacks lists what the hostile account does, one after the other, and then all of it at once.
var attacks = []struct{ name, title string }{
	{"flood", "a flood of events: one by one with labels of their own, all with one key, and 10,000 in a request"},
	{"filters", "the most expensive rules that are allowed, 200 events of 2,000 characters a second"},
	{"pages", "the largest pages and searches without a match, insights of a year, exports, explanations"},
	{"configuration", "the largest schedules and windows, all kinds of writes as often as the limits allow"},
	{"connections", "1,000 connections: slow headers, slow bodies, replies that are not read"},
	{"target", "webhooks that never answer"},
	{"keys", "keys and passwords that are guessed wrong"},
	{"uploads", "source maps, errors of web pages, and bodies at their bounds"},
	{"rules", "1,000 alert rules that are evaluated every second, each with an alert that begins or ends each time"},
	{"all", "all of these at once"},
}

// hostile measures the calls of 100 good accounts and how soon they are notified, alone and beside a hostile account, on
// each engine. All limits are those that a server has without settings. The attack is a process of its own with a lower
// priority: on another machine it would not use these processors at all.
func hostile(binary, dir string) error {
	type bed struct{ title, dsn string }
	beds := []bed{{"embedded", "sqlite:" + filepath.Join(dir, "hostile.db")}}
	s, err := pgserver.Start(pgserver.Options{Durable: true, Settings: map[string]string{"shared_buffers": "256MB", "min_wal_size": "512MB"}})
	switch {
	case errors.Is(err, pgserver.ErrMissing):
		fmt.Printf("PostgreSQL was not measured: %v\n\n", err)
	case err != nil:
		return err
	default:
		defer s.Close()
		for _, sql := range []string{`CREATE DATABASE hostile TEMPLATE template0`, writeAhead, `CHECKPOINT`} {
			if err := s.SQL("postgres", sql); err != nil {
				return err
			}
		}
		beds = append(beds, bed{"PostgreSQL", s.DSN("hostile")})
	}
	fmt.Printf("%d good accounts, whose calls use %.0f %% of the processors alone; p99 (p50) alone, beside, and the ratio of p99\n\n",
		goodAccounts, 100*goodPart)
	for _, at := range beds {
		if !strings.Contains(at.title, *engineOnly) {
			continue
		}
		if err := besideHostile(binary, dir, at.title, at.dsn); err != nil {
			return fmt.Errorf("%s: %w", at.title, err)
		}
	}
	return nil
}

// writeAhead makes 512 MB of files of the write-ahead log, which the next checkpoint leaves to be used again, as those of a
// server that has been in use are. A new file is filled with zeros first: each time all commits wait for 40 to 60 ms.
const writeAhead = `DO $$ BEGIN
	FOR n IN 1..32 LOOP
		PERFORM pg_logical_emit_message(false, 'bench', 'fills a file');
		PERFORM pg_switch_wal();
	END LOOP;
END $$`

// besideHostile prints the table of one engine.
func besideHostile(binary, dir, title, dsn string) error {
	b := &battlefield{dsn: dsn}
	if err := b.prepare(binary, filepath.Join(dir, title+".key")); err != nil {
		return err
	}
	defer b.close()
	if err := b.load(); err != nil {
		return err
	}
	fmt.Printf("%s: %d calls a second together\n\n", title, b.good.rate.Load())
	for _, attack := range attacks {
		if *attackOnly != "" && !slices.Contains(strings.Split(*attackOnly, ","), attack.name) {
			continue
		}
		alone := newSamples()
		beside := newSamples()
		before := cost{}
		spent := cost{}
		for range *rounds {
			if err := b.spending(&before, func() error { return b.good.during(*span, alone) }); err != nil {
				return err
			}
			if err := b.spending(&spent, func() error { return b.attacked(attack.name, beside, &spent) }); err != nil {
				return fmt.Errorf("%s: %w", attack.name, err)
			}
			if err := b.forget(); err != nil {
				return err
			}
		}
		fmt.Printf("**%s, beside %s**. Processors alone: %s; beside: %s, attack %.2f. The attack: %s\n\n", title, attack.title,
			before, spent, spent.attack.Seconds()/spent.while.Seconds(), spent.said)
		fmt.Printf("| | alone | beside | ratio | measured |\n|---|---|---|---|---|\n")
		for _, kind := range slices.Concat([]string{allCalls}, goodKinds, goodDelays) {
			before, now := alone.of(kind), beside.of(kind)
			fmt.Printf("| %s | %s (%s) | %s (%s) | %.1f | %d, %d |\n", kind, milli(before.p99), milli(before.p50), milli(now.p99), milli(now.p50),
				float64(now.p99)/float64(max(before.p99, 1)), before.calls, now.calls)
		}
		fmt.Printf("\n%s%s\n", alone.problems("alone"), beside.problems("beside"))
	}
	return nil
}

func milli(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }

// battlefield is a server with the good accounts and the hostile one.
type battlefield struct {
	dsn    string
	main   int // process of PostgreSQL; 0: the embedded engine
	server *process
	good   *crowd
	db     *db.DB
}

// prepare fills the database, starts the server and the good accounts.
func (b *battlefield) prepare(binary, sealKey string) (err error) {
	r, err := newGateway()
	if err != nil {
		return err
	}
	c := app.Config{DB: b.dsn, SealKeyFile: sealKey, Clock: clock.System}
	for n := range goodAccounts {
		file, err := accountOf(goodAccount(n, r.url+"/hook"))
		if err != nil {
			return err
		}
		if err := imported(c, file); err != nil {
			return err
		}
	}
	file, err := accountOf(hostileAccount(r.silent))
	if err != nil {
		return err
	}
	if err := imported(c, file); err != nil {
		return err
	}
	b.server, err = start(binary, "serve", "--listen", "127.0.0.1:0", "--db", b.dsn, "--seal-key-file", sealKey, "--log-level", "error",
		"--calls-per-minute", "100", "--gateway", r.url+"/gateway", "--outbound-allow", "127.0.0.0/8", "--datasource-allow", "127.0.0.0/8")
	if err != nil {
		return err
	}
	b.db, err = db.Connect(context.Background(), b.dsn)
	if err != nil {
		return err
	}
	if b.db.Shared() {
		b.main, err = mainOf(b.dsn)
		if err != nil {
			return err
		}
	}
	b.good, err = newCrowd(b.server.address, b.db, r)
	return err
}

// mainOf returns the process of PostgreSQL that has started those of its connections.
func mainOf(dsn string) (int, error) {
	c, err := pgconn.Connect(context.Background(), dsn)
	if err != nil {
		return 0, err
	}
	main, err := parentOf(int(c.PID()))
	return main, errors.Join(err, c.Close(context.Background()))
}

// database returns the processor time of PostgreSQL.
func (b *battlefield) database() time.Duration {
	if b.main == 0 {
		return 0
	}
	used, _ := family(b.main) // a process that has just ended cannot be read
	return used
}

func (b *battlefield) close() {
	b.good.stop()
	b.server.stop()
	b.db.Close()
}

// cost is the processor time that each process has used, of the attack if there was one.
type cost struct {
	while                          time.Duration
	server, database, load, attack time.Duration
	said                           string // by the attack about its last round
}

// String returns how many processors each process kept busy on average.
func (c cost) String() string {
	part := func(of time.Duration) float64 { return of.Seconds() / c.while.Seconds() }
	return fmt.Sprintf("server %.2f, PostgreSQL %.2f, load of the good %.2f", part(c.server), part(c.database), part(c.load))
}

// spending adds what the processes use while a function runs.
func (b *battlefield) spending(spent *cost, do func() error) error {
	began := time.Now()
	server := b.server.processor()
	database := b.database()
	load := processorOf(os.Getpid())
	err := do()
	spent.while += time.Since(began)
	spent.server += b.server.processor() - server
	spent.database += b.database() - database
	spent.load += processorOf(os.Getpid()) - load
	return err
}

// load makes the good accounts call as often as goodPart allows.
func (b *battlefield) load() error {
	for range 2 { // the first time caches are cold
		var alone cost
		if err := b.spending(&alone, func() error { return b.good.during(5*time.Second, newSamples()) }); err != nil {
			return err
		}
		used := (alone.server + alone.database + alone.load).Seconds() / alone.while.Seconds() / float64(runtime.NumCPU())
		b.good.rate.Store(int64(float64(b.good.rate.Load()) * goodPart / used))
	}
	return nil
}

// attacked measures the good accounts beside an attack, which begins a moment earlier.
func (b *battlefield) attacked(name string, into *samples, spent *cost) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command("nice", "-n", "10", self, "attack", name, b.server.address)
	cmd.Stderr = os.Stderr
	said := new(strings.Builder)
	cmd.Stdout = said
	end, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	time.Sleep(*span / 4)
	err = b.good.during(*span, into)
	end.Close()
	err = errors.Join(err, cmd.Wait())
	spent.attack += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	spent.said = strings.TrimSpace(said.String())
	return err
}

// forget deletes what the hostile account still waits for, and leaves the server a moment: the next round must measure the
// good accounts alone.
func (b *battlefield) forget() error {
	for _, table := range []string{"event_waiting", "escalation", "follow_up", "untold", "webhook_event", "webhook_message", "notice"} {
		if err := b.db.WriteOf(context.Background(), hostileID, func(tx *db.Tx) error {
			_, err := tx.Exec(`DELETE FROM `+table+` WHERE account_id = $1`, hostileID)
			return err
		}); err != nil {
			return err
		}
	}
	time.Sleep(time.Second)
	return nil
}

// goodAccount returns the sections of the file of a good account: one person on call, who is notified by text message, and
// a webhook.
func goodAccount(n int, hook string) map[string]any {
	type object = map[string]any
	id, sms := goodID(n), []string{"sms"}
	return object{
		"format":  "tocsin.account/1",
		"account": object{"account_id": id, "account_name": fmt.Sprint("Good ", n), "time_zone": "UTC", "owner_id": id + 1},
		"persons": []object{
			{"person_id": id + 1, "person_name": "Olga Owner", "email": fmt.Sprintf("olga%d@example.com", n), "phone": fmt.Sprintf("+15551%05d", n)},
			{"person_id": id + 2, "person_name": "Otto Other", "email": fmt.Sprintf("otto%d@example.com", n)},
		},
		"app_keys": []object{{"name": "bench", "person_id": id + 1, "app_key": goodKey(n)}},
		"channels": []object{{"channel_id": id + 3, "channel_name": "Shop"}},
		"integrations": []object{
			{"integration_id": id + 4, "integration_name": "Events", "integration_type": "standard", "channel_id": id + 3, "integration_key": goodSource(n)},
			{"integration_id": id + 5, "integration_name": "Hook", "integration_type": "webhook_incident",
				"settings": object{"endpoint": hook, "event_types": []string{"i_new"}}},
		},
		"silence_rules": []object{{"rule_id": fmt.Sprintf("%024x", id), "channel_id": id + 3, "rule_name": "Test systems",
			"filters":      [][]object{{{"key": "labels.env", "oper": "IN", "vals": []string{"test"}}}},
			"time_filters": []object{{"start": "00:00", "end": "23:59", "repeat": []int{0, 1, 2, 3, 4, 5, 6}}}}},
		"escalate_rules": []object{{"rule_id": fmt.Sprintf("%024x", id+1), "channel_id": id + 3, "rule_name": "on call", "template_id": fmt.Sprintf("%024x", 1),
			"layers": []object{{"escalate_window": 720, "target": object{"person_ids": []int{id + 1}, "by": object{"critical": sms, "warning": sms, "info": sms}}}}}},
	}
}
