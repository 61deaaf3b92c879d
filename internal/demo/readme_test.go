package demo

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestReadmeHasEveryCall: the README has a line for every operation. The lines are those of Calls, which another
// test runs.
func TestReadmeHasEveryCall(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Calls() {
		line := fmt.Sprintf("| `%s` | %s | `curl -s \"$T%s?app_key=$K\" -H \"$J\" -d '%s'` |\n", c.Path, c.Title, c.Path, c.Body)
		if !strings.Contains(string(readme), line) {
			t.Errorf("README.md lacks\n%s", line)
		}
	}
}
