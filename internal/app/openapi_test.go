package app_test

import (
	"testing"

	"tocsin/internal/api/apitest"
)

func TestTheDocumentKeepsTheRules(t *testing.T) {
	t.Parallel()
	a, _, _, _ := start(t)
	apitest.CheckOpenAPI(t, a.Frame)
}
