package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// The numbers and keys of the hostile account. It has more channels and sources: its rules are those of the second channel,
// and all alerts of the third join one incident.
const (
	hostileID     = 7300000000001
	hostileKey    = "key-of-the-hostile-account-0123456789abcdef"
	hostileSource = "source-of-the-hostile-account-0123456789-"
	hostileLayers = 50
)

// hostileAccount returns the sections of the file of the hostile account, whose webhooks go to silent.
func hostileAccount(silent string) map[string]any {
	type object = map[string]any
	var channels, sources []object
	for i := range 3 {
		group := object{"method": "n"}
		if i == 2 {
			group = object{"method": "p", "equals": [][]string{{"severity"}}, "time_window": 1440}
		}
		channels = append(channels, object{"channel_id": hostileID + 10 + i, "channel_name": fmt.Sprint("Channel ", i), "group": group})
		sources = append(sources, object{"integration_id": hostileID + 20 + i, "integration_name": fmt.Sprint("Events ", i), "integration_type": "standard",
			"channel_id": hostileID + 10 + i, "integration_key": hostileSource + strconv.Itoa(i)})
	}
	for i, kind := range []string{"webhook_alert", "webhook_incident"} {
		sources = append(sources, object{"integration_id": hostileID + 30 + i, "integration_name": kind, "integration_type": kind,
			"settings": object{"endpoint": silent + "/hook"}})
	}
	rules := func(kind int) (all []object) { // two expressions of 1,000 instructions, and as many values as are allowed beside
		for i := range 2 {
			all = append(all, object{"rule_id": fmt.Sprintf("%023x%d", 0xabc0+kind, i), "channel_id": hostileID + 11, "rule_name": fmt.Sprint("Rule ", i),
				"filters": [][]object{{{"key": "description", "oper": "IN", "vals": []string{"/(x|y){300}z/"}}}}})
		}
		for i := range 300 {
			all = append(all, object{"rule_id": fmt.Sprintf("%020x%04d", 0xdef0+kind, i), "channel_id": hostileID + 11, "rule_name": fmt.Sprint("Values ", i),
				"filters": [][]object{{{"key": "labels.host", "oper": "IN", "vals": slices.Repeat([]string{"a-host-of-another-name"}, 50)}}}})
		}
		return all
	}
	silences := rules(1)
	for _, s := range silences {
		s["time_filters"] = []object{{"start": "00:00", "end": "23:59", "repeat": []int{0, 1, 2, 3, 4, 5, 6}}}
	}
	return object{
		"format":       "tocsin.account/1",
		"account":      object{"account_id": hostileID, "account_name": "Hostile", "time_zone": "UTC", "owner_id": hostileID + 1},
		"persons":      []object{{"person_id": hostileID + 1, "person_name": "Harm", "email": "harm@example.com", "phone": "+15559999999"}},
		"app_keys":     []object{{"name": "bench", "person_id": hostileID + 1, "app_key": hostileKey}},
		"channels":     channels,
		"integrations": sources, "drop_rules": rules(0), "silence_rules": silences,
	}
}

// assault is a number of connections, each of which sends one request after the other.
type assault struct {
	connections int
	pause       time.Duration // after each reply
	next        func(client, n int) []byte
}

// attacker runs assaults until stop is closed, and counts the replies.
type attacker struct {
	address string
	stop    chan struct{}
	all     sync.WaitGroup
	mu      sync.Mutex
	replies map[string]int
}

// attack is the process of the hostile account. It ends with its standard input, and prints what it was answered.
func attack(name, address string) error {
	a := &attacker{address: address, stop: make(chan struct{}), replies: map[string]int{}}
	begin := map[string]func() error{
		"flood": a.flood, "filters": a.filters, "pages": a.pages, "configuration": a.configuration, "connections": a.connections,
		"target": a.target, "keys": a.keys, "uploads": a.uploads, "rules": a.rules,
	}
	var errs []error
	for _, each := range slices.Sorted(maps.Keys(begin)) {
		if name == each || name == "all" {
			errs = append(errs, begin[each]())
		}
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	close(a.stop)
	a.all.Wait()
	for _, status := range slices.Sorted(maps.Keys(a.replies)) {
		fmt.Printf("%d times %s; ", a.replies[status], status)
	}
	return errors.Join(errs...)
}

// run starts an assault.
func (a *attacker) run(of assault) {
	for client := range of.connections {
		a.all.Go(func() {
			for n := 0; !a.over(0); {
				conn, err := net.Dial("tcp", a.address)
				if err != nil {
					a.count("no connection")
					a.over(100 * time.Millisecond)
					continue
				}
				a.all.Go(func() { // ends a request that is still waited for
					<-a.stop
					conn.Close()
				})
				for in := bufio.NewReader(conn); !a.over(of.pause); n++ {
					if _, err := conn.Write(of.next(client, n)); err != nil {
						break
					}
					r, err := http.ReadResponse(in, nil)
					if err != nil {
						break
					}
					_, err = io.Copy(io.Discard, r.Body)
					a.count(strconv.Itoa(r.StatusCode))
					if err != nil {
						break
					}
				}
				conn.Close()
			}
		})
	}
}

func (a *attacker) count(status string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.replies[status]++
}

// over reports whether the attack ends, after a pause.
func (a *attacker) over(pause time.Duration) bool {
	select {
	case <-a.stop:
		return true
	case <-time.After(pause):
		return false
	}
}

func request(path, body string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

func hostileCall(path, body string) []byte { return request(path+"?app_key="+hostileKey, body) }
