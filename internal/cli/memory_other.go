//go:build !linux

package cli

// dataLimit returns 0: there is no limit of data.
func dataLimit() int64 { return 0 }
