package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/demo"
)

// contender is a server whose operations are measured, beside others in the same run.
type contender struct {
	name string
	*process
}

// contenders starts the binaries to compare: the first on the existing database, the other on one that it fills itself,
// because the two may differ in their schema.
func contenders(binary, db, key string) ([]contender, error) {
	all := []contender{{name: filepath.Base(binary)}}
	if *against != "" {
		dir := filepath.Join(filepath.Dir(strings.TrimPrefix(db, "sqlite:")), "against")
		filled, err := start(*against, "demo", "--listen", "127.0.0.1:0", "--dir", dir)
		if err != nil {
			return nil, err
		}
		if err := filled.stop(); err != nil {
			return nil, err
		}
		all = append(all, contender{name: filepath.Base(*against), process: filled})
	}
	for i := range all {
		name, at := binary, db
		if i > 0 {
			name = *against
			at = "sqlite:" + filepath.Join(filepath.Dir(strings.TrimPrefix(db, "sqlite:")), "against", "tocsin.db")
			key = all[i].key
		}
		server, err := start(name, "serve", "--listen", "127.0.0.1:0", "--db", at, "--limit-per-second", "0", "--limit-per-minute", "0")
		if err != nil {
			return all[:i], err
		}
		server.key, all[i].process = key, server
	}
	return all, nil
}

// operations measures each call of the demo beside a constant reply of its size.
func operations(binary, db, key string) error {
	servers, err := contenders(binary, db, key)
	defer func() {
		for _, s := range servers {
			s.stop()
		}
	}()
	if err != nil {
		return err
	}
	var calls []demo.Call
	for _, s := range servers { // which makes the schedule that is measured, with the same content and another id
		own, err := measured(s.process, s.key)
		if err != nil {
			return err
		}
		calls = append(calls, own...)
	}
	each := len(calls) / len(servers)
	sizes := []string{"constant"}
	for i, c := range calls {
		f, err := load(servers[i/each].address, post(c.Path, servers[i/each].key, c.Body), 1, 50*time.Millisecond)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
		sizes = append(sizes, strconv.Itoa(f.bytes))
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	yardstick, err := start(self, sizes...)
	if err != nil {
		return err
	}
	defer yardstick.stop()

	fmt.Printf("| operation (%d connections) | reply bytes | calls/s | p50 | p99 | constant reply/s | ratio | processor, constant |\n|---|---|---|---|---|---|---|---|\n", clients)
	for i := range each {
		var same []demo.Call // of each server
		for j := range servers {
			same = append(same, calls[j*each+i])
		}
		if err := compare(yardstick, servers, same, sizes[i+1]); err != nil {
			return err
		}
	}
	for _, s := range servers {
		fmt.Printf("\nresident after that load: %.1f MB (%s)\n", s.resident(), s.name)
	}
	fmt.Println()
	return nil
}

// compare measures a call of each server in turn with the constant reply, and prints a row for each server. The
// ratio is the median of the ratios of single rounds.
func compare(yardstick *process, servers []contender, calls []demo.Call, size string) error {
	if matched, err := regexp.MatchString(*paths, calls[0].Path+" "+calls[0].Title); err != nil || !matched {
		return err
	}
	constant, bare := []float64{}, []time.Duration{}
	own := make([][]figures, len(servers))
	ratios := make([][]float64, len(servers))
	costs := make([][]time.Duration, len(servers))
	for range *rounds {
		base, cost, err := yardstick.cost(func() (figures, error) {
			return load(yardstick.address, post("/"+size, servers[0].key, calls[0].Body), clients, *span)
		})
		if err != nil {
			return err
		}
		constant, bare = append(constant, base.perSecond), append(bare, cost)
		for i, s := range servers {
			f, cost, err := s.cost(func() (figures, error) {
				return load(s.address, post(calls[i].Path, s.key, calls[i].Body), clients, *span)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", calls[i].Path, err)
			}
			own[i] = append(own[i], f)
			ratios[i] = append(ratios[i], f.perSecond/base.perSecond)
			costs[i] = append(costs[i], cost)
		}
	}
	for i, s := range servers {
		m, title := middle(own[i]), calls[i].Title
		if len(servers) > 1 {
			title = s.name + ": " + title
		}
		fmt.Printf("| `%s` %s | %d | %.0f | %s | %s | %.0f | %.2f | %s, %s |\n", calls[i].Path, title, m.bytes, m.perSecond, m.p50.Round(10*time.Microsecond), m.p99.Round(10*time.Microsecond),
			median(constant), median(ratios[i]), median(costs[i]).Round(100*time.Nanosecond), median(bare).Round(100*time.Nanosecond))
	}
	return nil
}

// measured returns the calls to measure: those of the demo, and the schedules over 45 days that have a target.
func measured(server *process, key string) ([]demo.Call, error) {
	start := time.Now().Unix() / 3600 * 3600
	window := fmt.Sprintf(`"start": %d, "end": %d}`, start, start+45*86400)
	body := fmt.Sprintf(`{"schedule_name": "Daily", "layers": [{"layer_name": "Day", "layer_start": %d, "rotation_unit": "day", "rotation_value": 1, "groups": [`+
		`{"group_name": "A", "members": [{"role_id": 0, "person_ids": [1]}]}, {"group_name": "B", "members": [{"role_id": 0, "person_ids": [2]}]}, {"group_name": "C", "members": [{"role_id": 0, "person_ids": [3]}]}]}]}`, start-365*86400)
	reply, err := ask(server.address, key, "/schedule/create", body)
	if err != nil {
		return nil, err
	}
	daily := regexp.MustCompile(`"schedule_id":(\d+)`).FindStringSubmatch(reply)
	if daily == nil {
		return nil, fmt.Errorf("no schedule in %s", reply)
	}
	calls := demo.Calls()
	hard := strings.TrimSuffix(calls[0].Body, "}")
	return append(calls,
		demo.Call{Title: "45 days of a daily rotation", Path: "/schedule/info", Body: fmt.Sprintf(`{"schedule_id": %s, `, daily[1]) + window},
		demo.Call{Title: "45 days of day, night and weekend layers", Path: "/schedule/info", Body: hard + ", " + window},
	), nil
}

// ask makes one call.
func ask(address, key, path, body string) (string, error) {
	r, err := http.Post("http://"+address+path+"?app_key="+key, "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	reply, err := io.ReadAll(r.Body)
	return string(reply), err
}
