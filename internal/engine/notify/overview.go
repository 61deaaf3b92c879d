package notify

import (
	"maps"
	"slices"
	"sync"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/render"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// overview is what the alerts of an incident have in common, and how they differ. Of an open incident only the alerts
// that are active count, if there are any. It is not changed once it is built.
type overview struct {
	first  []render.Alert    // the first ten of all alerts
	lead   *alert.Lead       // the alert that the incident is named after; nil: it has none
	labels map[string]string // of lead
	count  int64             // of the alerts that count
	shared map[string]string
	differ []render.Difference

	values map[string]render.LabelValues // values of all alerts
	active int64
	events int64
	end    int64 // end of the last alert that ended
}

const (
	alertPage = 200 // alerts that are read at a time: their labels may be long
	maxAlerts = 10
)

// describe fills in the part of about that the alerts determine.
func (o *overview) describe(about *render.Incident, i *incident.Incident) {
	labels := o.labels
	if i.CreatorID != 0 || slices.Contains(i.ManualOverrides, "title") || labels == nil {
		labels = i.Labels
	}
	about.Alerts, about.LabelValues = o.first, o.values
	about.ActiveAlertCnt, about.AlertEventCnt = o.active, o.events
	if o.active == 0 {
		about.EndTime = o.end
	}
	about.Headline, about.Description = i.Headline(o.lead)
	about.Where = render.Where(about.Headline, o.count, about.Partial, o.shared, o.differ)
	links, names := render.LinksOf(labels)
	about.Links, about.Shared = links, maps.Clone(o.shared)
	for _, name := range append(names, "summary") {
		if name != "summary" || about.Headline == render.OneLine(about.Shared["summary"]) {
			delete(about.Shared, name)
		}
	}
	maps.DeleteFunc(about.Shared, func(_, value string) bool { return value == "" || value == about.Description })
	for _, d := range o.differ {
		if !slices.Contains(names, d.Name) {
			about.Differ = append(about.Differ, d)
		}
	}
}

// overviewOf returns the overview of an incident. An alert that cannot be read must not keep the message from being sent:
// the overview is that of the incident's own labels then.
func (r *Service) overviewOf(tx *db.Tx, i *incident.Incident, now time.Time) *overview {
	key := viewKey{i.AccountID, i.IncidentID, i.AlertCnt, i.UpdatedAt, i.Progress == incident.Closed, now.Unix() / 60}
	if i.AlertCnt > alertPage {
		if o := r.views.get(key); o != nil {
			return o
		}
	}
	o, err := readOverview(tx, i)
	if err != nil {
		r.Log.Error("the alerts of an incident", "account_id", i.AccountID, "incident_id", i.IncidentID, "error", err)
		return &overview{shared: i.Labels, count: i.AlertCnt}
	}
	if i.AlertCnt > alertPage {
		r.views.put(key, o)
	}
	return o
}

// readOverview reads the alerts of an incident, a page at a time.
func readOverview(tx *db.Tx, i *incident.Incident) (*overview, error) {
	lead, err := i.Lead(tx)
	if err != nil {
		return nil, err
	}
	o := &overview{lead: lead}
	var all, active render.Comparison
	counted := int64(0)
	for counted < decide.MaxAlerts {
		page, err := alert.OfIncident(tx, i.AccountID, i.IncidentID, alertPage, counted)
		if err != nil {
			return nil, err
		}
		for n := range page {
			a := &page[n]
			if len(o.first) < maxAlerts {
				o.first = append(o.first, render.Alert{
					Title: a.Title, Description: a.Description, Severity: a.Severity, Status: a.Status,
					StartTime: a.Start, LastTime: a.Last, EndTime: a.End, Labels: a.Labels,
				})
			}
			o.events, o.end = o.events+a.Events, max(o.end, a.End)
			all.Add(a.Labels)
			if a.Active() && !a.AwaitsQuiet() {
				o.active++
				active.Add(a.Labels)
			}
		}
		counted += int64(len(page))
		if len(page) < alertPage {
			break
		}
	}
	o.values = all.Values()
	if lead == nil { // a person made it, or its alerts were deleted
		o.shared = i.Labels
		return o, nil
	}
	if i.Progress != incident.Closed && o.active > 0 {
		all, counted = active, o.active
	}
	o.labels, o.count = lead.Labels, counted
	o.shared, o.differ = all.Shared(), all.Differ()
	return o, nil
}

// viewKey identifies an overview. Labels may change without the incident, so it holds for a minute.
type viewKey struct {
	account        int64
	incident       string
	alerts, update int64
	closed         bool
	minute         int64
}

// overviews caches the overviews of large incidents: a storm sends many messages about the same alerts.
type overviews struct {
	sync.Mutex
	ready map[viewKey]*overview
}

// maxViews bounds the cache. An overview has at most 50 labels.
const maxViews = 100

func (v *overviews) get(key viewKey) *overview {
	v.Lock()
	defer v.Unlock()
	return v.ready[key]
}

func (v *overviews) put(key viewKey, o *overview) {
	v.Lock()
	defer v.Unlock()
	if v.ready == nil || len(v.ready) >= maxViews {
		v.ready = map[viewKey]*overview{}
	}
	v.ready[key] = o
}
