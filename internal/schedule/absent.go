package schedule

import (
	"slices"

	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/fault"
)

// whenAbsent has the names of the choices in the API, by their values.
var whenAbsent = []string{oncall.AbsentNext: "next", oncall.AbsentGap: "gap"}

// parseWhenAbsent returns the choice of a name, or fault.Invalid.
func parseWhenAbsent(field, name string) (int64, error) {
	i := slices.Index(whenAbsent, name)
	if i < 0 {
		return 0, fault.Invalid(field, "must be next or gap, got %.60q", name)
	}
	return int64(i), nil
}
