package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"
)

// drillCmd sends a marked event through all stages of a running server and times every hop.
type drillCmd struct {
	Server         string            `help:"Address of the server." default:"http://127.0.0.1:8080" placeholder:"URL"`
	AppKey         string            `required:"" help:"App key that may read alerts." placeholder:"KEY"`
	IntegrationKey string            `help:"Key of the integration to send to: its channel's escalation rules decide who is notified." placeholder:"KEY"`
	Channel        int64             `help:"The channel that must take the event. Without --integration-key the event is sent to a standard integration of the channel; the app key must then be allowed to manage integrations." placeholder:"ID"`
	Label          map[string]string `help:"Label of the event, such as service=checkout, which routes and rules match; repeat it for more." mapsep:"none" placeholder:"NAME=VALUE"`
	Severity       string            `help:"Critical, Warning or Info." enum:"Critical,Warning,Info" default:"Critical"`
	Timeout        time.Duration     `help:"Longest wait for all notifications." default:"1m"`
	Keep           bool              `help:"Leave the incident open."`
}

// drillStory holds the members of the reply of /alert/explain that the drill reads.
type drillStory struct {
	Waiting  bool
	Words    []string
	Verdicts []struct {
		DecidedAt  int64  `json:"decided_at"`
		ChannelID  int64  `json:"channel_id"`
		Outcome    string `json:"outcome"`
		IncidentID string `json:"incident_id"`
	}
	Incidents []struct {
		IncidentID string `json:"incident_id"`
		Notices    []struct {
			PersonName string `json:"person_name"`
			Method     string `json:"way"`
			Reason     string `json:"reason"`
			Status     string `json:"status"`
			CreatedAt  int64  `json:"created_at"`
			SettledAt  int64  `json:"settled_at"`
			Outcome    string `json:"outcome"`
		} `json:"notices"`
	} `json:"incidents"`
}

// Run returns an error if a hop fails: nothing was decided, no incident was opened, or a notification over one of the
// methods was not sent.
func (cmd *drillCmd) Run(con *console) error {
	base := strings.TrimRight(cmd.Server, "/")
	if err := cmd.ready(base); err != nil {
		return err
	}
	labels := map[string]string{"tocsin_drill": "true"}
	maps.Copy(labels, cmd.Label)
	alert := map[string]any{
		"title_rule":   "Drill: nothing is wrong",
		"description":  "A test that notifications arrive.",
		"event_status": cmd.Severity,
		"alert_key":    fmt.Sprintf("tocsin-drill-%d", time.Now().UnixNano()),
		"labels":       labels,
	}
	began := time.Now()
	event, err := cmd.push(base, alert)
	if err != nil {
		return fmt.Errorf("the event was not accepted: %w", err)
	}
	taken := time.Since(began)
	story, err := cmd.wait(base, event, began)
	report := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(report, "hop\tafter\t\n")
	fmt.Fprintf(report, "event committed\t%s\t%s\n", rounded(taken), event)
	sent, all := story.print(report, began.Truncate(time.Millisecond))
	err = errors.Join(err, report.Flush())
	if !cmd.Keep {
		alert["event_status"] = "Ok"
		if _, ended := cmd.push(base, alert); ended != nil {
			err = errors.Join(err, fmt.Errorf("the drill could not be ended: %w", ended))
		}
	}
	if err == nil {
		err = cmd.problem(&story, sent, all)
	}
	if err == nil {
		fmt.Fprintf(con.out, "%d sent, all hops work\n", sent)
	}
	return err
}

// push sends an alert and returns the id of its event.
func (cmd *drillCmd) push(base string, alert map[string]any) (string, error) {
	var taken struct {
		Events []struct {
			EventID string `json:"event_id"`
		} `json:"events"`
	}
	err := cmd.post(base+"/event/push/alert/standard?integration_key="+cmd.IntegrationKey, alert, &taken)
	if err != nil || len(taken.Events) == 0 {
		return "", err
	}
	return taken.Events[0].EventID, nil
}

// print writes a line for each hop after the commit, with the time since began. It returns how many notifications were
// sent, of all that were not cancelled because the incident was acknowledged.
func (s *drillStory) print(w io.Writer, began time.Time) (sent, all int) {
	since := func(ms int64) string { return rounded(time.UnixMilli(ms).Sub(began)) }
	for _, v := range s.Verdicts {
		fmt.Fprintf(w, "decided: %s\t%s\t%s\n", v.Outcome, since(v.DecidedAt), v.IncidentID)
	}
	for _, i := range s.Incidents {
		for _, n := range i.Notices {
			settled := "-"
			if n.SettledAt > 0 {
				settled = since(n.SettledAt)
			}
			fmt.Fprintf(w, "notification\t%s\t%s, %s\n", since(n.CreatedAt), cmp.Or(n.PersonName, "a chat or address"), n.Reason)
			fmt.Fprintf(w, "%s over %s\t%s\t%s\n", n.Status, n.Method, settled, n.Outcome)
			if n.Status != "cancelled" {
				all++
			}
			if n.Status == "sent" {
				sent++
			}
		}
	}
	return sent, all
}

// problem returns which hop did not happen, with the words of the explanation.
func (cmd *drillCmd) problem(story *drillStory, sent, all int) error {
	var what string
	switch {
	case cmd.Channel != 0 && len(story.Verdicts) > 0 && story.Verdicts[0].ChannelID != cmd.Channel:
		what = fmt.Sprintf("the event went to channel %d, not %d", story.Verdicts[0].ChannelID, cmd.Channel)
	case len(story.Incidents) == 0:
		what = "no incident was opened"
	case sent == 0:
		what = "no one was notified"
	case sent < all:
		what = fmt.Sprintf("not all notifications were sent, %d of %d", sent, all)
	default:
		return nil
	}
	return fmt.Errorf("%s:\n  %s", what, strings.Join(story.Words, "\n  "))
}

// ready refuses a server that is held, and finds the key of an integration of the channel if none is given.
func (cmd *drillCmd) ready(base string) error {
	if answer, err := (&http.Client{Timeout: 30 * time.Second}).Get(base + "/health"); err == nil {
		answer.Body.Close()
		if why := answer.Header.Get("Tocsin-Held"); why != "" {
			return fmt.Errorf("%s is held: %s", cmd.Server, why)
		}
	}
	if cmd.IntegrationKey != "" {
		return nil
	}
	if cmd.Channel == 0 {
		return misuseError{errors.New("give --integration-key or --channel")}
	}
	request := map[string]any{"limit": 100}
	for more := true; more; {
		var list struct {
			Next  string `json:"search_after_ctx"`
			Items []struct {
				ChannelID      int64  `json:"channel_id"`
				Type           string `json:"integration_type"`
				Status         string `json:"status"`
				IntegrationKey string `json:"integration_key"`
			}
		}
		if err := cmd.post(base+"/integration/list?app_key="+cmd.AppKey, request, &list); err != nil {
			return err
		}
		for _, i := range list.Items {
			if i.ChannelID == cmd.Channel && i.Type == "standard" && i.Status == "enabled" && i.IntegrationKey != "" {
				cmd.IntegrationKey = i.IntegrationKey
				return nil
			}
		}
		request["search_after_ctx"], more = list.Next, list.Next != ""
	}
	return fmt.Errorf("channel %d has no enabled integration of type standard whose key this app key may read: give --integration-key",
		cmd.Channel)
}

func rounded(d time.Duration) string { return d.Round(time.Millisecond).String() }

// wait polls the explanation of the event until all its notifications are settled.
func (cmd *drillCmd) wait(base, event string, began time.Time) (story drillStory, err error) {
	for {
		story = drillStory{}
		err = cmd.post(base+"/alert/explain?app_key="+cmd.AppKey, map[string]any{"event_id": event}, &story)
		if err != nil {
			return story, err
		}
		open, notifications := 0, 0
		for _, i := range story.Incidents {
			for _, n := range i.Notices {
				notifications++
				if n.SettledAt == 0 {
					open++
				}
			}
		}
		if len(story.Verdicts) > 0 && (len(story.Incidents) == 0 || notifications > 0 && open == 0) {
			return story, nil
		}
		if time.Since(began) > cmd.Timeout {
			return story, nil // the caller reports which parts are missing
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (cmd *drillCmd) post(url string, body any, into any) error {
	_, err := post(url, body, into)
	return err
}
