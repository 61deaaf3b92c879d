package app_test

import (
	"testing"

	"tocsin/internal/api/apitest"
)

func TestDocumentKeepsRules(t *testing.T) {
	t.Parallel()
	a, _, _, _ := start(t)
	apitest.CheckOpenAPI(t, a.Frame)
}
