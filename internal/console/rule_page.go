package console

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/sentence"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/monitor"
)

// watchRuleView is the page of an alert rule.
type watchRuleView struct {
	titled
	Rule    alertrule.Rule
	Words   []string // what it checks
	Tags    []stateTag
	State   monitor.RuleState
	Watch   *monitor.WatchState // on the datasource that is shown; nil: it has none
	Sources []countedLink       // the datasources that can be shown
	Strip   strip
	Graph   graphLink
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
	People  map[int64]profile
}

// The bounds of the page of a rule.
const (
	mostShownSources   = 50
	mostShownInstances = 100
	mostLadders        = 3
	mostShownChanges   = 10
)

// unsigned returns the number that a text is; 0: it is none.
func unsigned(text string) uint64 {
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}

// ruleID returns the rule of the address.
func (v *visit) ruleID() uint64 { return unsigned(v.r.PathValue("id")) }

func showWatchRule(v *visit) (view, error) {
	d := &watchRuleView{May: v.who.MayAny(manageRules)}
	var err error
	d.Rule, err = call[alertrule.Rule](v, "/monit/rule/info", alertrule.InfoRequest{ID: v.ruleID()})
	if err != nil {
		return nil, err
	}
	d.titled = titled(d.Rule.Name)
	d.State, err = call[monitor.RuleState](v, "/monit/rule/state", monitor.OneRule{ID: v.ruleID()})
	if err != nil {
		return nil, err
	}
	d.watch(v)
	names, err := v.datasourceNames()
	if err != nil {
		return nil, err
	}
	d.Words = v.ruleWords(&d.Rule, v.reads(d.Rule.Sources, names))
	for _, part := range []struct {
		name string
		read func(*visit) error
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
func (d *watchRuleView) watch(v *visit) {
	basic := alertrule.Basic{Enabled: d.Rule.On(), RuntimeState: d.State.RuntimeState}
	for _, i := range d.State.Instances {
		if i.State == "pending" {
			basic.PendingCount++
		} else {
			basic.Triggered = true
			basic.ActiveAlertCount++
		}
	}
	d.Tags = v.watchRuleRow(basic).Tags
	chosen, all := unsigned(v.query("ds")), d.State.Watches
	at := slices.IndexFunc(all, func(w monitor.WatchState) bool { return w.DSID == chosen })
	if at < 0 {
		at = max(0, slices.IndexFunc(all, func(w monitor.WatchState) bool { return w.State == "unknown" }))
	}
	for i, w := range all[:min(len(all), mostShownSources)] {
		id := strconv.FormatUint(w.DSID, 10)
		d.Sources = append(d.Sources, countedLink{Text: w.DSName, Path: v.with("ds", id), Here: i == at})
	}
	d.State.Instances = d.State.Instances[:min(len(d.State.Instances), mostShownInstances)]
	if len(all) == 0 {
		return
	}
	d.Watch = &all[at]
	d.Strip = v.strip(d.Watch.Recent)
	d.Graph = v.graphLink(d.Rule.ID, d.Watch.DSID)
}

func (d *watchRuleView) readHistory(v *visit) error {
	request := monitor.HistoryRequest{ID: d.Rule.ID}
	request.Limit = pageSize
	reply, err := call[api.CursorPage[monitor.Transition]](v, "/monit/rule/history", request)
	d.History = reply.Items
	return err
}

func (d *watchRuleView) readChanges(v *visit) error {
	changes, err := call[[]alertrule.Change](v, "/monit/rule/audits", alertrule.AuditsRequest{ID: d.Rule.ID})
	d.Changes = changes[:min(len(changes), mostShownChanges)]
	return err
}

// readLadders reads who would be notified of an alert that began now, in each channel of the rule.
func (d *watchRuleView) readLadders(v *visit) error {
	names, err := v.channelNames()
	if err != nil {
		return err
	}
	for _, id := range d.Rule.ChannelIDs[:min(len(d.Rule.ChannelIDs), mostLadders)] {
		l := ruleLadder{ID: id, Name: names[id]}
		request := escalation.PreviewRequest{ChannelID: id, IncidentSeverity: d.Severity(), Labels: d.Rule.Labels}
		l.Preview, l.People, err = v.preview(request)
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
func (d *watchRuleView) readCurls(v *visit) error {
	if d.Watch == nil || !v.who.May(auth.DatasourcesRead) {
		return nil
	}
	s, err := call[datasource.Item](v, "/monit/datasource/info", datasource.InfoRequest{ID: d.Watch.DSID})
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

// strip returns the last evaluations, the oldest first.
func (v *visit) strip(recent []monitor.Evaluation) (s strip) {
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

// Value returns a value in a few digits; a dash: there is none.
func (v *visit) Value(n *float64) string {
	if n == nil {
		return "–"
	}
	return digits(*n)
}

// SentenceOf returns a sentence of the engine in the visitor's language.
func (v *visit) SentenceOf(s sentence.Data) string {
	if v.Lang == "en" {
		return s.English()
	}
	return v.translated(&s)
}

// Hue returns which colour the line of a label set has.
func (v *visit) Hue(labels map[string]string) int { return hue(evaluate.Key(labels)) }
