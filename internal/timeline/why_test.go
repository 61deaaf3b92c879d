package timeline

import "testing"

func (c testCase) whyHolds(t testing.TB, current *Piece) bool { return true }
