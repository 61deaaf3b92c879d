package incident

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	incidents "tocsin/internal/incident"
)

var bulkActions = []page.Action{
	{Path: "/incidents", Do: actOnMany, Show: showIncidents, Template: "incidents", Needs: page.ManageIncidents},
}

// doneToMany is what the visitor did to several incidents a moment ago.
type doneToMany struct {
	Act string
	IDs []string
}

// Count returns how many incidents it was done to.
func (d doneToMany) Count() int { return len(d.IDs) }

// Value returns the incidents as a form sends them.
func (d doneToMany) Value() string { return strings.Join(d.IDs, ",") }

// maxMany bounds how many incidents one form acts on: operations take no more.
const maxMany = 100

// chosen returns the incidents that values of a form or an address name; each value may name several, joined by commas.
func chosen(values []string) (ids []string) {
	for _, value := range values {
		for id := range strings.SplitSeq(value, ",") {
			if id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// actOnMany does the action of the pressed button to the chosen incidents, and shows the list again.
func actOnMany(v *page.Visit) (string, error) {
	act := v.Field("act")
	do, known := map[string]func(*page.Visit, incidents.Some) error{"ack": acknowledge, "unack": unacknowledge, "resolve": resolve}[act]
	if !known {
		return "", v.NoSuchForm()
	}
	ids, err := stillOpen(v, chosen(v.Request.PostForm["incident"]))
	if err != nil {
		return "", err
	}
	if err := do(v, incidents.Some{IncidentIDs: ids}); err != nil {
		return "", err
	}
	return doneAddress(v, act, ids), nil
}

// stillOpen returns the chosen incidents without those that have been closed since the list was drawn: one of them would
// refuse the others as well.
func stillOpen(v *page.Visit, ids []string) (open []string, err error) {
	if len(ids) == 0 {
		return nil, page.Wrong(v.T("Choose incidents first."))
	}
	if len(ids) > maxMany {
		return nil, page.Wrong(v.T("Choose at most %d incidents at a time.", maxMany))
	}
	all, err := page.Call[api.Paged[incidents.View]](v, "/incident/list-by-ids", incidents.Some{IncidentIDs: ids})
	for _, i := range all.Items {
		if i.Progress != incidents.Closed {
			open = append(open, i.IncidentID)
		}
	}
	if err == nil && len(open) == 0 {
		err = page.Wrong(v.T("They are closed already."))
	}
	return open, err
}

// doneAddress returns the address of the list of the form, with what was done.
func doneAddress(v *page.Visit, act string, ids []string) string {
	values := v.Request.URL.Query()
	values.Set("done", act)
	values.Set("at", strconv.FormatInt(v.Now.Unix(), 10))
	values.Set("ids", strings.Join(ids, ","))
	return "/incidents?" + values.Encode()
}

// doneParts are the parameters of an address that name what was done.
var doneParts = []string{"done", "at", "ids"}

// readDone returns the action that the address names as done; nil: none, or too long ago.
func readDone(v *page.Visit) *doneToMany {
	if v.Query("done") == "" || !recently(v, page.Number(v.Query("at")), 5*time.Minute) {
		return nil
	}
	return &doneToMany{v.Query("done"), chosen([]string{v.Query("ids")})}
}

// SendTo returns the address that the forms of the list are sent to: that of the list, without what was done before.
func (f listFilter) SendTo() string {
	values := url.Values{}
	for name, list := range f.values {
		if !slices.Contains(doneParts, name) {
			values[name] = list
		}
	}
	if len(values) == 0 {
		return "/incidents"
	}
	return "/incidents?" + values.Encode()
}
