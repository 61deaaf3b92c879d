package deploy

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"tocsin/internal/cli"
)

// hidden are the settings that `tocsin serve --help` does not list.
var hidden = map[string]bool{"TOCSIN_SEAL_KEY": true}

// help returns what `tocsin serve --help` prints.
func help(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	if code := cli.Run([]string{"serve", "--help"}, &out, &out); code != cli.Done {
		t.Fatal(code, out.String())
	}
	return out.String()
}

// A setting that deploy/ or its documentation names is one that the program has.
func TestSettingsExist(t *testing.T) {
	text, found := help(t), 0
	for _, path := range append(files(t, "deploy"), "docs/deploy.md", "docs/runbook.md") {
		for _, name := range regexp.MustCompile(`\bTOCSIN_[A-Z_]+`).FindAllString(read(t, path), -1) {
			found++
			if !strings.Contains(text, "$"+name+")") && !hidden[name] {
				t.Errorf("%s names %s, which `tocsin serve --help` does not list", path, name)
			}
		}
	}
	if found < 20 {
		t.Errorf("found only %d settings", found)
	}
}

// The program takes the example with every line that is commented out: it goes on until it opens the database.
func TestExampleIsTaken(t *testing.T) {
	setting := regexp.MustCompile(`(?m)^#?(TOCSIN_[A-Z_]+)=(.*)$`)
	lines := setting.FindAllStringSubmatch(read(t, "deploy/tocsin.env.example"), -1)
	if len(lines) < 15 {
		t.Fatal(lines)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("k1 "+strings.Repeat("A", 43)+"=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		name, value := line[1], line[2]
		switch {
		case strings.HasPrefix(name, "TOCSIN_TLS_"): // a certificate must be a real one
			continue
		case strings.HasSuffix(name, "_FILE"):
			value = secret // it has the form of sealing keys, which any password may have
		case name == "TOCSIN_DB":
			value = "sqlite:" + secret + "/tocsin.db" // below a file, which cannot be
		}
		t.Setenv(name, value)
	}
	var out bytes.Buffer
	if code := cli.Run([]string{"serve"}, io.Discard, &out); code != cli.Failed || !strings.Contains(out.String(), "open sqlite:") {
		t.Error(code, out.String())
	}
	t.Setenv("TOCSIN_TWILIO_ACCOUNT", "AC1")
	if code := cli.Run([]string{"serve"}, io.Discard, io.Discard); code != cli.Misuse {
		t.Error("a wrong value is taken:", code)
	}
}

// The settings of the chart are flags.
func TestChartsSettingsAreFlags(t *testing.T) {
	var values struct {
		Settings map[string]any `yaml:"settings"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy/helm/tocsin/values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	if len(values.Settings) == 0 {
		t.Error("no settings")
	}
	for name := range values.Settings {
		if !strings.Contains(help(t), "--"+name) {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

// Every YAML file can be read, those of the chart's templates excepted.
func TestYML(t *testing.T) {
	for _, path := range files(t, "deploy") {
		if ext := filepath.Ext(path); (ext != ".yaml" && ext != ".yml") || strings.Contains(path, "/templates/") {
			continue
		}
		var v map[string]any
		if err := yaml.Unmarshal([]byte(read(t, path)), &v); err != nil || len(v) == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
}
