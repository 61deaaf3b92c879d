package schedule

import "tocsin/internal/api"

// defaultWindow is how far a window reaches that was not asked for, in seconds from now.
const defaultWindow = 7 * 86400

// InfoRequest asks for a schedule with who is on call in a window.
type InfoRequest struct {
	ScheduleID int64 `json:"schedule_id" doc:"The schedule."`
	Window
	Pages
}

func (r *Service) info(c *api.Call, in InfoRequest) (Schedule, error) {
	w, err := in.page(in.Window)
	if err != nil {
		return Schedule{}, err
	}
	if w == nil {
		w = &window{from: c.Unix(), to: c.Unix() + defaultWindow}
	}
	s, err := get(c.Tx, c.Who.AccountID, in.ScheduleID)
	if err != nil {
		return Schedule{}, err
	}
	left := maxNamed
	view, err := r.showAt(c, s, *w, &left)
	view.NextAfter = w.next()
	return view, err
}
