package peer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tocsin/internal/sender/mailtest"
	"tocsin/test/pgserver"
)

// documented returns the server section of nginx in docs/operating.md, with the addresses of a test: without TLS, for
// which nginx would need a certificate, and with a log in the test's folder.
func documented(t *testing.T, listen int, tocsin, dir string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "```\n# nginx\n")
	section, _, closed := strings.Cut(section, "```")
	if !found || !closed {
		t.Fatal("docs/operating.md has no section for nginx")
	}
	for from, to := range map[string]string{
		"listen 443 ssl;":                fmt.Sprintf("listen 127.0.0.1:%d;", listen),
		"http://127.0.0.1:8080":          tocsin,
		"/var/log/nginx/tocsin.log":      filepath.Join(dir, "access.log"),
		"server_name tocsin.example.com": "server_name localhost",
	} {
		if !strings.Contains(section, from) {
			t.Fatalf("the section for nginx lacks %s", from)
		}
		section = strings.ReplaceAll(section, from, to)
	}
	return section
}

// Alertmanager without a limit of its own sends a group of 5,000 alerts in one request, through nginx as the
// documentation configures it, and all of them arrive.
func TestFiveThousandAlertsPassThroughNginx(t *testing.T) {
	nginx := "nginx"
	for _, program := range []string{"nginx", "prometheus-alertmanager"} {
		path, err := exec.LookPath(program)
		if _, sbin := os.Stat("/usr/sbin/" + program); err != nil && sbin == nil {
			path, err = "/usr/sbin/"+program, nil
		}
		if err != nil {
			t.Skipf("%s is not installed: apt-get install nginx-light prometheus-alertmanager", program)
		}
		if program == "nginx" {
			nginx = path
		}
	}
	const alerts = 5000
	tocsin := serve(t, mailtest.New(t, mailtest.Options{}))
	dir := t.TempDir()
	proxy := pgserver.PortOf(t)
	manager := pgserver.PortOf(t)
	user := ""
	if os.Getuid() == 0 { // else its workers could not write into the test's folder
		user = "user root;\n"
	}
	write(t, dir, "nginx.conf", fmt.Sprintf(user+"daemon off;\nmaster_process off;\npid %[1]s/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\n"+
		"client_body_temp_path %[1]s/body;\nproxy_temp_path %[1]s/proxy;\nfastcgi_temp_path %[1]s/fastcgi;\nuwsgi_temp_path %[1]s/uwsgi;\nscgi_temp_path %[1]s/scgi;\n%s}\n",
		dir, documented(t, proxy, tocsin, dir)))
	run(t, dir, nginx, "-p", dir, "-e", "stderr", "-c", filepath.Join(dir, "nginx.conf"))
	write(t, dir, "alertmanager.yml", fmt.Sprintf(`
route: {receiver: tocsin, group_by: [alertname], group_wait: 3s, group_interval: 1h, repeat_interval: 24h}
receivers:
- name: tocsin
  webhook_configs: [{url: "http://127.0.0.1:%d/event/push/alert/prometheus?integration_key=00112233445566778899aabbccddeeff131", send_resolved: true, max_alerts: 0}]
`, proxy))
	run(t, dir, "prometheus-alertmanager", "--config.file=alertmanager.yml", "--storage.path=am", fmt.Sprintf("--web.listen-address=127.0.0.1:%d", manager), "--cluster.listen-address=")

	type alert struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	}
	list := make([]alert, alerts)
	for i := range list {
		list[i] = alert{
			map[string]string{"alertname": "HostDown", "severity": "info", "host": fmt.Sprintf("host%04d.example.com", i)},
			map[string]string{"description": strings.Repeat("The host does not answer. ", 40)},
		}
	}
	body, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		reply, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/api/v2/alerts", manager), "application/json", bytes.NewReader(body))
		if err != nil {
			return false
		}
		reply.Body.Close()
		return reply.StatusCode == http.StatusOK
	}, "Alertmanager did not take the alerts")
	want := fmt.Sprintf(`tocsin_events_received_total{outcome="taken",source="prometheus"} %d`, alerts)
	until(t, func() bool { return strings.Contains(metrics(t, tocsin), want+"\n") }, "not all alerts arrived: "+want)
	if strings.Contains(metrics(t, tocsin), "tocsin_events_refused_total{") {
		t.Error("events were refused")
	}
	passed := func() int {
		log, _ := os.ReadFile(filepath.Join(dir, "access.log"))
		return strings.Count(string(log), "POST /event/push/alert/prometheus 200")
	}
	until(t, func() bool { return passed() > 0 }, "nginx logged no request")
	if n := passed(); n != 1 {
		t.Errorf("Alertmanager sent %d requests, want one", n)
	}
}

// until waits for a condition.
func until(t *testing.T, met func() bool, otherwise string) {
	t.Helper()
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if met() {
			return
		}
	}
	t.Fatal(otherwise)
}

// metrics returns the metrics of a server.
func metrics(t *testing.T, url string) string {
	t.Helper()
	reply, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
