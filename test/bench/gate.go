package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	gateRuns   = 2    // of each binary; the better one counts, because other work on the machine only adds
	gateEvents = 6000 // of a load that does not go by the clock
	gateAbove  = 1.15 // the ratio that fails
)

// price is what the server used for an event.
type price struct {
	processor time.Duration
	written   float64 // KB
}

// better returns the lower of each figure.
func (p price) better(other price) price {
	return price{min(p.processor, other.processor), min(p.written, other.written)}
}

// gate measures an event of the named commit and of the working tree in turn, and fails when it has become dearer.
func gate(binary, dir string) (err error) {
	tree := filepath.Join(dir, "base")
	if out, err := exec.Command("git", "worktree", "add", "--detach", tree, *base).CombinedOutput(); err != nil {
		return fmt.Errorf("git worktree add: %w\n%s", err, out)
	}
	defer func() {
		if out, removed := exec.Command("git", "worktree", "remove", "--force", tree).CombinedOutput(); removed != nil && err == nil {
			err = fmt.Errorf("git worktree remove: %w\n%s", removed, out)
		}
	}()
	before := filepath.Join(dir, "tocsin-base")
	if err := build(tree, before); err != nil {
		return err
	}
	fmt.Printf("| an event, load average %s | processor, %s | now | ratio | written, %s | now | ratio |\n|---|---|---|---|---|---|---|\n",
		loadAverage(), *base, *base)
	var above []string
	for n, shape := range []struct {
		title string
		run   func(binary, dir string) (price, error)
	}{
		{"one by one, 32 connections, 1 account", func(binary, dir string) (price, error) { return gateLoad(binary, dir, 1, 32, 1) }},
		{"one by one, 32 connections, 8 accounts", func(binary, dir string) (price, error) { return gateLoad(binary, dir, 8, 32, 1) }},
		{"in batches of 100, 8 connections", func(binary, dir string) (price, error) { return gateLoad(binary, dir, 1, 8, 100) }},
		{fmt.Sprintf("%d a second for %s, with webhooks", *perSecond, *soakFor), gateSoak},
	} {
		var best [2]price
		for run := range gateRuns {
			for i, b := range []string{before, binary} {
				p, err := shape.run(b, filepath.Join(dir, fmt.Sprint("gate-", n, run, i)))
				if err != nil {
					return fmt.Errorf("%s, %s: %w", shape.title, filepath.Base(b), err)
				}
				if run == 0 {
					best[i] = p
				}
				best[i] = best[i].better(p)
			}
		}
		processor := float64(best[1].processor) / float64(best[0].processor)
		written := best[1].written / best[0].written
		fmt.Printf("| %s | %s | %s | %.2f | %.1f KB | %.1f KB | %.2f |\n", shape.title, best[0].processor.Round(time.Microsecond),
			best[1].processor.Round(time.Microsecond), processor, best[0].written, best[1].written, written)
		if max(processor, written) > gateAbove {
			above = append(above, shape.title)
		}
	}
	if len(above) > 0 {
		return fmt.Errorf("an event takes more than %.0f %% above %s: %s", 100*(gateAbove-1), *base, strings.Join(above, "; "))
	}
	return nil
}

func gateSoak(binary, dir string) (p price, err error) {
	s, err := soakOnce(binary, dir)
	if wanted := int(soakFor.Seconds() * float64(*perSecond)); err == nil && s.events < wanted {
		err = fmt.Errorf("%d of %d events were accepted: %v", s.events, wanted, s.failed)
	}
	return price{s.processor, s.written}, err
}

// gateLoad measures events that open incidents without an escalation, from the first one until the server has nothing left to do.
func gateLoad(binary, dir string, accounts, clients, batch int) (p price, err error) {
	var files []map[string]any
	for n := range accounts {
		sections := goodAccount(n, "")
		sections["integrations"] = sections["integrations"].([]map[string]any)[:1] // no webhook
		delete(sections, "escalate_rules")
		files = append(files, sections)
	}
	server, _, err := freshServer(binary, dir, files)
	if err != nil {
		return p, err
	}
	defer server.stop()
	server.settle()
	before := reading{node: server.processor(), log: written(server.cmd.Process.Pid)}
	if _, err := paced(server.address, clients, gateEvents/batch, 0, func(n int) []byte {
		list := make([]string, batch)
		for i := range list {
			list[i] = strings.ReplaceAll(eventText, numbered, fmt.Sprintf("%0*d", len(numbered), n*batch+i))
		}
		return pushRequest(goodSource(n%accounts), "["+strings.Join(list, ",")+"]")
	}); err != nil {
		return p, err
	}
	server.settle()
	used := reading{node: server.processor(), log: written(server.cmd.Process.Pid)}.since(before)
	opened := 0
	for n := range accounts {
		each, err := incidentsOf(server.address, goodKey(n))
		if err != nil {
			return p, err
		}
		opened += each
	}
	if opened != gateEvents {
		return p, fmt.Errorf("%d events opened %d incidents", gateEvents, opened)
	}
	return price{used.node / gateEvents, float64(used.log) / 1000 / gateEvents}, nil
}

var totalOf = regexp.MustCompile(`"total":(\d+)`)

// incidentsOf returns how many incidents an account has.
func incidentsOf(address, key string) (int, error) {
	now := time.Now().Unix()
	reply, err := ask(address, key, "/incident/list", fmt.Sprintf(`{"limit": 1, "start_time": %d, "end_time": %d}`, now-86400, now+60))
	if err != nil {
		return 0, err
	}
	found := totalOf.FindStringSubmatch(reply)
	if found == nil {
		return 0, fmt.Errorf("no total in %.300s", reply)
	}
	return strconv.Atoi(found[1])
}
