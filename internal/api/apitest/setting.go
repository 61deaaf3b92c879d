package apitest

import (
	"os"
	"strconv"
	"testing"
)

// Setting returns the number in an environment variable, or the usual one. Tests of random cases make few of them in the
// usual run; make soak sets more.
func Setting(t testing.TB, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
