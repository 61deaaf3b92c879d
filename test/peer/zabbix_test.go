package peer

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"tocsin/internal/sender/mailtest"
)

// mediaType is what the test needs of deploy/zabbix/tocsin.yaml.
type mediaType struct {
	Parameters []struct{ Name, Value string }
	Script     string
}

func readMediaType(t *testing.T) mediaType {
	t.Helper()
	text, err := os.ReadFile("../../deploy/zabbix/tocsin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Export struct {
			Types []mediaType `yaml:"media_types"`
		} `yaml:"zabbix_export"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Export.Types[0]
}

// send runs the script of the media type in Zabbix's own engine, with the macros that Zabbix fills in, and returns what the
// engine printed. Macros without a value stay as they are, as in Zabbix.
func (m mediaType) send(t *testing.T, macros map[string]string) string {
	t.Helper()
	parameters := map[string]string{}
	for _, p := range m.Parameters {
		parameters[p.Name] = p.Value
		if value, filled := macros[p.Value]; filled {
			parameters[p.Name] = value
		}
	}
	input, err := json.Marshal(parameters)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "script.js", m.Script)
	write(t, dir, "input.json", string(input))
	printed, _ := exec.Command("zabbix_js", "-s", filepath.Join(dir, "script.js"), "-i", filepath.Join(dir, "input.json"), "-t", "30").CombinedOutput()
	return string(printed)
}

// A problem of Zabbix is a page, and its recovery ends it. What is configured wrong is an error that names the cure, without
// the key.
func TestZabbixPagesAndResolves(t *testing.T) {
	if _, err := exec.LookPath("zabbix_js"); err != nil {
		t.Skip("zabbix_js is not installed: apt-get install zabbix-proxy-sqlite3")
	}
	mailbox := mailtest.New(t, mailtest.Options{})
	const key = "00112233445566778899aabbccddeeff131"
	macros := map[string]string{
		"https://tocsin.example.com": serve(t, mailbox) + "/", "{ALERT.SENDTO}": key, "{EVENT.ID}": "77", "{EVENT.NAME}": `Disk "full" on db-1`, "{EVENT.NSEVERITY}": "4",
		"{EVENT.SEVERITY}": "High", "{EVENT.VALUE}": "1", "{HOST.NAME}": "db-1", "{EVENT.TAGSJSON}": `[{"tag":"service","value":"shop"}]`, "{ALERT.MESSAGE}": "97 %",
	}
	m := readMediaType(t)
	if printed := m.send(t, macros); strings.TrimSpace(printed) != "OK" {
		t.Fatal(printed)
	}
	if page := mail(t, mailbox, 0); !strings.Contains(page.Data, `Subject: [Critical] db-1::Disk "full" on db-1`) || !strings.Contains(page.Data, "97 %") {
		t.Errorf("the page is %s", page.Data)
	}
	macros["{EVENT.VALUE}"] = "0"
	if printed := m.send(t, macros); strings.TrimSpace(printed) != "OK" {
		t.Fatal(printed)
	}
	if over := mail(t, mailbox, 1); !strings.Contains(over.Data, "Subject: [Resolved] db-1::Disk") {
		t.Errorf("the end is %s", over.Data)
	}
	for macro, c := range map[string]struct{ value, says string }{
		"{ALERT.SENDTO}":             {strings.Repeat("9", 35), "Tocsin: 400: The specified parameter integration_key is not valid"},
		"{EVENT.NAME}":               {"{EVENT.NAME}", "Tocsin: 400: The specified parameter event_name is not valid: is required"},
		"https://tocsin.example.com": {"tocsin.example.com", "tocsin_url must be the address of Tocsin"},
	} {
		before := macros[macro]
		macros[macro] = c.value
		if printed := m.send(t, macros); !strings.Contains(printed, c.says) || strings.Contains(printed, macros["{ALERT.SENDTO}"]) {
			t.Errorf("%s: %s, want %s", macro, printed, c.says)
		}
		macros[macro] = before
	}
}
