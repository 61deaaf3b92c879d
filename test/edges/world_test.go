package edges

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/test/nodes"
)

const (
	appKey  = "owner-key-of-the-edges-0123456789"
	cluster = "fra"
)

// world is a server and three edges of one cluster, each with a link of its own to the server.
type world struct {
	t      *testing.T
	random *rand.Rand
	source *source
	server *nodes.Node
	edges  []*edge
	db     *db.DB // the server's, as the harness reads it
}

// edge is a member of the cluster.
type edge struct {
	*nodes.Node
	link *nodes.Link
	disk *disk
	key  string // the file with it
	mend func() // ends what a fault began
}

// begin starts all, and waits until each edge evaluates its part.
func begin(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 0)), source: &source{}}
	for rule := range ruleCount {
		if w.random.IntN(10) < 3 {
			w.source.plan(rule, time.Now())
		}
	}
	datasource := httptest.NewServer(w.source)
	t.Cleanup(datasource.Close)
	dir := t.TempDir()
	dsn, key := "sqlite:"+filepath.Join(dir, "tocsin.db"), filepath.Join(dir, "seal.key")
	file := filepath.Join(dir, "account.json")
	w.must(os.WriteFile(file, account(datasource.URL), 0o600))
	if out, err := exec.Command(binary, "import", file, "--db", dsn, "--seal-key-file", key).CombinedOutput(); err != nil {
		t.Fatalf("import: %v: %s", err, out)
	}
	w.server = nodes.NewNode("server", binary, "serve", "--db", dsn, "--seal-key-file", key, "--log-level", "warn", "--log-format", "json")
	w.must(w.server.Start())
	t.Cleanup(w.server.Kill)
	var err error
	w.db, err = db.Connect(t.Context(), dsn)
	w.must(err)
	t.Cleanup(func() { w.must(w.db.Close()) })
	edgeKey := filepath.Join(dir, "edge.key")
	w.must(os.WriteFile(edgeKey, []byte(w.newKey()), 0o600))
	for _, name := range []string{"fra-1", "fra-2", "fra-3"} {
		w.edges = append(w.edges, w.newEdge(name, edgeKey))
	}
	w.until("each edge evaluates its part", w.balanced)
	return w
}

func (w *world) newEdge(name, key string) *edge {
	w.t.Helper()
	link, err := nodes.NewLink(strings.TrimPrefix(w.server.URL, "http://"))
	w.must(err)
	w.t.Cleanup(link.Close)
	e := &edge{link: link, disk: newDisk(w.t), key: key}
	e.Node = nodes.NewNode(name, binary, "edge", "--server", e.server(), "--key-file", key, "--name", name, "--dir", e.disk.dir,
		"--log-level", "warn", "--log-format", "json")
	w.must(e.Start())
	w.t.Cleanup(e.Kill)
	return e
}

func (e *edge) server() string { return "http://" + e.link.Address }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// account returns the account: its rules are evaluated by the cluster, and each is an incident of its own.
func account(datasource string) []byte {
	type object = map[string]any
	var rules []object
	for n := range ruleCount {
		rule := object{"id": n + 1, "folder_id": 1, "name": fmt.Sprint("R", n), "ds_type": "prometheus", "ds_ids": []int{1},
			"channel_ids": []int{41}, "cron_pattern": "@every " + every.String()}
		queries := []object{{"name": "A", "expr": fmt.Sprintf(`load{rule="%d"}`, n)}}
		if anyRow(n) {
			rule["rule_configs"] = object{"queries": queries, "check_anydata": object{"enabled": true, "severity": "Critical"}}
		} else {
			rule["rule_configs"] = object{"queries": queries, "check_threshold": object{"enabled": true, "critical": "$A > 90"}}
		}
		rules = append(rules, rule)
	}
	text, err := json.Marshal(object{
		"format":   "tocsin.account/1",
		"account":  object{"account_id": 1, "account_name": "Edges", "time_zone": "UTC", "owner_id": 11},
		"persons":  []object{{"person_id": 11, "person_name": "Olga", "email": "olga@example.com"}},
		"app_keys": []object{{"name": "owner", "person_id": 11, "app_key": appKey}},
		"channels": []object{{"channel_id": 41, "channel_name": "Nodes", "flapping": object{"is_disabled": true},
			"group": object{"method": "p", "equals": [][]string{{"group_key"}}}}},
		"datasources": []object{{"id": 1, "type_ident": "prometheus", "name": "prometheus-fra", "enabled": true, "address": datasource,
			"edge_cluster_name": cluster, "payload": object{"prometheus": object{}}}},
		"alert_rules": rules,
	})
	if err != nil {
		panic(err) // maps of texts and numbers
	}
	return text
}

// newKey makes a key for edges.
func (w *world) newKey() string {
	w.t.Helper()
	body := fmt.Sprintf(`{"key_name": "k", "cluster_name": %q}`, cluster)
	reply, err := http.Post(w.server.URL+"/monit/edge/key/create?app_key="+appKey, "application/json", bytes.NewBufferString(body))
	w.must(err)
	defer reply.Body.Close()
	var made struct{ Data struct{ Key string } }
	w.must(json.NewDecoder(reply.Body).Decode(&made))
	if made.Data.Key == "" {
		w.t.Fatalf("no key was made: %d", reply.StatusCode)
	}
	return made.Data.Key
}

// until waits until something is so. How long it takes depends on the machine's other work.
func (w *world) until(what string, is func() bool) time.Duration {
	w.t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > 2*time.Minute {
			w.logs()
			w.t.Fatalf("not within two minutes: %s: %s", what, w.difference())
		}
		time.Sleep(200 * time.Millisecond)
	}
	return time.Since(began)
}

// logs shows what the processes have logged.
func (w *world) logs() {
	w.t.Helper()
	for _, n := range append([]*nodes.Node{w.server}, w.edges[0].Node, w.edges[1].Node, w.edges[2].Node) {
		lines := n.Logged()
		w.t.Log(strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
}

// balanced reports whether each edge evaluates a part of the rules.
func (w *world) balanced() bool {
	sum := 0
	for _, e := range w.edges {
		n := e.watches()
		if n < ruleCount/5 {
			return false
		}
		sum += n
	}
	return sum == ruleCount
}

var watchesMetric = regexp.MustCompile(`(?m)^tocsin_watches (\d+)`)

// watches returns how many rules an edge evaluates.
func (e *edge) watches() int {
	reply, err := (&http.Client{Timeout: 5 * time.Second}).Get(e.URL + "/metrics")
	if err != nil {
		return 0
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	found := watchesMetric.FindSubmatch(text)
	if err != nil || found == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(found[1])) // digits
	return n
}
