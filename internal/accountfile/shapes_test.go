package accountfile_test

import (
	"strings"
	"testing"

	"tocsin/internal/accountfile"
)

// A filter that a file has in one shape is exported in it, and the same file again changes nothing.
func TestFiltersOfFileKeepTheirShape(t *testing.T) {
	const one = `{"key":"labels.a","oper":"IN","vals":["1"]}`
	for _, shape := range []struct{ filter, fields string }{
		{`[` + one + `]`, `["a","b"]`},
		{`[[` + one + `],[` + one + `]]`, `[["a"],["b"]]`},
		{`[]`, `[]`},
	} {
		file := strings.NewReplacer(
			`"channel_name": "Payments"`, `"channel_name": "Payments", "group": {"method": "p", "cases": [{"if": `+shape.filter+`, "equals": `+shape.fields+`}]}`,
			`"silence_rules":`, `"inhibit_rules": [{"channel_id": 1001, "rule_id": "69db2f72a0fe7db6448b1506", "rule_name": "x", "equals": [],
				"source_filters": `+shape.filter+`, "target_filters": `+shape.filter+`}],
				"integrations": [{"integration_id": 7, "integration_name": "x", "integration_type": "standard"}],
				"alert_pipelines": [{"integration_id": 7, "rules": [{"kind": "alert_inhibit", "if": `+shape.filter+`,
					"settings": {"equals": [], "source_filters": `+shape.filter+`}}]}], "silence_rules":`).Replace(byHand(t))
		h := newInstallation(t)
		h.apply(t, read(t, file), accountfile.Options{})
		if plan, p := h.apply(t, read(t, file), accountfile.Options{Prune: true}); !p.Empty() {
			t.Errorf("%s: %q", shape.filter, plan)
		}
		exported := h.export(t, bluewhale, true)
		compact := strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(exported)
		if n := strings.Count(compact, `"if":`+shape.filter) + strings.Count(compact, `_filters":`+shape.filter); n < 5 {
			t.Errorf("%s is in the export %d times: %s", shape.filter, n, exported)
		}
		if !strings.Contains(compact, `"equals":`+shape.fields) {
			t.Errorf("the export lacks %s", shape.fields)
		}
		if plan, p := h.apply(t, read(t, exported), accountfile.Options{Prune: true}); !p.Empty() {
			t.Errorf("the export of %s: %q", shape.filter, plan)
		}
	}
}
