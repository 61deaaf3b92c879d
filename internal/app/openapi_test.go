package app_test

import (
	"testing"

	"tocsin/internal/api/apitest"
)

func TestTheDocumentKeepsTheRules(t *testing.T) {
	a, _, _, _ := start(t)
	apitest.CheckOpenAPI(t, a.Frame)
}
