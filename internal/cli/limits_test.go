package cli

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"tocsin/internal/engine/ingest"
)

// The defaults of the flags are the constants of the code, and the documents state them.
func TestDocumentedPushLimitsAreTrueOnes(t *testing.T) {
	t.Parallel()
	flags := reflect.TypeFor[serving]()
	for name, want := range map[string]int{
		"PushPerSecond": ingest.MaxPerSecond, "PushPerMinute": ingest.MaxPerMinute, "PushAlerts": ingest.MaxAlerts, "PushBytes": ingest.MaxBytes,
	} {
		if f, found := flags.FieldByName(name); !found || f.Tag.Get("default") != fmt.Sprint(want) {
			t.Errorf("%s: the default is %q, want %d", name, f.Tag.Get("default"), want)
		}
	}
	commas := func(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
	rate := fmt.Sprintf("%s a second and %s a minute", commas(ingest.MaxPerSecond), commas(ingest.MaxPerMinute))
	size := fmt.Sprintf("%d MiB", ingest.MaxBytes>>20)
	for file, sentences := range map[string][]string{
		"sources.md":   {"| requests of one integration | " + rate, "| alerts in a request | " + commas(ingest.MaxAlerts) + " (", "| body | " + size + " ("},
		"operating.md": {"Requests with events: " + rate, "push up to " + size + " at once", "Of a body of events " + size + " are read", commas(ingest.MaxAlerts) + "\n  alerts taken", "client_max_body_size 64m;   # Tocsin takes " + size},
		"api.md":       {"where events are pushed, over " + size},
	} {
		text, err := os.ReadFile("../../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, sentence := range sentences {
			if !strings.Contains(string(text), sentence) {
				t.Errorf("docs/%s does not state %q", file, sentence)
			}
		}
		for _, old := range []string{" 4 MiB", "1,000 alerts", "max_alerts: 1000", "100 a second"} {
			if strings.Contains(string(text), old) {
				t.Errorf("docs/%s states %q", file, old)
			}
		}
	}
}
