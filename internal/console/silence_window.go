package console

import (
	"strings"
	"time"

	"tocsin/internal/channel"
)

// addWindows adds when a silence is in force.
func (v *visit) addWindows(silence *channel.SilenceBody, f ruleForm) error {
	if f.Recurs {
		silence.TimeFilters = []channel.TimeFilter{}
		for _, w := range f.Windows {
			r := channel.TimeFilter{Start: w.Start, End: w.End, Repeat: []int{}}
			if w.CalID != "" {
				r.CalID, r.IsOff = &w.CalID, &w.Off
			}
			for day, on := range w.Days {
				if on && w.CalID == "" {
					r.Repeat = append(r.Repeat, day)
				}
			}
			silence.TimeFilters = append(silence.TimeFilters, r)
		}
		return nil
	}
	from, err := v.fromInput(f.From)
	if err != nil {
		return err
	}
	until, err := v.fromInput(f.Until)
	if err != nil {
		return err
	}
	silence.TimeFilter, silence.IsAutoDelete = &channel.OnceTimeFilter{StartTime: from, EndTime: until}, &f.AutoDelete
	return nil
}

// inputTime is how inputs of type datetime-local write a time.
const inputTime = "2006-01-02T15:04"

// localInput returns a moment in the visitor's zone as an input of local time holds it.
func (v *visit) localInput(at int64) string { return time.Unix(at, 0).In(v.Zone).Format(inputTime) }

// fromInput is the reverse of localInput.
func (v *visit) fromInput(text string) (int64, error) {
	at, err := time.ParseInLocation(inputTime, text, v.Zone)
	if err != nil {
		return 0, wrong(v.T("%s is not a date and time such as %s.", cut(text, 30), v.localInput(v.Now.Unix())))
	}
	return at.Unix(), nil
}

// WeekdayNames returns the days of the week by their numbers.
func (v *visit) WeekdayNames() []string {
	return []string{v.T("Sun"), v.T("Mon"), v.T("Tue"), v.T("Wed"), v.T("Thu"), v.T("Fri"), v.T("Sat")}
}

// WhenOf returns in words when a silence is in force, by the account's clock.
func (v *visit) WhenOf(w channel.TimeFilter) string {
	when := v.T("%s to %s (%s)", w.Start, w.End, v.AccountZone())
	switch {
	case valueOf(w.CalID) != "" && valueOf(w.IsOff):
		return v.T("%s on the days off of a calendar", when)
	case valueOf(w.CalID) != "":
		return v.T("%s on the working days of a calendar", when)
	case len(w.Repeat) == 0 || len(w.Repeat) == 7:
		return v.T("%s every day", when)
	}
	var days []string
	for _, day := range w.Repeat {
		if day >= 0 && day < 7 {
			days = append(days, v.WeekdayNames()[day])
		}
	}
	return v.T("%s on %s", when, strings.Join(days, ", "))
}
