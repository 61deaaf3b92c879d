package schedule

import (
	"tocsin/internal/api"
	"tocsin/internal/core/sentence"
)

// PreviewRequest asks who would be on call by a schedule that is not stored.
type PreviewRequest struct {
	ScheduleID int64 `json:"schedule_id,omitzero" doc:"Not used: a preview shows the body only, and nothing that is stored."`
	Start      int64 `json:"start" minimum:"1000000000" maximum:"9999999999" doc:"Start of the window, Unix seconds in ten digits."`
	End        int64 `json:"end" minimum:"1000000000" maximum:"9999999999" doc:"End of the window, Unix seconds in ten digits; after start, and at most 45 days after it, 400 with page_days."`
	Body
	Pages
}

func (r *Service) preview(c *api.Call, in PreviewRequest) (Schedule, error) {
	w, err := in.page(Window{&in.Start, &in.End})
	if err != nil {
		return Schedule{}, err
	}
	body, err := in.normalise("")
	if err != nil {
		return Schedule{}, err
	}
	var s stored
	body.applyTo(&s)
	if err := needCalendars(c.Tx, c.Who.AccountID, s.Layers, ""); err != nil {
		return Schedule{}, err
	}
	if err := s.readCalendars(c.Tx, c.Who.AccountID); err != nil {
		return Schedule{}, err
	}
	left := maxNamed
	view := Schedule{Start: &in.Start, End: &in.End, NextAfter: w.next(), TimeZone: s.TimeZone, WhenAbsent: whenAbsent[s.WhenAbsent],
		SelfService: !s.ManagedOnly}
	if err := s.showTimelines(&view, c, *w, &left); err != nil {
		return Schedule{}, err
	}
	view.LayerSchedules = nil
	view.CurOncall = nil
	view.NextOncall = nil // the public API leaves them out
	s.AccountID = c.Who.AccountID
	n, err := s.named(c.Tx)
	if err != nil {
		return Schedule{}, err
	}
	warnings, err := s.warnings(n, c.Who.Zone, c.Unix())
	view.Warnings = sentence.ToWords(warnings)
	return view, err
}
