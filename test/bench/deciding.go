package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/cli"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

// deciding measures the cost of deciding an event: events are accepted first, then it measures the time until all of
// them are decided. Events of new alerts cost most, because each opens an incident. Events that repeat their alert's
// state are the most frequent. It also prints the processor time, which other programs on the machine do not prolong.
func deciding(dir string) error {
	cli.ServerPace.Keep() // as the server does
	fmt.Printf("| deciding %d events | time for one that opens an incident | processor | for one of an alert that is open | processor |\n|---|---|---|---|---|\n", *events)
	for _, rules := range eventRules {
		var opens, repeats, opensUsed, repeatsUsed []time.Duration
		for round := range *rounds {
			dsn, err := eventDatabase(dir, fmt.Sprintf("decide-%d-%d", rules, round), rules, false)
			if err != nil {
				return err
			}
			first, firstUsed, err := decided(dsn, fmt.Sprintf("opens-%d", rules))
			if err != nil {
				return err
			}
			again, againUsed, err := decided(dsn, fmt.Sprintf("repeats-%d", rules)) // the same once more
			if err != nil {
				return err
			}
			opens, repeats = append(opens, first), append(repeats, again)
			opensUsed, repeatsUsed = append(opensUsed, firstUsed), append(repeatsUsed, againUsed)
		}
		round := func(d []time.Duration) time.Duration { return median(d).Round(time.Microsecond) }
		fmt.Printf("| %d rules | %s | %s | %s | %s |\n", rules, round(opens), round(opensUsed), round(repeats), round(repeatsUsed))
	}
	fmt.Println()
	return nil
}

// program is the whole program within this process, with a receiver in place of all senders.
func program(dsn string, senders app.Senders) (*app.App, error) {
	c := config(dsn, senders)
	c.Budget = notify.Budget{Urgent: 1_000_000, Other: 1_000_000} // each page is measured, so none may share a message
	return app.New(context.Background(), c)
}

// config returns the configuration of a program in this process.
func config(dsn string, senders app.Senders) app.Config {
	return app.Config{DB: dsn, Listen: "127.0.0.1:0", Clock: clock.System, Log: slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError})),
		Version: "bench", PublicURL: "https://tocsin.example.com", Senders: senders,
		DatasourceAllow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
}

// decided accepts the same events every time, and returns the time and the processor time to decide one.
func decided(dsn, profileName string) (each, used time.Duration, err error) {
	a, err := program(dsn, app.Senders{})
	if err != nil {
		return 0, 0, err
	}
	defer a.Close()
	handler, err := a.Handler()
	if err != nil {
		return 0, 0, err
	}
	const batch = 100
	for n := 0; n < *events; n += batch {
		list := make([]string, batch)
		for i := range list {
			list[i] = strings.ReplaceAll(eventText, numbered, fmt.Sprintf("%0*d", len(numbered), n+i))
		}
		reply := httptest.NewRecorder()
		handler.ServeHTTP(reply, httptest.NewRequest(http.MethodPost, eventPath, strings.NewReader("["+strings.Join(list, ",")+"]")))
		if reply.Code != http.StatusOK {
			return 0, 0, fmt.Errorf("%d %s", reply.Code, reply.Body)
		}
	}
	stop, err := profiled(profileName)
	if err != nil {
		return 0, 0, err
	}
	defer stop()
	began, before := time.Now(), processor()
	a.Runner.Start()
	defer a.Runner.Stop()
	for left := int64(1); left > 0; {
		time.Sleep(time.Millisecond)
		err := a.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
			left, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM (SELECT 1 FROM event_waiting LIMIT 1)`)
			return err
		})
		if err != nil {
			return 0, 0, err
		}
	}
	n := time.Duration(*events)
	return time.Since(began) / n, (processor() - before) / n, nil
}

// profiled begins a processor profile in a file with this ending, if profiles are asked for, and returns how to end it.
func profiled(name string) (stop func(), err error) {
	if *profile == "" {
		return func() {}, nil
	}
	file, err := os.Create(*profile + "-" + name + ".pprof")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close() // a profile that was cut off cannot be read
	}, nil
}

// processor returns the processor time of this process.
func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
