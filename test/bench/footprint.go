package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// built is the stripped binary to measure.
func built(dir string) (string, error) {
	if *using != "" {
		return filepath.Abs(*using)
	}
	binary := filepath.Join(dir, "tocsin")
	return binary, build(".", binary)
}

// build builds the stripped binary of a source tree.
func build(tree, binary string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/tocsin")
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// footprint reports sizes, start-up times and resident memory, and leaves a filled database behind.
func footprint(binary, dir string) (key string, err error) {
	info, err := os.Stat(binary)
	if err != nil {
		return "", err
	}
	fmt.Printf("| footprint | figure |\n|---|---|\n| stripped binary | %.1f MB |\n", float64(info.Size())/1e6)
	d, err := start(binary, "demo", "--listen", "127.0.0.1:0", "--dir", filepath.Join(dir, "demo"))
	if err != nil {
		return "", err
	}
	fmt.Printf("| `demo` until it listens | %s |\n", d.took.Round(time.Millisecond))
	key = d.key
	if err := d.stop(); err != nil {
		return "", err
	}
	starts := []time.Duration{}
	for range *rounds {
		s, err := start(binary, "serve", "--listen", "127.0.0.1:0", "--db", "sqlite:"+filepath.Join(dir, "demo", "tocsin.db"))
		if err != nil {
			return "", err
		}
		starts = append(starts, s.took)
		if len(starts) == *rounds {
			time.Sleep(2 * time.Second) // idle
			fmt.Printf("| `serve` on that database until it listens | %s |\n| resident, idle after start | %.1f MB |\n", median(starts).Round(time.Millisecond), s.resident())
		}
		if err := s.stop(); err != nil {
			return "", err
		}
	}
	fmt.Println()
	return key, nil
}
