package monitor

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/monitor"
)

// watchRuleView is the page of an alert rule.
type watchRuleView struct {
	page.Titled
	Rule    alertrule.Rule
	Words   []string // what it checks
	Tags    []stateTag
	State   monitor.RuleState
	Watch   *monitor.WatchState // on the datasource that is shown; nil: it has none
	Sources []page.CountedLink  // the datasources that can be shown
	Strip   strip
	Graph   page.GraphLink
	History []monitor.Transition
	Changes []alertrule.Change
	Ladders []ruleLadder
	Curls   []string
	May     bool
	Missing []string
}

// ruleLadder is who is notified of a rule's alerts in one channel.
type ruleLadder struct {
	ID      int64
	Name    string
	Preview *escalation.Preview
	People  map[int64]page.Person
}

// The bounds of the page of a rule.
const (
	mostShownSources   = 50
	mostShownInstances = 100
	mostLadders        = 3
	mostShownChanges   = 10
)

// ruleID returns the rule of the address.
func ruleID(v *page.Visit) uint64 { return page.Unsigned(v.Request.PathValue("id")) }

func showWatchRule(v *page.Visit) (page.View, error) {
	d := &watchRuleView{May: v.Who.MayAny(manageRules)}
	var err error
	d.Rule, err = page.Call[alertrule.Rule](v, "/monit/rule/info", alertrule.InfoRequest{ID: ruleID(v)})
	if err != nil {
		return nil, err
	}
	d.Titled = page.Titled(d.Rule.Name)
	d.State, err = page.Call[monitor.RuleState](v, "/monit/rule/state", monitor.OneRule{ID: ruleID(v)})
	if err != nil {
		return nil, err
	}
	d.watch(v)
	names, err := datasourceNames(v)
	if err != nil {
		return nil, err
	}
	d.Words = ruleWords(v, &d.Rule, reads(v, d.Rule.Sources, names))
	for _, part := range []struct {
		name string
		read func(*page.Visit) error
	}{
		{v.T("History"), d.readHistory}, {v.T("Changes"), d.readChanges}, {v.T("Who is notified now"), d.readLadders},
		{v.T("The query as a command"), d.readCurls},
	} {
		if err := part.read(v); err != nil {
			if api.RefusalOf(err) == nil {
				return nil, err
			}
			d.Missing = append(d.Missing, part.name)
		}
	}
	return *d, nil
}

// watch fills in what is known on the datasource that the address names, else on the first that is not known, else on the first.
func (d *watchRuleView) watch(v *page.Visit) {
	basic := alertrule.Basic{Enabled: d.Rule.On(), RuntimeState: d.State.RuntimeState}
	for _, i := range d.State.Instances {
		if i.State == "pending" {
			basic.PendingCount++
		} else {
			basic.Triggered = true
			basic.ActiveAlertCount++
		}
	}
	d.Tags = watchRuleRowOf(v, basic).Tags
	chosen, all := page.Unsigned(v.Query("ds")), d.State.Watches
	at := slices.IndexFunc(all, func(w monitor.WatchState) bool { return w.DSID == chosen })
	if at < 0 {
		at = max(0, slices.IndexFunc(all, func(w monitor.WatchState) bool { return w.State == "unknown" }))
	}
	for i, w := range all[:min(len(all), mostShownSources)] {
		id := strconv.FormatUint(w.DSID, 10)
		d.Sources = append(d.Sources, page.CountedLink{Text: w.DSName, Path: v.With("ds", id), Here: i == at})
	}
	d.State.Instances = d.State.Instances[:min(len(d.State.Instances), mostShownInstances)]
	if len(all) == 0 {
		return
	}
	d.Watch = &all[at]
	d.Strip = stripOf(v, d.Watch.Recent)
	d.Graph = v.GraphLink(d.Rule.ID, d.Watch.DSID)
}

func (d *watchRuleView) readHistory(v *page.Visit) error {
	request := monitor.HistoryRequest{ID: d.Rule.ID}
	request.Limit = page.PageSize
	reply, err := page.Call[api.CursorPage[monitor.Transition]](v, "/monit/rule/history", request)
	d.History = reply.Items
	return err
}

func (d *watchRuleView) readChanges(v *page.Visit) error {
	changes, err := page.Call[[]alertrule.Change](v, "/monit/rule/audits", alertrule.AuditsRequest{ID: d.Rule.ID})
	d.Changes = changes[:min(len(changes), mostShownChanges)]
	return err
}

// readLadders reads who would be notified of an alert that began now, in each channel of the rule.
func (d *watchRuleView) readLadders(v *page.Visit) error {
	names, err := v.ChannelNames()
	if err != nil {
		return err
	}
	for _, id := range d.Rule.ChannelIDs[:min(len(d.Rule.ChannelIDs), mostLadders)] {
		l := ruleLadder{ID: id, Name: names[id]}
		request := escalation.PreviewRequest{ChannelID: id, IncidentSeverity: d.Severity(), Labels: d.Rule.Labels}
		l.Preview, l.People, err = v.Preview(request)
		if err != nil {
			return err
		}
		d.Ladders = append(d.Ladders, l)
	}
	return nil
}

// Severity returns the worst severity that the rule's alerts have.
func (d *watchRuleView) Severity() string {
	c, found := d.Rule.RuleConfigs, []string{}
	if t := c.CheckThreshold; t != nil && t.Enabled {
		for severity, condition := range map[string]string{"Critical": t.Critical, "Warning": t.Warning, "Info": t.Info} {
			if condition != "" {
				found = append(found, severity)
			}
		}
	}
	if a := c.CheckAnydata; a != nil && a.Enabled {
		found = append(found, a.Severity)
	}
	if n := c.CheckNodata; n != nil && n.Enabled {
		found = append(found, n.Severity)
	}
	for _, severity := range []string{"Critical", "Warning"} {
		if slices.Contains(found, severity) {
			return severity
		}
	}
	return "Info"
}

// readCurls reads where the datasource is, for those who may read that.
func (d *watchRuleView) readCurls(v *page.Visit) error {
	if d.Watch == nil || !v.Who.May(auth.DatasourcesRead) {
		return nil
	}
	s, err := page.Call[datasource.Item](v, "/monit/datasource/info", datasource.InfoRequest{ID: d.Watch.DSID})
	for _, q := range d.Rule.RuleConfigs.Queries {
		if text := curlOf(s, q.Expr); text != "" {
			d.Curls = append(d.Curls, text)
		}
	}
	return err
}

// withoutUser returns an address without the user and the password in it.
func withoutUser(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User = nil
	u.RawQuery = ""
	u.Fragment = ""
	return strings.TrimSuffix(u.String(), "/")
}

// strip is the last evaluations of a rule on a datasource.
type strip struct {
	Cells []stripCell
	Sum   string
}

type stripCell struct {
	Class string // u: not known, l: late; empty: known
	Text  string // of the outcome
	Took  string
	At    int64 // Unix seconds
	Rows  int64
}

// stripOf returns the last evaluations, the oldest first.
func stripOf(v *page.Visit, recent []monitor.Evaluation) (s strip) {
	var unknown, late int
	for _, e := range recent {
		c := stripCell{Text: v.T("Known"), At: e.At / 1000, Rows: e.Rows, Took: fmt.Sprintf("%d ms", e.TookMS)}
		switch {
		case e.Outcome != "known":
			unknown++
			c.Class, c.Text = "u", v.T("Not known")
		case e.Missed > 0:
			late++
			c.Class, c.Text = "l", v.T("Late: %d left out", e.Missed)
		}
		s.Cells = append(s.Cells, c)
	}
	s.Sum = v.T("The last %d evaluations: %d not known, %d late.", len(recent), unknown, late)
	return s
}

// Newest returns the cells, the newest first.
func (s strip) Newest() []stripCell {
	cells := slices.Clone(s.Cells)
	slices.Reverse(cells)
	return cells
}

// figure returns a value in a few digits; a dash: there is none.
func figure(v *page.Visit, n *float64) string {
	if n == nil {
		return "–"
	}
	return picture.Digits(*n)
}

// hueOf returns which colour the line of a label set has.
func hueOf(v *page.Visit, labels map[string]string) int { return picture.Hue(evaluate.Key(labels)) }
