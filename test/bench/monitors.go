package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ruleCount is how many rules the figures are about, on ruleHosts series.
const (
	ruleCount = 10_000
	ruleHosts = 1000
)

// ruleBed is what the figures of alert rules are measured on.
type ruleBed struct{ binary, dir, address string } // address: of a datasource that answers as Prometheus does

// monitors measures the evaluation of alert rules against a local Prometheus, or a stand-in where that is missing.
func monitors(binary, dir string) error {
	address, stop, err := localPrometheus(dir)
	if err != nil {
		return err
	}
	defer stop()
	fmt.Printf("| alert rules | goal | here |\n|---|---|---|\n")
	b := ruleBed{binary, dir, address}
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"flat", b.evaluatedFlatOut}, {"schedule", b.evaluatedOnSchedule}, {"member", b.newMember}, {"peers", b.peersOnSchedule},
		{"cron", b.evaluatedTogether}, {"begin", b.begunTogether}, {"quiet", b.quietRules}, {"change", b.changedRules},
		{"edges", b.edgesFail}, {"pages", b.pagedBesideRules}, {"footprint", b.withoutRules},
	} {
		if *rowsOnly != "" && !slices.Contains(strings.Split(*rowsOnly, ","), part.name) {
			continue
		}
		if err := part.run(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	fmt.Println()
	return nil
}

// localPrometheus starts a Prometheus with ruleHosts series, and returns its address.
func localPrometheus(dir string) (address string, stop func(), err error) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for n := range ruleHosts {
			fmt.Fprintf(w, "load{host=\"h%d\"} %d\n", n, n%90)
		}
	}))
	if _, err := exec.LookPath("prometheus"); err != nil {
		fmt.Println("prometheus is not installed: a stand-in answers each query with one series")
		stand := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
		}))
		return stand.URL, func() { stand.Close(); target.Close() }, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	host := listener.Addr().String()
	_ = listener.Close() // its port is free now
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 5s}\nscrape_configs: [{job_name: load, static_configs: [{targets: [%q]}]}]\n",
		strings.TrimPrefix(target.URL, "http://"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return "", nil, err
	}
	cmd := exec.Command("prometheus", "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "prometheus"), "--web.listen-address="+host)
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); target.Close() }
	for range 120 {
		reply, err := http.PostForm("http://"+host+"/api/v1/query", url.Values{"query": {"count(load)"}})
		if err == nil {
			text, _ := io.ReadAll(reply.Body)
			reply.Body.Close()
			if strings.Contains(string(text), fmt.Sprintf(`"%d"`, ruleHosts)) {
				return "http://" + host, stop, nil
			}
		}
		time.Sleep(250 * time.Millisecond)
	}
	stop()
	return "", nil, errors.New("prometheus did not start")
}

func ruleQuery(n int) string {
	return fmt.Sprintf(`load{host="h%d"} > %d`, n%ruleHosts, 90+n/ruleHosts)
}
