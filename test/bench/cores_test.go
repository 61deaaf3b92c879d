package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestCoresHaveBenchmarks: every package of cores is there, with a benchmark.
func TestCoresHaveBenchmarks(t *testing.T) {
	for _, dir := range cores {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || bytes.Contains(text, []byte("\nfunc Benchmark"))
		}
		if !found {
			t.Errorf("%s has no benchmark", dir)
		}
	}
}
