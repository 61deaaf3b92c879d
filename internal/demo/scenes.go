package demo

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// stage plays scenes against a server and prints what became of them.
type stage struct {
	ctx  context.Context
	url  string
	keys Keys
	show func(format string, args ...any)

	receiver *Receiver
	began    time.Time // of the demo
	pause    func(context.Context, time.Duration) bool
}

// play shows once what happens when a severity rises, when an alert joins an acknowledged incident, in a storm, and to an
// event for which no rule names a person. What it prints are sentences of the server's own explanation, so they are true.
func (s *stage) play() {
	for _, scene := range []func(){s.rise, s.join, s.storm, s.untold} {
		if s.wait(2 * time.Second) {
			scene()
		}
	}
}

// wait waits, and reports whether the demo goes on.
func (s *stage) wait(d time.Duration) bool { return s.pause(s.ctx, d) }

// wait waits by the clock of the machine, and reports whether ctx still goes on.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// The alerts of the scenes.
var (
	disk = happening{
		key: "scene-disk", title: "The ledger database runs out of space", labels: labels("service", "ledger-db", "check", "disk_space"),
	}
	prices = happening{
		key: "scene-prices", title: "Prices are missing on the home page", labels: labels("service", "shop-web", "page", "/"),
	}
	pods    = []happening{scenePod(1), scenePod(2)}
	flooded = sceneStorm(40)
)

func scenePod(n int) happening {
	pod := fmt.Sprint("basket-canary-", n)
	return happening{key: "scene-" + pod, title: "Basket canary restarts", labels: labels("service", "basket", "pod", pod)}
}

// sceneStorm returns alerts that no channel groups: each opens an incident of its own.
func sceneStorm(n int) (all []happening) {
	for i := range n {
		service := fmt.Sprintf("shard%02d-db", i+1)
		all = append(all, happening{
			key: "scene-" + service, title: "Database shard does not answer", labels: labels("service", service, "check", "ping"),
		})
	}
	return all
}

// rise shows how a Warning becomes Critical.
func (s *stage) rise() {
	s.push(disk.as("Warning"))
	if !s.wait(2 * time.Second) {
		return
	}
	event := s.push(disk.as("Critical"))
	s.explain("rise", disk.title+", first a Warning, then Critical", event,
		"The severity of the incident was changed", "Message about the severity to ")
}

// join shows what becomes of an alert whose incident a person works on already.
func (s *stage) join() {
	first := s.push(pods[0].as("Critical"))
	id := ""
	s.poll(first, func(e *explanation) bool {
		if len(e.Incidents) > 0 {
			id = e.Incidents[0].ID
		}
		return id != ""
	})
	if id == "" {
		return
	}
	post(s.ctx, s.url+"/incident/ack?app_key="+s.keys.All, map[string]any{"incident_ids": []string{id}}, nil)
	event := s.push(pods[1].as("Critical"))
	s.explain("join", pods[1].title+", in an incident that is acknowledged", event, "Alerts join the incident")
}

// storm shows how many incidents share a message.
func (s *stage) storm() {
	events := s.push(asAll(flooded, "Critical")...)
	if len(events) == 0 {
		return
	}
	s.explain("storm", fmt.Sprintf("%s, %d times at once", flooded[0].title, len(flooded)), events[len(events)-1:], " in a bundle of ")
}

// untold shows what becomes of an event whose channel has no escalation rule.
func (s *stage) untold() {
	event := s.push(prices.as("Critical"))
	s.explain("untold", prices.title+", in a channel without a rule", event, "So no rule notified a person", "was notified instead")
	list := Call{Path: "/incident/untold/list", Body: `{}`}
	s.show("           what reached no person by a rule:\n           %s\n", list.Curl(s.url, s.keys.ReadOnly))
}

// clear ends the alerts of the scenes.
func (s *stage) clear() {
	s.push(asAll(append(append([]happening{disk, prices}, pods...), flooded...), "Ok")...)
}

// as returns the happening with a status.
func (h happening) as(status string) happening {
	h.status = status
	return h
}

func asAll(list []happening, status string) (all []happening) {
	for _, h := range list {
		all = append(all, h.as(status))
	}
	return all
}

// push sends events in one call and returns their ids; none when the call fails.
func (s *stage) push(list ...happening) (events []string) {
	var body []map[string]any
	for _, h := range list {
		body = append(body, map[string]any{"title_rule": h.title, "event_status": h.status, "alert_key": h.key, "labels": h.labels})
	}
	var reply struct {
		Events []struct {
			EventID string `json:"event_id"`
		} `json:"events"`
	}
	post(s.ctx, s.url+"/event/push/alert/standard?integration_key="+s.keys.Push, body, &reply)
	for _, e := range reply.Events {
		events = append(events, e.EventID)
	}
	return events
}

// explanation is what a scene reads of the reply of /alert/explain.
type explanation struct {
	Words     []string
	Verdicts  []struct{ Outcome string }
	Incidents []struct {
		ID string `json:"incident_id"`
	}
}

// explain prints a scene when the explanation of its event has a sentence with each of some texts: those sentences, and
// the call that explains all.
func (s *stage) explain(name, about string, events []string, texts ...string) {
	var sentences []string
	s.poll(events, func(e *explanation) bool {
		sentences = nil
		for _, text := range texts {
			for _, word := range e.Words {
				if _, sentence, found := strings.Cut(word, "): "); found && strings.Contains(sentence, text) {
					sentences = append(sentences, sentence)
					break
				}
			}
		}
		return len(sentences) == len(texts)
	})
	if len(sentences) < len(texts) {
		return
	}
	call := Call{Path: "/alert/explain", Body: fmt.Sprintf(`{"event_id": "%s"}`, events[0])}
	const indent = "\n           "
	s.show("%-9s  %s"+indent+"%s"+indent+"%s\n", name, about, strings.Join(sentences, indent), call.Curl(s.url, s.keys.ReadOnly))
}

// poll reads the explanation of an event until done reports that it is complete, for half a minute at most or so.
func (s *stage) poll(events []string, done func(*explanation) bool) {
	if len(events) == 0 {
		return
	}
	for range 300 {
		var e explanation
		post(s.ctx, s.url+"/alert/explain?app_key="+s.keys.ReadOnly, map[string]any{"event_id": events[0]}, &e)
		if done(&e) || !s.wait(100*time.Millisecond) {
			return
		}
	}
}
