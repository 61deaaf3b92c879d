package pgserver

import "testing"

// PortOf reserves a port until a test ends.
func PortOf(t testing.TB) int {
	t.Helper()
	p, err := ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p.Number
}
