package schedule

// The count of gaps, for its tests.
var (
	CountGaps = countGaps
	GapsOf    = gapsOf
)
