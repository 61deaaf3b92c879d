package accountfile_test

import (
	"strings"
	"testing"
)

// TestDeletedRulesOfFileAreLoaded: a file may hold rules that were deleted, as docs/account-file.md describes.
func TestDeletedRulesOfFileAreLoaded(t *testing.T) {
	t.Parallel()
	h := newInstallation(t)
	document := byHand(t)
	for _, rule := range []string{`"status": "disabled", "rule_id": "67d2a1f0f77b1b51f40e8002"`, `"status": "enabled", "rule_id": "67d2a1f0f77b1b51f40e9001"`} {
		_, id, _ := strings.Cut(rule, ", ")
		deleted := strings.Replace(document, rule, `"status": "deleted", "deleted_at": 1773380100, `+id, 1)
		if deleted == document {
			t.Fatalf("the file has no %s", rule)
		}
		document = deleted
	}
	f := read(t, document)
	if err := h.load(f, false); err != nil {
		t.Fatal(err)
	}
	exported := h.export(t, f.Account.AccountID, true)
	if n := strings.Count(exported, `"deleted_at": 1773380100`); n != 2 {
		t.Errorf("%d deleted rules are exported, want 2", n)
	}
	if err := h.load(read(t, exported), true); err != nil {
		t.Errorf("the exported file: %v", err)
	}
}
