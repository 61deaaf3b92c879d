package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/alertrule"
	"tocsin/internal/app"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
	"tocsin/internal/rulefolder"
)

// rulesInProgram starts the program with rules on a datasource.
func rulesInProgram(dir, address string, rules int, every, expr string) (a *app.App, stop func(), err error) {
	c := config("sqlite:"+filepath.Join(dir, fmt.Sprintf("rules-%d.db", rules)), app.Senders{})
	a, err = app.New(context.Background(), c)
	if err != nil {
		return nil, nil, err
	}
	f, err := accountfile.Read(strings.NewReader(`{"format": "tocsin.account/1",
		"account": {"account_id": 1, "account_name": "Bench", "time_zone": "UTC", "owner_id": 11},
		"persons": [{"person_id": 11, "person_name": "Olga", "email": "olga@example.com"}],
		"channels": [{"channel_id": 41, "channel_name": "Nodes", "group": {"method": "p", "equals": [["group_key"]]}}]}`))
	if err != nil {
		return nil, nil, err
	}
	addRules(f, 41, address, rules, every, expr)
	if err := accountfile.Import(context.Background(), a.DB, a.Keyring, f, time.Now(), false); err != nil {
		return nil, nil, err
	}
	s, err := a.Start()
	if err != nil {
		return nil, nil, err
	}
	return a, func() { _ = s.Stop() }, nil
}

// addRules adds rules on a datasource to an account file. Without an expression each has a query of its own.
func addRules(f *accountfile.File, channel int64, address string, rules int, every, expr string) {
	f.Datasources = []datasource.Record{{Item: datasource.Item{
		ID: 1, AccountID: f.Account.AccountID, TypeIdent: "prometheus", Name: "local", Address: address, Enabled: true, EdgeClusterName: "default",
		Payload: &datasource.Payload{Prometheus: &datasource.HTTP{}},
	}}}
	for n := range rules {
		one := alertrule.Rule{ID: uint64(n + 1), FolderID: int64(1 + n/2000), Name: fmt.Sprint("R", n), DSType: "prometheus", ChannelIDs: []int64{channel}}
		one.CronPattern = "@every " + every
		one.DSIDs = []uint64{1}
		one.RuleConfigs = evaluate.Config{
			Queries:      []evaluate.Query{{Name: "A", Expr: cmp.Or(expr, ruleQuery(n))}},
			CheckAnydata: &evaluate.Anydata{Counts: evaluate.Counts{Enabled: true}, Severity: "Critical"},
		}
		f.AlertRules = append(f.AlertRules, one)
	}
	for id := int64(2); id <= int64(1+(rules-1)/2000); id++ {
		f.RuleFolders = append(f.RuleFolders, rulefolder.Folder{FolderID: id, FolderName: fmt.Sprint("F", id)})
	}
}

func (b ruleBed) begunTogether() error {
	rows := make([]string, 10_000)
	for n := range rows {
		rows[n] = fmt.Sprintf(`{"metric":{"host":"h%d"},"value":[1,"97"]}`, n)
	}
	answer := `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(rows, ",") + `]}}`
	var answered atomic.Int64
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answer)
		answered.CompareAndSwap(0, time.Now().UnixNano())
	}))
	defer source.Close()
	a, stop, err := rulesInProgram(b.dir, source.URL, 1, "1s", "load")
	if err != nil {
		return err
	}
	defer stop()
	before := processor()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var counts []int64
		err := a.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
			counts, err = db.All(tx, db.Column[int64], `SELECT count(*) FROM event UNION ALL SELECT count(*) FROM incident`)
			return err
		})
		if err != nil {
			return err
		}
		if counts[0] >= int64(len(rows)) {
			took := time.Since(time.Unix(0, answered.Load())).Round(time.Millisecond)
			used := (processor() - before).Round(time.Millisecond)
			fmt.Printf("| %d instances begin together: events committed | 2 s | %s, %s of a processor |\n", len(rows), took, used)
			return nil
		}
	}
	return errors.New("the events were not committed within a minute")
}

func (b ruleBed) quietRules() error {
	_, stop, err := rulesInProgram(b.dir, b.address, ruleCount, "30s", "")
	if err != nil {
		return err
	}
	defer stop()
	time.Sleep(40 * time.Second)
	before, err := writtenBytes()
	if err != nil {
		return err
	}
	const d = 30 * time.Second
	time.Sleep(d)
	after, err := writtenBytes()
	fmt.Printf("| %d quiet rules at 30 s: written to the disk | one row every 5 s | %d bytes/s |\n", ruleCount, (after-before)/int64(d.Seconds()))
	return err
}

// pagedBesideRules measures the pages of events at several rates without alert rules and beside many that find nothing.
func (b ruleBed) pagedBesideRules() error {
	rates := []int{50, 100, 200, 500}
	var p99 [2][]time.Duration
	var used [2][]float64 // of a processor
	for n, rules := range []int{0, ruleCount} {
		file, err := accountOf(eventAccountOf(20, true))
		if err != nil {
			return err
		}
		if rules > 0 {
			addRules(file, file.Channels[0].ChannelID, b.address, rules, "30s", "")
		}
		c := config("sqlite:"+filepath.Join(b.dir, fmt.Sprintf("paged-%d.db", rules)), app.Senders{})
		if err := imported(c, file); err != nil {
			return err
		}
		p, err := startPager(c.DB)
		if err != nil {
			return err
		}
		time.Sleep(35 * time.Second) // each rule is evaluated once
		for _, rate := range rates {
			began, before := time.Now(), processor()
			f, err := p.paged(rate, max(*span, 10*time.Second))
			if err != nil {
				return errors.Join(err, p.stop())
			}
			p99[n] = append(p99[n], f.p99)
			used[n] = append(used[n], (processor()-before).Seconds()/time.Since(began).Seconds())
		}
		if err := p.stop(); err != nil {
			return err
		}
	}
	for n, rate := range rates {
		without, beside := p99[0][n], p99[1][n]
		fmt.Printf("| from an event to its page at %d a second, p99: without rules, beside %d at 30 s; processor, load included | 1.5 times | %s, %s: %.2f; %.2f, %.2f |\n",
			rate, ruleCount, without.Round(100*time.Microsecond), beside.Round(100*time.Microsecond), beside.Seconds()/without.Seconds(), used[0][n], used[1][n])
	}
	return nil
}

// writtenBytes returns how many bytes this process has given to the disk.
func writtenBytes() (n int64, err error) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "\nwrite_bytes: ")
	_, err = fmt.Sscan(rest, &n)
	return n, err
}
