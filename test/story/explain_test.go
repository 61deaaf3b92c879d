package story

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
)

// words returns the sentences of a reply, a line each.
func (w *world) words(r reply) string {
	w.t.Helper()
	var words []string
	w.must(json.Unmarshal([]byte(r.get("words")), &words))
	return strings.Join(words, "\n")
}

// inOrder wants texts in this order, each after the one before.
func inOrder(t *testing.T, all string, want ...string) {
	t.Helper()
	rest := all
	for _, text := range want {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Errorf("%q is not there, or not in this order, in\n%s", text, all)
			return
		}
		rest = after
	}
}

// incidentExplained returns the explanation of the newest incident.
func (w *world) incidentExplained(key string) reply {
	w.t.Helper()
	return w.as(key, "/incident/explain", `{"incident_id": %q}`, w.incident())
}

// daysThenCid is a rule with two steps, ten minutes apart.
func daysThenCid() string {
	return escalates(layer(onCall(day), window(10)) + "," + layer(persons(cid)))
}

func TestExplainIsChronologicalAndInCallersTimeZone(t *testing.T) {
	t.Parallel()
	w := begin(t, daysThenCid())
	event := w.push("cpu", "Critical")
	w.pass(5 * time.Minute)
	w.push("cpu", "Critical", "title=Worse")
	w.ack(annKey)
	w.pass(5 * time.Minute)
	w.push("cpu", "Ok")
	want := []string{`10:00:00 (UTC): Event "Trouble with cpu" (` + event + ") opened an incident in channel Shop (7000000000041).", "The incident \"Trouble with cpu\"",
		"Ann Day (on call in Day, A) over email: sent.", `10:05:00 (UTC): Event "Worse"`, "So nobody was notified again", "Ann Day acknowledged",
		"10:10:00 (UTC): Event", "The incident was resolved (recovery)"}
	for _, explain := range []string{
		w.why("cpu"),
		w.words(w.do("/alert/explain", `{"event_id": %q}`, event)), // with what was decided later
		w.words(w.incidentExplained(ownKey)),
	} {
		inOrder(t, explain, want...)
	}
	anns := w.words(w.as(annKey, "/alert/explain", `{"event_id": %q}`, event))
	inOrder(t, anns, "Sat 21 Nov 11:00:00 (Europe/Berlin): Event", "Sat 21 Nov 11:05:00 (Europe/Berlin)")
	if strings.Contains(anns, "UTC") {
		t.Errorf("another zone is shown: %s", anns)
	}
	r := w.do("/alert/explain", `{"event_id": %q}`, event)
	w.want(r, "verdicts.1.outcome", "")
	w.want(r, "later.0.outcome", "grouped")
	w.want(r, "later.1.outcome", "recovered")
}

const critical = `[[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]]`

func TestExplainSaysWhyNobodyWasNotified(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more    []string
		summary string
	}{
		"no rule":          {nil, "Nobody was notified: the channel has no escalation rule. The account's fallback is notified with its next message."},
		"no rule matches":  {[]string{escalates(layer(onCall(day)), `"filters": `+where("env", "prod"))}, "Nobody was notified: no escalation rule of the channel matches; on call: labels.env is not there, not IN prod. The account's fallback is notified with its next message."},
		"dropped":          {[]string{rules("drop_rules", `"filters": `+critical)}, "Nobody was notified: the event was dropped."},
		"silenced":         {[]string{rules("silence_rules", `"filters": `+critical+`, `+once(time.Hour))}, "Nobody was notified: the event was silenced."},
		"before the first": {[]string{escalates(layer(onCall(day)), `"aggr_window": 60`)}, "Nobody was notified yet. Next: step 1 (the person on call in Day) at Sat 21 Nov 10:01 (UTC), if nobody acknowledges before."},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, c.more...)
			severity := "Critical"
			if strings.HasPrefix(name, "no rule") { // of which the fallback is not notified at once
				severity = "Warning"
			}
			event := w.push("cpu", severity)
			r := w.do("/alert/explain", `{"event_id": %q}`, event)
			w.want(r, "summary", c.summary)
			if strings.Contains(c.summary, "rule of the channel") || strings.Contains(c.summary, "has no") {
				inOrder(t, w.words(r), "opened an incident", "So no rule notified a person: "+strings.TrimSuffix(c.summary[len("Nobody was notified: "):], " The account's fallback is notified with its next message."))
				w.want(w.incidentExplained(ownKey), "summary", c.summary)
			}
			if name == "dropped" {
				inOrder(t, w.words(r), "was dropped in channel Shop (7000000000041).", `The reason is drop rule rule 0 (5e5e5e5e5e5e5e5e5e5e5f00): severity is "Critical", IN Critical.`, "So nobody was notified.")
			}
			if name == "silenced" {
				inOrder(t, w.words(r), "The reason is silence rule rule 0 (5e5e5e5e5e5e5e5e5e5e5f00): ", "So nobody is notified of it before Sat 21 Nov 11:00 (UTC)", "Now: the alert is silenced until Sat 21 Nov 11:00 (UTC)")
			}
		})
	}
}

func TestExplainSaysWhoIsNextAndWhatAcknowledgementCancelled(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(teams(ops), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	next := "Next: step 2 (team ops) at Sat 21 Nov 10:10 (UTC), if nobody acknowledges before."
	for _, all := range []string{w.why("cpu"), w.words(w.incidentExplained(ownKey))} {
		if !strings.HasSuffix(all, next) {
			t.Errorf("%q is not the end of\n%s", next, all)
		}
	}
	w.want(w.incidentExplained(ownKey), "summary", "Notified: Ann Day.")
	w.pass(time.Minute)
	w.ack(annKey)
	all := w.why("cpu")
	inOrder(t, all, "10:01:00 (UTC): Ann Day acknowledged the incident. Step 2 (team ops) and step 3 (Cid Ops) were cancelled by Ann Day's acknowledgement.")
	if strings.Contains(all, "Next: step") {
		t.Errorf("there is a next step in\n%s", all)
	}
}

// In a snooze and in a silence the next step is later, and explained.
func TestExplainSaysWhoIsNextWhileClockStandsStill(t *testing.T) {
	t.Parallel()
	w := begin(t, daysThenCid())
	w.push("cpu", "Critical", "env=test")
	w.pass(4 * time.Minute)
	w.do("/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	inOrder(t, w.why("cpu"), "The incident was snoozed for 30 minutes by Olga Owner.", "Now: it is snoozed until Sat 21 Nov 10:34 (UTC).",
		"Next: step 2 (Cid Ops) at Sat 21 Nov 10:40 (UTC), if nobody acknowledges before.")
	w.pass(30 * time.Minute)
	w.do("/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "work", "filters": %s, "time_filter": {"start_time": %d, "end_time": %d}}`,
		shop, where("env", "test"), start.Unix(), start.Unix()+3600)
	w.pass(10 * time.Minute)
	inOrder(t, w.why("cpu"), "10:44:00 (UTC): Step 2 of rule on call (5e5e5e5e5e5e5e5e5e5e5e01) waits until Sat 21 Nov 11:00 (UTC): silence rule work holds its alerts",
		"Next: step 2 (Cid Ops) at Sat 21 Nov 11:00 (UTC), if nobody acknowledges before; until then silences hold its alerts.")
	w.newPages()
	w.pass(15 * time.Minute)
	w.notified(silenceEnds("olga"))
	w.pass(time.Minute)
	w.notified(newPage("cid"))
}

// What explain calls next is what happens next, with random rules: nothing before that moment, and then just that.
func TestWhatExplainCallsNextHappensNext(t *testing.T) {
	t.Parallel()
	const seed = 20261122
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	who, named := []int{ann, bob, cid}, map[string]string{"Ann Day": "ann", "Bob Night": "bob", "Cid Ops": "cid"}
	total := 0
	for range 6 {
		var layers []string
		for range 1 + rng.IntN(4) {
			layers = append(layers, layer(persons(who[rng.IntN(3)]), window(rng.IntN(20)), again(rng.IntN(4), float64(1+rng.IntN(6)))))
		}
		w := begin(t, escalates(strings.Join(layers, ", "), fmt.Sprintf(`"aggr_window": %d`, 60*rng.IntN(3))))
		w.drift = time.Minute
		w.push("cpu", "Critical")
		w.newPages()
		for steps := 0; ; steps++ {
			r := w.incidentExplained(ownKey)
			next := r.get("incidents.0.next.at")
			if next == "" {
				break
			}
			at, err := strconv.ParseInt(next, 10, 64)
			w.must(err)
			w.pass(time.Unix(at-1, 0).Sub(w.clock.Now()))
			w.notified()
			w.pass(time.Second)
			got := w.newPages()
			if want := named[r.get("incidents.0.next.who.0")]; len(got) == 0 || got[0].to != want+"@example.com" {
				t.Errorf("%v: at %d %s was to be notified, but it was %v", layers, at, want, got)
			}
			if total++; steps > 30 {
				t.Fatal("it does not end")
			}
		}
		w.pass(2 * time.Hour)
		w.notified(newPage("olga")) // the fallback, when the last step has had its time
	}
	if total < 15 {
		t.Errorf("only %d steps were next", total)
	}
}

// A notification that is cancelled names who acknowledged.
func TestExplainSaysWhoseAcknowledgementCancelledNotification(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann, bob))))
	w.do("/preference/update", `{"person_id": %d, "quiet_hours": [{"start": "09:00", "end": "19:00"}]}`, bob)
	w.push("cpu", "Warning")
	if all := w.why("cpu"); !strings.Contains(all, "Bob Night (named by the rule; it waits for the end of quiet hours) over email: waiting until Sat 21 Nov 19:00 (UTC).") {
		t.Error(all)
	}
	w.pass(time.Minute)
	w.ack(annKey)
	inOrder(t, w.why("cpu"), "over email: sent", "10:01:00 (UTC): Ann Day acknowledged the incident.", "10:01:00 (UTC): Notification to Bob Night", "cancelled, the incident was acknowledged by Ann Day.")
}

func TestExplainShowsLastAttempt(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.fail("ann", later)
	w.push("cpu", "Critical")
	all := w.why("cpu")
	inOrder(t, all, "Ann Day (on call in Day, A) over email: waiting until Sat 21 Nov 10:00", " for attempt 2. The last attempt said: ", "451")
	if summary := w.explained("cpu").get("summary"); !strings.HasPrefix(summary, "Nobody was reached yet: Ann Day over email waits") {
		t.Error(summary)
	}
}

// Every case of a route that was looked at is explained, whether it was met or not.
func TestExplainShowsRoute(t *testing.T) {
	t.Parallel()
	w := begin(t, fmt.Sprintf(`{"routes": [{"integration_id": %d, "cases": [
		{"if": [{"key": "labels.service", "oper": "IN", "vals": ["pay"]}], "channel_ids": [%d]},
		{"if": [{"key": "labels.service", "oper": "IN", "vals": ["cart"]}, {"key": "severity", "oper": "IN", "vals": ["Info"]}], "channel_ids": [%[2]d]}],
		"default": {"channel_ids": [%[3]d, %[2]d]}}]}`, shared, shop, mail))
	event := w.pushTo(sharedKey, "cpu", "Critical", "service=cart")
	inOrder(t, w.words(w.do("/alert/explain", `{"event_id": %q}`, event)),
		`Route case_0 was not met: labels.service is "cart", not IN pay.`,
		`Route case_1 was not met: severity is "Critical", not IN Info; met: labels.service is "cart", IN cart.`,
		`Route default was met: no case sends it anywhere. It leads to channels Mail (7000000000042) and Shop (7000000000041).`)
}

func TestExplainCountsFlapping(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	for range 3 {
		w.push("cpu", "Critical")
		w.pass(time.Minute)
		w.push("cpu", "Ok")
		w.pass(time.Minute)
	}
	w.push("cpu", "Critical")
	last := w.push("cpu", "Ok")
	r := w.do("/alert/explain", `{"event_id": %q}`, last)
	w.want(r, "verdicts.0.outcome", "flapping")
	until := time.Unix(start.Unix()+6*60+15*60, 0)
	inOrder(t, w.words(r), "did not end its alert in channel Shop (7000000000041) yet", "The reason: it changed 8 times in 60 minutes, of 4 that are too many",
		"So its incident stays open, and nobody is notified of its end before "+until.UTC().Format("Mon 2 Jan 15:04")+" (UTC)")
}

// What a caller may not read is hidden: the channel, its incident, and where a route leads.
func TestExplainHidesNamesOfPrivateChannels(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, `{"channels": [{"channel_id": 7000000000044, "channel_name": "Hush hush", "is_private": true}]}`,
		fmt.Sprintf(`{"routes": [{"integration_id": %d, "cases": [], "default": {"channel_ids": [%d, 7000000000044]}}]}`, shared, shop))
	event := w.pushTo(sharedKey, "cpu", "Critical")
	now := start.Unix()
	alert := w.do("/alert/list", `{"start_time": %d, "end_time": %d, "channel_ids": [%d]}`, now-10, now+10, shop).get("items.0.alert_id")
	for _, body := range []string{fmt.Sprintf(`{"event_id": %q}`, event), fmt.Sprintf(`{"alert_id": %q}`, alert)} {
		r := w.as(annKey, "/alert/explain", "%s", body)
		if all := r.String(); strings.Contains(all, "Hush") || strings.Contains(all, "7000000000044") || !strings.Contains(all, "Shop (7000000000041)") {
			t.Errorf("Ann sees %s", all)
		}
	}
	if all := w.do("/alert/explain", `{"event_id": %q}`, event).String(); !strings.Contains(all, "Hush hush (7000000000044)") {
		t.Errorf("the owner does not see %s", all)
	}
	w.do("/route/upsert", `{"integration_id": %d, "cases": [], "default": {"channel_ids": [%d]}}`, shared, shop) // what it was stays hidden
	if all := w.as(annKey, "/alert/explain", `{"event_id": %q}`, event).String(); strings.Contains(all, "Hush") || strings.Contains(all, "7000000000044") {
		t.Errorf("Ann sees %s", all)
	}
	list := w.do("/incident/list", `{"start_time": %d, "end_time": %d, "channel_ids": [7000000000044]}`, now-10, now+10)
	if r := w.try(annKey, "/incident/explain", `{"incident_id": %q}`, list.get("items.0.incident_id")); r.Status != 403 {
		t.Error(r)
	}
	if r := w.try(ownKey, "/incident/explain", `{"incident_id": "000000000000000000000000"}`); r.Status != 404 {
		t.Error(r)
	}
}

// What persons do to an incident is explained, with their names.
func TestExplainNamesWhatPersonsDid(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("mem", "Warning")
	other := w.incident()
	w.pass(time.Minute)
	w.push("cpu", "Warning")
	id := w.incident()
	for _, call := range []string{
		`/incident/ack {"incident_ids": ["$"]}`, `/incident/unack {"incident_ids": ["$"]}`, `/incident/snooze {"incident_ids": ["$"], "minutes": 5}`, `/incident/wake {"incident_ids": ["$"]}`,
		fmt.Sprintf(`/incident/responder/add {"incident_id": "$", "person_ids": [%d, %d]}`, bob, cid), `/incident/reset {"incident_id": "$", "incident_severity": "Critical"}`,
		fmt.Sprintf(`/incident/assign {"incident_ids": ["$"], "assigned_to": {"person_ids": [%d]}}`, cid), `/incident/resolve {"incident_ids": ["$"]}`, `/incident/reopen {"incident_ids": ["$"]}`,
		`/incident/merge {"source_incident_ids": ["` + other + `"], "target_incident_id": "$"}`,
	} {
		path, body, _ := strings.Cut(strings.ReplaceAll(call, "$", id), " ")
		w.as(annKey, path, "%s", body)
		w.pass(time.Second)
	}
	inOrder(t, w.words(w.do("/incident/explain", `{"incident_id": %q}`, id)), "Ann Day acknowledged the incident.", "The acknowledgement of the incident was taken back by Ann Day.",
		"The incident was snoozed for 5 minutes by Ann Day.", "The snooze of the incident was ended by Ann Day.", "Bob Night and Cid Ops were made responsible by Ann Day.",
		"The severity of the incident was changed from Warning to Critical by Ann Day.", "The incident was assigned to Cid Ops by Ann Day.", "The incident was resolved (manual) by Ann Day.", "The incident was opened again by Ann Day.",
		"1 other incident was merged into the incident by Ann Day.")
	merged := w.do("/incident/explain", `{"incident_id": %q}`, other)
	inOrder(t, w.words(merged), "was merged into incident "+strings.ToUpper(id[18:])+" by Ann Day.")
}

// An incident that a person made has no alert, and is explained too.
func TestExplainIncidentWithoutAlerts(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.do("/incident/create", `{"incident_severity": "Critical", "title": "Smoke", "channel_id": %d}`, shop)
	inOrder(t, w.words(w.incidentExplained(ownKey)), `The incident "Smoke"`, "was opened by Olga Owner", "So no rule notified a person: the channel has no escalation rule.")
}

// A storm is explained by its first alerts.
func TestExplainIncidentOfManyAlerts(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, grouped(byService))
	for n := range 15 {
		w.pushTo(groupKey, fmt.Sprint("host", n), "Critical", "service=pay")
	}
	r := w.incidentExplained(ownKey)
	if all := w.words(r); strings.Count(all, "Event ") != 10 || !strings.Contains(all, "It has 15 alerts. The first 10 are explained.") {
		t.Error(all)
	}
}

// The samples in docs/explain.md are what the program writes.
func TestExplainSamples(t *testing.T) {
	t.Parallel()
	typical := begin(t, daysThenCid())
	typical.push("checkout", "Critical", "title=Error rate of checkout is 9 %")
	typical.pass(2 * time.Minute)
	typical.ack(annKey)
	typical.pass(20 * time.Minute)
	typical.push("checkout", "Ok", "title=Error rate of checkout is 9 %")
	typical.sample("explain_typical", typical.incidentExplained(annKey))

	nobody := begin(t, escalates(layer(onCall(day)), `"filters": `+critical))
	nobody.push("queue", "Warning", "title=The mail queue grows")
	nobody.sample("explain_nobody", nobody.incidentExplained(annKey))

	route := begin(t, notifyAnn, fmt.Sprintf(`{"routes": [{"integration_id": %d, "cases": [
		{"if": [{"key": "labels.service", "oper": "IN", "vals": ["checkout"]}, {"key": "severity", "oper": "IN", "vals": ["Info"]}], "channel_ids": [%d]}],
		"default": {"channel_ids": [%d]}}]}`, shared, shop, mail))
	event := route.pushTo(sharedKey, "checkout", "Critical", "service=checkout", "title=Checkout answers slowly")
	route.sample("explain_route", route.as(ownKey, "/alert/explain", `{"event_id": %q}`, event))

	rise := begin(t, escalates(layer(persons(ann), window(10))+","+layer(persons(cid))))
	rise.push("disk", "Warning", "title=The disk fills up")
	rise.pass(4 * time.Minute)
	rise.push("disk", "Critical", "title=The disk fills up")
	rise.sample("explain_rise", rise.incidentExplained(annKey))

	joins := begin(t, grouped(byService))
	joins.pushTo(groupKey, "pod 1", "Warning", "service=cart", "title=Pod 1 restarts")
	joins.ack(annKey)
	joins.pass(3 * time.Minute)
	event = joins.pushTo(groupKey, "pod 2", "Warning", "service=cart", "title=Pod 2 restarts")
	joins.pass(5*time.Minute + 5*time.Second)
	joins.sample("explain_joined", joins.as(annKey, "/alert/explain", `{"event_id": %q}`, event))

	storm := begin(t, textAnn(""), prometheus)
	storm.pushTitled(30, allCritical)
	storm.pass(20 * time.Second)
	storm.push("late", "Critical", "title=The shop is down")
	storm.sample("explain_bundle_waits", storm.incidentExplained(annKey))
	storm.push("later", "Critical", "title=So is the warehouse")
	storm.pass(time.Minute)
	storm.sample("explain_bundle", storm.incidentExplained(annKey))

	refused := begin(t, textAnn(""))
	refused.refuse("sms")
	refused.push("cpu", "Critical", "title=The shop is down")
	refused.sample("explain_refused", refused.incidentExplained(annKey))

	held := beginWith(t, func(c *app.Config) { c.Hold = true }, daysThenCid())
	held.push("cpu", "Critical", "title=The shop is down")
	held.sample("explain_held", held.incidentExplained(annKey))
}

var (
	objectID = regexp.MustCompile(`\b[0-9a-f]{24}\b`)
	shortID  = regexp.MustCompile(`\b[0-9A-F]{6}\b`)
)

// sample compares the words of an explanation with a golden file, which is part of docs/explain.md.
func (w *world) sample(name string, r reply) {
	w.t.Helper()
	got := r.get("summary") + "\n\n" + w.words(r) + "\n"
	got = shortID.ReplaceAllString(objectID.ReplaceAllString(got, "663a1b2c3d4e5f6789abcdef"), "ABCDEF")
	file := filepath.Join("testdata", name+".txt")
	if flag.Lookup("update").Value.String() == "true" { // the flag of apitest
		w.must(os.MkdirAll("testdata", 0o755))
		w.must(os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	w.must(err)
	if got != string(want) {
		w.t.Errorf("%s is\n%s\nwant\n%s", file, got, want)
	}
	docs, err := os.ReadFile("../../docs/explain.md")
	w.must(err)
	if !slices.Contains(strings.Split(string(docs), "```"), "text\n"+got) {
		w.t.Errorf("docs/explain.md does not have the sample of %s: copy it there", file)
	}
}
