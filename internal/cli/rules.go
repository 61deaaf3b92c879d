package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alertrule"
	"tocsin/internal/engine/monitor"
)

type rulesCmd struct {
	Import rulesImportCmd `cmd:"" help:"Create alert rules from rule files of Prometheus or exports of Grafana, through a running server."`
}

type rulesImportCmd struct {
	Files      []string `arg:"" help:"The files; - reads standard input." placeholder:"FILE"`
	Server     string   `help:"Address of the server." default:"http://127.0.0.1:8080" placeholder:"URL"`
	AppKey     string   `help:"An app key of the account, with Alerting Rules Manage." required:"" placeholder:"KEY"`
	Datasource string   `help:"The name of the datasource on which the rules are evaluated." required:"" placeholder:"NAME"`
	Folder     string   `help:"The name of their folder (default: the first)." placeholder:"NAME"`
	DryRun     bool     `help:"Store nothing, and print what would be."`
	Prove      bool     `help:"Compare with Prometheus on the answers of the last 24 hours, and print each difference."`
	Strict     bool     `help:"Leave with exit code 3 if a rule is not carried."`
	JSON       bool     `name:"json" help:"Print the replies of the server, a line for each file."`
}

// errNotCarried makes the program leave with NotCarried.
var errNotCarried = errors.New("a rule is not carried")

// Run imports the files one by one.
func (cmd *rulesImportCmd) Run(con *console) error {
	source, err := cmd.named("/monit/datasource/list", "name", "id", cmd.Datasource)
	if err != nil {
		return err
	}
	folder := int64(0)
	if cmd.Folder != "" {
		folder, err = cmd.named("/monit/folder/list", "folder_name", "folder_id", cmd.Folder)
		if err != nil {
			return err
		}
	}
	left := 0
	for _, name := range cmd.Files {
		text, err := readRules(name)
		if err != nil {
			return err
		}
		n, err := cmd.one(con, text, source, folder)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		left += n
	}
	if left > 0 && cmd.Strict {
		return errNotCarried
	}
	return nil
}

func readRules(name string) (string, error) {
	if name == "-" {
		name = "/dev/stdin"
	}
	text, err := os.ReadFile(name)
	return string(text), err
}

// one imports a file, and returns how many of its rules are not carried.
func (cmd *rulesImportCmd) one(con *console, text string, source, folder int64) (left int, err error) {
	var done alertrule.FileImport
	request := map[string]any{"text": text, "ds_id": source, "folder_id": folder, "dry_run": cmd.DryRun}
	if err := cmd.post("/monit/rule/import/file", request, &done); err != nil {
		return 0, err
	}
	for _, i := range done.Items {
		if i.Status == "not_carried" {
			left++
		}
	}
	proved, err := cmd.proofs(text, source)
	if err != nil {
		return left, err
	}
	if cmd.JSON {
		line, err := json.Marshal(map[string]any{"import": done, "proof": proved}, json.Deterministic(true))
		fmt.Fprintln(con.out, string(line))
		return left, err
	}
	for _, i := range done.Items {
		action := map[string]string{"create": ", new", "update": ", updated"}[i.Action]
		fmt.Fprintf(con.out, "%s: %s%s\n", i.Name, strings.ReplaceAll(i.Status, "_", " "), action)
		for _, change := range i.Changes {
			fmt.Fprintf(con.out, "  %s\n", change)
		}
		if i.Why != "" {
			fmt.Fprintf(con.out, "  %s\n", i.Why)
		}
	}
	for _, p := range proved {
		fmt.Fprintf(con.out, "%s: %d evaluations, %d alerts, %d differences %s\n", p.Name, p.Points, p.Alerts, p.Total, p.Why)
		for _, d := range p.Differences {
			fmt.Fprintln(con.out, "  "+d)
		}
	}
	fmt.Fprintf(con.out, "%d rules: %d created, %d updated, %d not carried\n", len(done.Items), done.Created, done.Updated, left)
	return left, nil
}

// proofs compares the rules of a file with Prometheus' meaning.
func (cmd *rulesImportCmd) proofs(text string, source int64) (all []monitor.ProvedRule, err error) {
	first := int64(0)
	for more := cmd.Prove; more; {
		var part monitor.ImportProof
		if err := cmd.post("/monit/rule/import/prove", map[string]any{"text": text, "ds_id": source, "first": first}, &part); err != nil {
			return all, err
		}
		all = append(all, part.Items...)
		first = part.Next
		more = first > 0
	}
	return all, nil
}

// named returns the identifier of an object by its name in a list.
func (cmd *rulesImportCmd) named(path, member, id, name string) (int64, error) {
	var reply any
	if err := cmd.post(path, map[string]any{}, &reply); err != nil {
		return 0, err
	}
	list, bare := reply.([]any)
	if items, ok := reply.(map[string]any); ok && !bare {
		list, _ = items["items"].([]any)
	}
	for _, one := range list {
		if object, ok := one.(map[string]any); ok && object[member] == name {
			found, _ := object[id].(float64)
			return int64(found), nil
		}
	}
	return 0, fmt.Errorf("%s has none of the name %q", path, name)
}

// patience is how long an import waits for the account's rate: many files are more calls than a minute takes.
const patience = 10 * time.Minute

// post makes a call, as soon as the account's rate lets it.
func (cmd *rulesImportCmd) post(path string, body, into any) error {
	for began := time.Now(); ; {
		wait, err := post(strings.TrimRight(cmd.Server, "/")+path+"?app_key="+cmd.AppKey, body, into)
		if wait == 0 || time.Since(began)+wait > patience {
			return err
		}
		time.Sleep(wait)
	}
}
