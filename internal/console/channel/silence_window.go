package channel

import (
	"strings"
	"time"

	"tocsin/internal/channel"
	"tocsin/internal/console/page"
)

// addWindows adds when a silence is in force.
func addWindows(v *page.Visit, silence *channel.SilenceBody, f ruleForm) error {
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
	from, err := fromInput(v, f.From)
	if err != nil {
		return err
	}
	until, err := fromInput(v, f.Until)
	if err != nil {
		return err
	}
	silence.TimeFilter, silence.IsAutoDelete = &channel.OnceTimeFilter{StartTime: from, EndTime: until}, &f.AutoDelete
	return nil
}

// fromInput is the reverse of local.
func fromInput(v *page.Visit, text string) (int64, error) {
	at, err := time.ParseInLocation(page.LocalTime, text, v.Zone)
	if err != nil {
		return 0, page.Wrong(v.T("%s is not a date and time such as %s.", page.Cut(text, 30), v.Local(v.Now)))
	}
	return at.Unix(), nil
}

// whenOf returns in words when a silence is in force, by the account's clock.
func whenOf(v *page.Visit, w channel.TimeFilter) string {
	when := v.T("%s to %s (%s)", w.Start, w.End, v.AccountZone())
	switch {
	case page.ValueOf(w.CalID) != "" && page.ValueOf(w.IsOff):
		return v.T("%s on the days off of a calendar", when)
	case page.ValueOf(w.CalID) != "":
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
