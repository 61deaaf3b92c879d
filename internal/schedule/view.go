package schedule

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
)

// show returns the view of a stored schedule without its layers and timelines.
func (r *Service) show(c *api.Call, s *stored) (Schedule, error) {
	notify, err := s.Notify.shown(r.Keyring.Show(c.Report), s.Stamps, c.Who.May(auth.SchedulesManage))
	return Schedule{
		Stamps: s.Stamps, ID: &s.ScheduleID,
		Name: &s.Name, ScheduleName: &s.Name, Description: &s.Description,
		GroupID: &s.TeamID, TeamID: &s.TeamID, Disabled: &s.Status, Status: &s.Status,
		Revision: s.Revision, TimeZone: s.TimeZone, WhenAbsent: whenAbsent[s.WhenAbsent],
		SelfService: !s.ManagedOnly, Notify: notify,
	}, err
}

// showAt returns the view of a stored schedule with its layers, its timelines in a window, and who is on call now.
func (r *Service) showAt(c *api.Call, s *stored, w window, left *budget) (Schedule, error) {
	view, err := r.show(c, s)
	if err != nil {
		return view, err
	}
	view.Overrides = s.showOverrides(w)
	return view, s.showTimelines(&view, c, w, left)
}

// showTimelines adds the layers, their timelines in a window, and who is on call now.
func (s *stored) showTimelines(view *Schedule, c *api.Call, w window, left *budget) error {
	e, err := s.engine(c.Who.Zone)
	if err != nil {
		return err
	}
	layers, final, err := s.timelines(e, w, left)
	if err != nil {
		return err
	}
	view.Layers = s.showLayers()
	view.ScheduleLayers = &layers
	view.LayerSchedules = &layers
	view.FinalSchedule = final
	current, next := e.At(c.Unix())
	view.CurOncall, view.NextOncall = s.oncall(current), s.oncall(next)
	return nil
}

// showLayers returns the configured layers with the stamps of the schedule.
func (s *stored) showLayers() *[]Layer {
	layers := make([]Layer, len(s.Layers))
	for i := range layers {
		layers[i] = Layer{s.Layers[i], s.Stamps}
	}
	return &layers
}
