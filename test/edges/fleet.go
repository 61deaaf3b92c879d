// Package edges runs a real server and real edges of one cluster, and a datasource whose answers are a function of time. Its
// tests kill, freeze and cut off edges, fill their disks, set their clocks wrong and kill the server, two at a time. Afterwards
// exactly that must be open which would be without them, and what was stored must be true. test/bench measures with it.
package edges

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/test/nodes"
)

const (
	appKey  = "owner-key-of-the-edges-0123456789"
	cluster = "fra"
)

// Rules are the rules of an account, all on one datasource that answers as Prometheus does.
type Rules struct {
	Count      int
	Every      time.Duration
	Datasource string                        // its address
	Config     func(rule int) map[string]any // the queries and checks of a rule
}

// Fleet is a server, and edges of one cluster, each with a link of its own to the server.
type Fleet struct {
	Rules
	Server *nodes.Node
	Edges  []*Edge
	DB     *db.DB // the server's, as the harness reads it

	binary, key string
}

// Edge is a member of the cluster.
type Edge struct {
	*nodes.Node
	Link *nodes.Link
	Dir  string

	key string // the file with it
}

// NewFleet starts a server with rules. No edge evaluates them yet.
func NewFleet(binary, dir string, rules Rules) (f *Fleet, err error) {
	dsn, seal := "sqlite:"+filepath.Join(dir, "tocsin.db"), filepath.Join(dir, "seal.key")
	file := filepath.Join(dir, "account.json")
	if err := os.WriteFile(file, account(rules), 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.Command(binary, "import", file, "--db", dsn, "--seal-key-file", seal).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("import: %w: %s", err, out)
	}
	f = &Fleet{Rules: rules, binary: binary, key: filepath.Join(dir, "edge.key")}
	f.Server = nodes.NewNode("server", binary, "serve", "--db", dsn, "--seal-key-file", seal, "--log-level", "warn", "--log-format", "json")
	if err := f.Server.Start(); err != nil {
		return nil, err
	}
	f.DB, err = db.Connect(context.Background(), dsn)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	var made struct{ Key string }
	err = f.Call("/monit/edge/key/create", map[string]any{"key_name": "k", "cluster_name": cluster}, &made)
	if err == nil {
		err = os.WriteFile(f.key, []byte(made.Key), 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Join starts another edge, with a directory of its own.
func (f *Fleet) Join(name, dir string) (*Edge, error) {
	link, err := nodes.NewLink(strings.TrimPrefix(f.Server.URL, "http://"))
	if err != nil {
		return nil, err
	}
	e := &Edge{Link: link, Dir: dir, key: f.key}
	e.Node = nodes.NewNode(name, f.binary, "edge", "--server", e.server(), "--key-file", f.key, "--name", name, "--dir", dir,
		"--log-level", "warn", "--log-format", "json")
	f.Edges = append(f.Edges, e)
	return e, e.Start()
}

func (e *Edge) server() string { return "http://" + e.Link.Address }

// Close ends all.
func (f *Fleet) Close() (err error) {
	for _, e := range f.Edges {
		e.Kill()
		e.Link.Close()
	}
	f.Server.Kill()
	if f.DB != nil {
		err = f.DB.Close()
	}
	return err
}

// Call calls an operation of the server as the account's owner, and reads the data of its reply unless data is nil.
func (f *Fleet) Call(path string, body, data any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	reply, err := http.Post(f.Server.URL+path+"?app_key="+appKey, "application/json", bytes.NewReader(text))
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	text, err = io.ReadAll(reply.Body)
	if err != nil {
		return err
	}
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s %s", path, reply.Status, text)
	}
	if data == nil {
		return nil
	}
	return json.Unmarshal(text, &struct{ Data any }{data})
}

// Balanced reports whether each edge evaluates a part of the rules that is not much smaller than those of the others.
func (f *Fleet) Balanced() bool {
	sum := 0
	for _, e := range f.Edges {
		n := e.Watches()
		if n*len(f.Edges) < f.Count*3/5 {
			return false
		}
		sum += n
	}
	return sum == f.Count
}

var watchesMetric = regexp.MustCompile(`(?m)^tocsin_watches (\d+)`)

// Watches returns how many rules an edge evaluates.
func (e *Edge) Watches() int {
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

// mostInFolder is how many rules a folder has, which may have 2,000.
const mostInFolder = 2000

// Queries for the rules that are open.
const (
	OpenInstances = `SELECT rule_id FROM rule_instance WHERE close_at = 0`
	OpenAlerts    = `SELECT CAST(substr(alert_key, 1, instr(alert_key, ':') - 1) AS INTEGER) FROM alert
		WHERE end_time = 0 AND alert_key NOT LIKE 'monit/%'`
)

// OpenRules returns the rules that one of these queries finds, in order.
func (f *Fleet) OpenRules(query string) (rules []int, err error) {
	err = f.DB.Read(context.Background(), func(tx *db.Tx) error {
		all, err := db.All(tx, db.Column[int64], query)
		for _, id := range all {
			rules = append(rules, int(id)-1)
		}
		return err
	})
	slices.Sort(rules)
	return rules, err
}

// Rule returns a rule as /monit/rule/update takes it: the cluster evaluates it, and it is an incident of its own.
func (r Rules) Rule(n int) map[string]any {
	return map[string]any{"id": n + 1, "folder_id": 1 + n/mostInFolder, "name": fmt.Sprint("R", n), "ds_type": "prometheus", "ds_ids": []int{1},
		"channel_ids": []int{41}, "cron_pattern": "@every " + r.Every.String(), "rule_configs": r.Config(n)}
}

// account returns the account with the rules.
func account(r Rules) []byte {
	type object = map[string]any
	var rules, folders []object
	for n := range r.Count {
		rules = append(rules, r.Rule(n))
	}
	for id := 2; id <= 1+(r.Count-1)/mostInFolder; id++ {
		folders = append(folders, object{"folder_id": id, "folder_name": fmt.Sprint("F", id)})
	}
	file := object{
		"format":   "tocsin.account/1",
		"account":  object{"account_id": 1, "account_name": "Edges", "time_zone": "UTC", "owner_id": 11},
		"persons":  []object{{"person_id": 11, "person_name": "Olga", "email": "olga@example.com"}},
		"app_keys": []object{{"name": "owner", "person_id": 11, "app_key": appKey}},
		"channels": []object{{"channel_id": 41, "channel_name": "Nodes", "flapping": object{"is_disabled": true},
			"group": object{"method": "p", "equals": [][]string{{"group_key"}}}}},
		"datasources": []object{{"id": 1, "type_ident": "prometheus", "name": "prometheus-fra", "enabled": true, "address": r.Datasource,
			"edge_cluster_name": cluster, "payload": object{"prometheus": object{}}}},
		"alert_rules": rules,
	}
	if len(folders) > 0 {
		file["rule_folders"] = folders
	}
	text, err := json.Marshal(file)
	if err != nil {
		panic(err) // maps of texts and numbers
	}
	return text
}
