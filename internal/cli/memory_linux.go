package cli

import (
	"math"
	"syscall"
)

// dataLimit returns the limit of the data of this process (RLIMIT_DATA), or 0 if there is none.
func dataLimit() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_DATA, &limit); err != nil || limit.Cur > math.MaxInt64 {
		return 0
	}
	return int64(limit.Cur)
}
