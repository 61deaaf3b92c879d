package calendar

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

type infoRequest struct {
	CalID string `json:"cal_id" minLength:"1" maxLength:"63" doc:"The calendar."`
}

func info(c *api.Call, in infoRequest) (Calendar, error) {
	return Kind.Get(c.Tx, c.Who.AccountID, in.CalID)
}

type listRequest struct {
	Kind     string `json:"kind,omitzero" enum:"personal,region.official.holiday" doc:"Absent: personal."`
	NoLocale bool   `json:"no_locale,omitzero" doc:"Makes no difference: there are no calendars that depend on a language."`
}

// listed is the reply of the lists that have no pages.
type listed[T any] struct {
	Items []T   `json:"items" doc:"All there are."`
	Total int64 `json:"total" doc:"How many."`
}

// most is how many calendars a list shows, and how many events a calendar is read with.
const most = 10_000

func list(c *api.Call, in listRequest) (listed[Calendar], error) {
	if in.Kind != "" && in.Kind != "personal" {
		return listed[Calendar]{Items: []Calendar{}}, nil
	}
	items, total, err := Kind.Page(c.Tx, c.Who.AccountID, configstore.Query{Ascending: true, Limit: most})
	return listed[Calendar]{items, total}, err
}
