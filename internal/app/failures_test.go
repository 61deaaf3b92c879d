package app_test

import (
	"slices"
	"strings"
	"testing"

	"tocsin/internal/platform/fault"
)

// foundBefore are the operations whose example fails in an empty account before they look for its object, or has an object
// that an example before made.
var foundBefore = []string{
	"/schedule/shift/take", "/schedule/shift/hand-over", "/schedule/cover/request", "/incident/field/reset",
	"/monit/datasource/info", "/monit/datasource/update", "/monit/datasource/delete",
	"/monit/folder/update", "/monit/folder/delete", "/monit/rule/delete", "/monit/rule/audits", "/monit/rule/audit/detail",
}

// TestEveryOperationDeclaresItsFailures calls each operation in an account that has no object. Its answer is declared,
// and if a required identifier implies that an object may be missing, the answer is that it is.
func TestEveryOperationDeclaresItsFailures(t *testing.T) {
	t.Parallel()
	a, url, owner, _ := start(t)
	const missing = "ResourceNotFound"
	for _, op := range a.Frame.Ops() {
		if strings.HasSuffix(op.Path, "/export") { // a file
			continue
		}
		code := call(t, "POST", url+op.Path, owner, "application/json", op.Example)
		switch {
		case code != "" && !a.Frame.Declares(op.Path, code):
			t.Errorf("%s answers %s: declare it in Errors of the operation", op.Path, code)
		case code != missing && op.Errors[fault.NotFound] == "" && a.Frame.Declares(op.Path, missing) && !slices.Contains(foundBefore, op.Path):
			t.Errorf("%s declares %s and answers %q", op.Path, missing, code)
		}
	}
}
