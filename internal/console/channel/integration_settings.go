package channel

import (
	"cmp"
	"slices"

	"tocsin/internal/console/page"
	integrations "tocsin/internal/integration"
)

// sourceSettings returns the settings of a source with what the form has; nil: the form has none. The others stay.
func sourceSettings(v *page.Visit, id int64, kind string) (*integrations.Settings, error) {
	words := severitiesOf(v)
	mapped := slices.Contains(freeWords, kind) && v.Request.PostForm.Has(severityWords+".rows")
	mib := min(v.Number("mib"), 1<<40) // the operation refuses more
	most := cmp.Or(mib<<20, 1)         // it refuses less than a MiB, and 0 is none
	counted := integrationOf(kind).Counted() && v.Field("mib") != ""
	if id == 0 {
		settings := &integrations.Settings{}
		if len(words) > 0 { // a type without free words is refused with the reason
			settings.SeverityMap = words
		}
		if counted && mib != defaultMiB {
			settings.MaxBytesPerDay = most
		}
		if settings.SeverityMap == nil && settings.MaxBytesPerDay == 0 {
			return nil, nil
		}
		return settings, nil
	}
	if !mapped && !counted {
		return nil, nil
	}
	settings, err := settingsWith(v, func(before map[string]string) map[string]string {
		if mapped {
			return words
		}
		return before
	})
	if counted && err == nil {
		settings.MaxBytesPerDay = most
	}
	return settings, err
}
