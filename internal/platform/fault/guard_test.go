package fault_test

import (
	"errors"
	"strings"
	"testing"

	"tocsin/internal/platform/fault"
)

func TestGuardReturnsPanicAsErrorWithItsPlace(t *testing.T) {
	t.Parallel()
	own := errors.New("own")
	for want, fn := range map[error]func() error{nil: func() error { return nil }, own: func() error { return own }} {
		if got := fault.Guard(fn); !errors.Is(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	err := fault.Guard(func() error { panic("corrupt") })
	if err == nil || fault.KindOf(err) != fault.Internal || !strings.HasPrefix(err.Error(), "panic: corrupt\n") ||
		!strings.Contains(err.Error(), "guard_test.go:") {
		t.Errorf("a panic is %v", err)
	}
}
