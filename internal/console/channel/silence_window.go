package channel

import (
	"fmt"
	"strings"

	"tocsin/internal/channel"
	"tocsin/internal/console/page"
)

// windowForm is a recurring window as a form holds it.
type windowForm struct {
	Start, End, CalID string
	Off               bool
	Days              [7]bool
}

// windowsOf returns windows as a form holds them.
func windowsOf(stored []channel.TimeFilter) (all []windowForm) {
	for _, w := range stored {
		form := windowForm{Start: w.Start, End: w.End, CalID: page.ValueOf(w.CalID), Off: page.ValueOf(w.IsOff)}
		for _, day := range w.Repeat {
			if day >= 0 && day < 7 {
				form.Days[day] = true
			}
		}
		all = append(all, form)
	}
	return all
}

// readWindows returns the windows that were entered, with what a button adds or removes.
func readWindows(v *page.Visit) (all []windowForm) {
	for i := range 100 {
		at := fmt.Sprintf("window.%d.", i)
		if !v.Request.PostForm.Has(at + "start") {
			break
		}
		if v.Field("do") == fmt.Sprintf("remove-window:%d", i) {
			continue
		}
		w := windowForm{Start: v.Field(at + "start"), End: v.Field(at + "end"), CalID: v.Field(at + "calendar"), Off: v.Field(at+"off") != ""}
		for _, day := range v.Numbers(at + "day") {
			if day >= 0 && day < 7 {
				w.Days[day] = true
			}
		}
		all = append(all, w)
	}
	if v.Field("do") == "add-window" {
		all = append(all, windowForm{Start: "22:00", End: "06:00"})
	}
	return all
}

// timeFilters returns windows as the API takes them.
func timeFilters(windows []windowForm) []channel.TimeFilter {
	all := []channel.TimeFilter{}
	for _, w := range windows {
		r := channel.TimeFilter{Start: w.Start, End: w.End, Repeat: []int{}}
		if w.CalID != "" {
			r.CalID, r.IsOff = &w.CalID, &w.Off
		}
		for day, on := range w.Days {
			if on && w.CalID == "" {
				r.Repeat = append(r.Repeat, day)
			}
		}
		all = append(all, r)
	}
	return all
}

// addWindows adds when a silence is in force.
func addWindows(v *page.Visit, silence *channel.SilenceBody, f ruleForm) error {
	if f.Recurs {
		silence.TimeFilters = timeFilters(f.Windows)
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
	at, err := page.ParseLocal(text, v.Zone)
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
