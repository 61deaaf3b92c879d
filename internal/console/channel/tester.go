package channel

import (
	"net/http"
	"strconv"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	"tocsin/internal/core/decide"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/triage"
)

// testerView is the page on which an alert is tried on all rules of a channel. The server answers what it would do.
type testerView struct {
	page.Titled
	Channel channel.Shown
	Pasted  string
	AlertID string
	Recent  []page.AlertRow
	Trial   *trial // nil: nothing was tried
	People  map[int64]page.Person
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
func showTester(v *page.Visit) (page.View, error) {
	c, err := storedChannel(v)
	if err != nil {
		return nil, err
	}
	d := testerView{Titled: page.Titled(v.T("Try an alert on this channel")), Channel: c, Pasted: sampleAlert, AlertID: v.Query("alert")}
	if v.Request.Method == http.MethodPost {
		d.Pasted, d.AlertID = v.Request.PostFormValue("pasted"), v.Field("alert")
	}
	d.Recent, err = recentAlerts(v, nil)
	if err != nil {
		return nil, err
	}
	d.Trial, _ = v.Made.(*trial)
	if d.Trial == nil && v.Failure == nil && d.AlertID != "" {
		d.Trial, err = tryRules(v, c.ChannelID, d.AlertID, "")
		if err != nil {
			return nil, err
		}
	}
	if d.Trial == nil || d.Trial.Escalation == nil {
		return d, nil
	}
	d.People, err = v.NamesOf(d.Trial.Escalation)
	return d, err
}

// tryAlert tries the alert of the form.
func tryAlert(v *page.Visit) (string, error) {
	t, err := tryRules(v, v.ID(), v.Field("alert"), v.Field("pasted"))
	v.Made = t
	return "", err
}

// tryRules asks what a channel would do with a stored alert, or else with a pasted one.
func tryRules(v *page.Visit, channel int64, id, pasted string) (*trial, error) {
	request := triage.TryRequest{ChannelID: channel, AlertID: id}
	if id == "" {
		var err error
		request.Alert, err = readPasted(v, pasted)
		if err != nil {
			return nil, err
		}
	}
	reply, err := page.Call[triage.Trial](v, "/channel/rules/try", request)
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
func recentAlerts(v *page.Visit, channels []int64) ([]page.AlertRow, error) {
	now := v.Now.Unix()
	request := alert.ListRequest{StartTime: now - 7*86400, EndTime: now + 1, ChannelIDs: channels}
	request.Limit = 30
	reply, err := page.Call[api.CursorPage[alert.Alert]](v, "/alert/list", request)
	return page.AlertRows(reply.Items), err
}

// TesterPath returns the address of the page.
func (d testerView) TesterPath() string {
	return "/channels/" + strconv.FormatInt(d.Channel.ChannelID, 10) + "/test"
}
