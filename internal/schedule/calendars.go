package schedule

import (
	"fmt"
	"slices"

	"tocsin/internal/calendar"
	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// normaliseCalendars checks the lists of calendars; whether the calendars exist is checked by needCalendars.
func (l *LayerConfig) normaliseCalendars(path string) error {
	for _, list := range l.calendarLists() {
		if n := len(*list.ids); n > oncall.MaxCalendars {
			return fault.Invalid(path+"."+list.field, "must have at most %d calendars, got %d", oncall.MaxCalendars, n)
		}
		for i, id := range *list.ids {
			at := fmt.Sprintf("%s.%s[%d]", path, list.field, i)
			switch {
			case id == "":
				return fault.Invalid(at, "must name a calendar, got an empty text")
			case slices.Contains((*list.ids)[:i], id):
				return fault.Invalid(at, "names calendar %s a second time", id)
			}
			if err := text(at, id, maxCalID); err != nil {
				return err
			}
		}
		if len(*list.ids) == 0 {
			*list.ids = nil
		}
	}
	return nil
}

const maxCalID = 63 // characters

// calendarList is one of the two lists of calendars of a layer.
type calendarList struct {
	field string
	ids   *[]string
}

func (l *LayerConfig) calendarLists() []calendarList {
	return []calendarList{{"skip_cal_ids", &l.SkipCalIDs}, {"only_cal_ids", &l.OnlyCalIDs}}
}

// needCalendars returns fault.Invalid for the first calendar of a layer that the account does not have. prefix precedes
// the field's name.
func needCalendars(tx *db.Tx, account int64, layers []LayerConfig, prefix string) error {
	for i := range layers {
		for _, list := range layers[i].calendarLists() {
			for j, id := range *list.ids {
				at := fmt.Sprintf("%slayers[%d].%s[%d]", prefix, i, list.field, j)
				if err := configstore.Need(tx, account, at, configstore.RefTo(configstore.Calendar, id)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// calendarIDs lists the calendars of the layers, each once.
func (s *stored) calendarIDs() (ids []string) {
	for i := range s.Layers {
		ids = append(append(ids, s.Layers[i].SkipCalIDs...), s.Layers[i].OnlyCalIDs...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// calendars are those of a schedule's layers, by their identifiers. One that the account does not have is left out.
type calendars map[string]layerCalendar

// layerCalendar is a calendar as layers use it.
type layerCalendar struct {
	name  string
	dates *oncall.Calendar
}

// readCalendars reads the calendars of the layers, which engine needs.
func (s *stored) readCalendars(tx *db.Tx, account int64) error {
	ids := s.calendarIDs()
	s.calendars = calendars{}
	days, err := calendar.Load(tx, account, ids)
	if err != nil {
		return err
	}
	for id, d := range days {
		c, err := calendar.Kind.Get(tx, account, id)
		if err != nil {
			return err
		}
		dates, err := d.Dates()
		if err != nil {
			return err
		}
		s.calendars[id] = layerCalendar{c.CalName, dates}
	}
	return nil
}

// of returns calendars as the engine has them. One that does not exist is left out: it must not leave a layer without
// anyone on call.
func (c calendars) of(ids []string) (list []*oncall.Calendar) {
	for _, id := range ids {
		if found, ok := c[id]; ok {
			list = append(list, found.dates)
		}
	}
	return list
}
