package schedule

import (
	"slices"
	"strconv"

	"tocsin/internal/console/page"
	schedules "tocsin/internal/schedule"
)

// draftNotices are the messages about shifts, as the form holds them.
type draftNotices struct {
	Advance string   // minutes before a handoff; empty: none
	Daily   string   // time of day; empty: never
	Methods []string // none: those that each person prefers
	Sent    bool     // the form has their inputs
}

// readNotices returns the notices that were entered.
func readNotices(v *page.Visit) draftNotices {
	return draftNotices{v.Field("advance"), v.Field("daily"), v.Request.PostForm["notice_method"], v.Request.PostForm.Has("daily")}
}

// noticesOf returns stored notices as the form shows them.
func noticesOf(n *schedules.Notify) (d draftNotices) {
	if n == nil {
		return d
	}
	if n.AdvanceInTime != nil {
		d.Advance = strconv.FormatFloat(float64(*n.AdvanceInTime)/60, 'f', -1, 64)
	}
	if n.FixedTime != nil {
		d.Daily = n.FixedTime.Start
	}
	if by := n.By; by != nil && !by.FollowPreference {
		d.Methods = page.ValueOf(by.PersonalChannels)
	}
	return d
}

// Has reports whether a method is chosen.
func (d draftNotices) Has(method string) bool { return slices.Contains(d.Methods, method) }

// Offered returns the methods to choose from: the usual ones and those that are chosen already.
func (d draftNotices) Offered() []string {
	all := []string{"voice", "sms", "push", "email"}
	for _, method := range d.Methods {
		if !slices.Contains(all, method) {
			all = append(all, method)
		}
	}
	return all
}

// same reports whether two forms hold the same notices.
func (d draftNotices) same(o draftNotices) bool {
	return d.Advance == o.Advance && d.Daily == o.Daily && slices.Equal(d.Methods, o.Methods)
}

// addNotices adds the notices of a draft to the body of schedule id, 0 for a new one. Its chats stay as they are; notices that were not
// changed are absent.
func (d draft) addNotices(v *page.Visit, id int64, body *schedules.Body) error {
	if !d.Notices.Sent {
		return nil
	}
	n := schedules.Notify{}
	if id != 0 {
		s, err := storedSchedule(v, id)
		if err != nil {
			return err
		}
		n = page.ValueOf(s.Notify)
	}
	if d.Notices.same(noticesOf(&n)) {
		return nil
	}
	n.AdvanceInTime, n.FixedTime = nil, nil
	if d.Notices.Advance != "" {
		minutes, err := strconv.ParseFloat(d.Notices.Advance, 64)
		if err != nil || !(0 <= minutes && minutes <= 525600) {
			return page.Wrong(v.T("%s is not a number of minutes.", page.Cut(d.Notices.Advance, 30)))
		}
		n.AdvanceInTime = new(int64(minutes * 60))
	}
	if d.Notices.Daily != "" {
		n.FixedTime = &schedules.FixedTime{Cycle: "day", Start: d.Notices.Daily}
	}
	n.By = &schedules.NotifyBy{FollowPreference: true}
	if len(d.Notices.Methods) > 0 {
		n.By = &schedules.NotifyBy{PersonalChannels: &d.Notices.Methods}
	}
	body.Notify = &n
	return nil
}
