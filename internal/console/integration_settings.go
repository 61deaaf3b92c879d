package console

import "slices"

// sourceSettings returns the settings of a source with what the form has; nil: the form has none. The others stay.
func (v *visit) sourceSettings(id int64, kind string) (settings map[string]any, err error) {
	words := severitiesOf(v.field("severities"))
	mapped := slices.Contains(freeWords, kind) && v.r.PostForm.Has("severities")
	mib := min(formNumber(v, "mib"), 1<<40) // the operation refuses more
	counted := integrationRow{Type: kind}.Counted() && v.field("mib") != ""
	if id == 0 {
		settings = map[string]any{}
		if len(words) > 0 { // a type without free words is refused with the reason
			settings["severity_map"] = words
		}
		if counted && mib != defaultMiB {
			settings["max_bytes_per_day"] = mib << 20
		}
		if len(settings) == 0 {
			return nil, nil
		}
		return settings, nil
	}
	if !mapped && !counted {
		return nil, nil
	}
	settings, err = v.settingsWith(func(before map[string]string) map[string]string {
		if mapped {
			return words
		}
		return before
	})
	if counted && err == nil {
		settings["max_bytes_per_day"] = mib << 20
	}
	return settings, err
}
