package console

import (
	"net/http"
	"slices"
	"strconv"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/triage"
)

// testerView is the page on which an alert is tried on all rules of a channel. The server answers what it would do.
type testerView struct {
	titled
	Channel channel.Shown
	Pasted  string
	AlertID string
	Recent  []alertRow
	Trial   *trial // nil: nothing was tried
	People  map[int64]profile
}

// trial is what became of the alert.
type trial struct {
	triage.Trial
	Rules      []triedRule
	Escalation *escalation.Preview
}

// Opens reports whether an incident would begin, so that people are notified.
func (t trial) Opens() bool { return t.Outcome == decide.Opened }

type triedRule struct{ triage.TriedRule }

// Kind returns the kind of the rule as addresses have it.
func (r triedRule) Kind() string { return r.Stage + "s" }

// sampleAlert is what the field to paste holds at first, so that the page can be tried at once.
const sampleAlert = `{
  "title": "Disk full on db-1",
  "event_status": "Critical",
  "labels": {"service": "db", "check": "disk"}
}`

// showTester shows the form, and what came of the alert that it was sent with.
func showTester(v *visit) (view, error) {
	c, err := v.channel()
	if err != nil {
		return nil, err
	}
	d := testerView{titled: titled(v.T("Try an alert on this channel")), Channel: c, Pasted: sampleAlert, AlertID: v.query("alert")}
	if v.r.Method == http.MethodPost {
		d.Pasted, d.AlertID = v.r.PostFormValue("pasted"), v.field("alert")
	}
	d.Recent, err = v.recentAlerts(nil)
	if err != nil {
		return nil, err
	}
	d.Trial, _ = v.made.(*trial)
	if d.Trial == nil && v.Failure == nil && d.AlertID != "" {
		d.Trial, err = v.tryRules(c.ChannelID, d.AlertID, "")
		if err != nil {
			return nil, err
		}
	}
	if d.Trial == nil || d.Trial.Escalation == nil {
		return d, nil
	}
	d.People, err = v.namesOf(d.Trial.Escalation)
	return d, err
}

// tryAlert tries the alert of the form.
func tryAlert(v *visit) (string, error) {
	t, err := v.tryRules(v.number(), v.field("alert"), v.field("pasted"))
	v.made = t
	return "", err
}

// tryRules asks what a channel would do with a stored alert, or else with a pasted one.
func (v *visit) tryRules(channel int64, id, pasted string) (*trial, error) {
	request := triage.TryRequest{ChannelID: channel, AlertID: id}
	if id == "" {
		var err error
		request.Alert, err = v.pasted(pasted)
		if err != nil {
			return nil, err
		}
	}
	reply, err := call[triage.Trial](v, "/channel/rules/try", request)
	t := &trial{Trial: reply}
	for _, r := range reply.Rules {
		t.Rules = append(t.Rules, triedRule{r})
	}
	if reply.Escalation != nil {
		t.Escalation = new(*reply.Escalation) // whose steps are bounded
	}
	return t, err
}

// recentAlerts returns the latest alerts of the last 7 days, those of some channels; nil: of all.
func (v *visit) recentAlerts(channels []int64) ([]alertRow, error) {
	now := v.Now.Unix()
	request := alert.ListRequest{StartTime: now - 7*86400, EndTime: now + 1, ChannelIDs: channels}
	request.Limit = 30
	reply, err := call[api.CursorPage[alert.Alert]](v, "/alert/list", request)
	return alertRows(reply.Items), err
}

// namesOf returns the persons whom a preview names, with at most maxLadder of its steps.
func (v *visit) namesOf(p *escalation.Preview) (map[int64]profile, error) {
	p.Steps = p.Steps[:min(len(p.Steps), maxLadder)]
	var ids []int64
	for _, s := range p.Steps {
		for _, one := range s.Persons {
			ids = append(ids, one.PersonID)
		}
	}
	return v.people(slices.Compact(slices.Sorted(slices.Values(ids))))
}

// TesterPath returns the address of the page.
func (d testerView) TesterPath() string {
	return "/channels/" + strconv.FormatInt(d.Channel.ChannelID, 10) + "/test"
}
