package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/demo"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

// What the demo's account has more for the pages of the console.
const (
	pageIncidents = 5000
	pageSchedules = 200
	pageLoads     = 60              // of each page,
	pageSpan      = 6 * time.Second // or as many as this is enough for, once there are a few
	fewLoads      = 5

	firstColleague = 3846027201131 // of the owner, who is in few schedules
)

// consolePages measures one page of each kind: the time until the whole page has arrived, compressed as for a browser, the
// processor time of the server for it, its size, and how many operations it calls.
func consolePages(binary, dsn string) error {
	keys, err := pageKeys(dsn)
	if err != nil {
		return err
	}
	server, err := start(binary, "serve", "--listen", "127.0.0.1:0", "--db", dsn, "--limit-per-second", "0", "--limit-per-minute", "0")
	if err != nil {
		return err
	}
	defer server.stop()
	base := "http://" + server.address
	hourly, err := fillPages(server.address, keys)
	if err != nil {
		return err
	}
	server.settle()
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	b := &pageBrowser{server: server, base: base, client: &http.Client{Jar: jar, Transport: &http.Transport{DisableCompression: true}}}
	signedIn, err := b.client.PostForm(base+"/sign-in", url.Values{"app_key": {keys.All}})
	if err != nil {
		return err
	}
	signedIn.Body.Close()
	pages, err := b.crawl()
	if err != nil {
		return err
	}
	pages = append(pages, hourly)
	fmt.Printf("| page, %d incidents, %d schedules | p50 | p99 | processor | bytes | compressed | operations |\n|---|---|---|---|---|---|---|\n", pageIncidents, pageSchedules)
	for _, p := range pages {
		if matched, err := regexp.MatchString(*paths, p); err != nil || !matched {
			continue
		}
		if err := b.measure(p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	fmt.Println()
	return nil
}

// pageKeys returns new keys of the demo's account in a database.
func pageKeys(dsn string) (keys demo.Keys, err error) {
	d, err := db.Open(context.Background(), dsn)
	if err != nil {
		return keys, err
	}
	defer d.Close()
	keyring, err := app.Config{DB: dsn, Clock: clock.System}.SealKeys().Open(context.Background(), d)
	if err != nil {
		return keys, err
	}
	return demo.Fill(context.Background(), d, keyring, time.Now())
}

// fillPages adds schedules, and alerts of which each opens an incident, and waits until the last one has. It returns the
// page of a schedule whose turns last an hour.
func fillPages(address string, keys demo.Keys) (hourly string, err error) {
	for i := range pageSchedules + 1 {
		unit := "day"
		if i == pageSchedules {
			unit = "hour"
		}
		body := fmt.Sprintf(`{"schedule_name": "Bench %d", "layers": [{"layer_name": "Turns", "layer_start": %d, "rotation_unit": "%s", "rotation_value": 1, "groups": [`+
			`{"group_name": "A", "members": [{"role_id": 0, "person_ids": [%d]}]}, {"group_name": "B", "members": [{"role_id": 0, "person_ids": [%d]}]}]}]}`,
			i, time.Now().Add(-365*24*time.Hour).Unix(), unit, firstColleague+i%12*1000, firstColleague+(i+1)%12*1000)
		reply, err := ask(address, keys.All, "/schedule/create", body)
		if err != nil {
			return "", err
		}
		made := scheduleID.FindStringSubmatch(reply)
		if made == nil {
			return "", fmt.Errorf("a schedule: %s", reply)
		}
		hourly = "/schedules/" + made[1] + "?hourly"
	}
	return hourly, fillIncidents(address, keys)
}

var scheduleID = regexp.MustCompile(`"schedule_id":(\d+)`)

// fillIncidents adds alerts of which each opens an incident.
func fillIncidents(address string, keys demo.Keys) error {
	const batch = 100
	for n := 0; n < pageIncidents; n += batch {
		var events []map[string]any
		for i := range batch {
			events = append(events, map[string]any{"title_rule": "Database shard does not answer", "event_status": "Critical", "alert_key": fmt.Sprint("bench-", n+i),
				"labels": map[string]string{"service": fmt.Sprintf("shard%d-db", n+i), "check": "ping"}})
		}
		text, err := json.Marshal(events)
		if err != nil {
			return err
		}
		r, err := http.Post("http://"+address+"/event/push/alert/standard?integration_key="+url.QueryEscape(keys.Push), "application/json", bytes.NewReader(text))
		if err != nil {
			return err
		}
		r.Body.Close()
		if r.StatusCode != http.StatusOK {
			return fmt.Errorf("push: %d", r.StatusCode)
		}
	}
	for range 600 {
		n, err := incidentsOf(address, keys.All)
		if err != nil {
			return err
		}
		if n >= pageIncidents {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("the incidents do not come")
}

// pageBrowser is a browser that has signed in.
type pageBrowser struct {
	server *process
	base   string
	client *http.Client
}

func (b *pageBrowser) get(path string, zipped bool) (status int, kind string, body []byte, err error) {
	r, err := http.NewRequest(http.MethodGet, b.base+path, nil)
	if err != nil {
		return 0, "", nil, err
	}
	if zipped {
		r.Header.Set("Accept-Encoding", "gzip")
	}
	reply, err := b.client.Do(r)
	if err != nil {
		return 0, "", nil, err
	}
	defer reply.Body.Close()
	body, err = io.ReadAll(reply.Body)
	return reply.StatusCode, reply.Header.Get("Content-Type"), body, err
}

var (
	pageLink       = regexp.MustCompile(`href="(/[^"#]*)`)
	pageIdentifier = regexp.MustCompile(`/[^/]*[0-9][^/]*`)
)

// crawl returns one address of each kind of page that links lead to.
func (b *pageBrowser) crawl() (pages []string, err error) {
	seen := map[string]bool{}
	for waiting := []string{"/"}; len(waiting) > 0; {
		path := waiting[0]
		waiting = waiting[1:]
		bare, _, _ := strings.Cut(path, "?")
		shape := pageIdentifier.ReplaceAllString(bare, "/{id}")
		if seen[shape] || strings.HasPrefix(path, "/assets/") {
			continue
		}
		seen[shape] = true
		status, kind, body, err := b.get(path, false)
		if err != nil {
			return nil, err
		}
		if status != http.StatusOK || !strings.HasPrefix(kind, "text/html") || !bytes.Contains(body, []byte(`id="main"`)) {
			continue
		}
		pages = append(pages, path)
		for _, link := range pageLink.FindAllSubmatch(body, -1) {
			waiting = append(waiting, strings.ReplaceAll(string(link[1]), "&amp;", "&"))
		}
	}
	slices.Sort(pages)
	return pages, nil
}

// measure loads a page and prints a row.
func (b *pageBrowser) measure(path string) error {
	_, _, plain, err := b.get(path, false)
	if err != nil {
		return err
	}
	before, err := b.calls()
	if err != nil {
		return err
	}
	busy := b.server.processor()
	var took []time.Duration
	zipped := 0
	for start := time.Now(); len(took) < pageLoads && (len(took) < fewLoads || time.Since(start) < pageSpan); {
		began := time.Now()
		status, _, body, err := b.get(path, true)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("status %d: %w", status, err)
		}
		took, zipped = append(took, time.Since(began)), len(body)
	}
	busy = b.server.processor() - busy
	after, err := b.calls()
	if err != nil {
		return err
	}
	f, loads := summed(took, time.Second), len(took)
	bare, asked, _ := strings.Cut(path, "?")
	name := "`" + pageIdentifier.ReplaceAllString(bare, "/{id}") + "`"
	if asked == "hourly" {
		name += " of hourly turns"
	}
	fmt.Printf("| %s | %s | %s | %s | %d | %d | %.1f |\n", name, f.p50.Round(100*time.Microsecond), f.p99.Round(100*time.Microsecond),
		(busy / time.Duration(loads)).Round(100*time.Microsecond), len(plain), zipped, (after-before)/float64(loads))
	return nil
}

var callCount = regexp.MustCompile(`(?m)^tocsin_api_calls_total\{.*\} (\S+)$`)

// calls returns how many operations were called.
func (b *pageBrowser) calls() (sum float64, err error) {
	_, _, body, err := b.get("/metrics", false)
	for _, found := range callCount.FindAllSubmatch(body, -1) {
		n, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, err
}
