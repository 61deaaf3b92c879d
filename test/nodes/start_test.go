package nodes

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"tocsin/internal/platform/db"
)

// Three nodes that start at once on an empty database make its schema and one account, and all of them serve.
func TestNodesStartAtOnceOnEmptyDatabase(t *testing.T) {
	dsn, dir := database(t), t.TempDir()
	file, key := filepath.Join(dir, "account.json"), filepath.Join(dir, "seal.key")
	must(t, os.WriteFile(file, accountFile("http://127.0.0.1:1"), 0o600))
	elsewhere := "sqlite:" + filepath.Join(dir, "elsewhere.db") // an import makes the key, which nodes are given
	if out, err := exec.Command(binary, "import", file, "--db", elsewhere, "--seal-key-file", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var all [3]*Node
	var starting sync.WaitGroup
	for i := range all {
		all[i] = NewNode(fmt.Sprint("node", i+1), binary,
			"serve", "--db", dsn, "--seal-key-file", key, "--log-level", "error", "--log-format", "json")
		starting.Go(func() {
			if err := all[i].Start(); err != nil {
				t.Error(err)
			}
		})
		t.Cleanup(func() { all[i].Kill() })
	}
	starting.Wait()
	if t.Failed() {
		return
	}
	for _, n := range all {
		reply, err := http.Get(n.URL + "/health/ready")
		must(t, err)
		reply.Body.Close()
		if reply.StatusCode != http.StatusOK {
			t.Errorf("%s: /health/ready answers %d", n.Name, reply.StatusCode)
		}
		for _, line := range n.Logged() {
			t.Error(line)
		}
	}
	d, err := db.Connect(context.Background(), dsn)
	must(t, err)
	defer d.Close()
	accounts, err := (&Cluster{db: d}).count(`SELECT count(*) FROM account`)
	must(t, err)
	if accounts != 1 {
		t.Errorf("the nodes have made %d accounts, want one", accounts)
	}
}
