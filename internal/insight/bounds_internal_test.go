package insight

import "testing"

// MayRead sets how many rows one call may read, for one test.
func MayRead(t *testing.T, rows int) {
	before := maxRows
	maxRows = rows
	t.Cleanup(func() { maxRows = before })
}
