package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/core/sentence"
)

// feedEntry is what happened to an incident or an alert.
type feedEntry struct {
	alert.Entry
	Detail feedDetail
}

// feedDetail is the members of all types of entries that the console shows.
type feedDetail struct {
	Title    string        `json:"title"`
	Headline string        `json:"headline"` // empty in older entries
	Severity string        `json:"severity"`
	From     any           `json:"from"`
	To       any           `json:"to"`
	How      string        `json:"type"`
	Rule     string        `json:"escalate_rule_name"`
	RuleID   string        `json:"escalate_rule_id"`
	Layer    int64         `json:"layer_idx"`
	Minutes  int64         `json:"minutes"`
	Reason   string        `json:"reason"`
	Why      sentence.Data `json:"reason_data"`
	Comment  string        `json:"comment"`
	Via      string        `json:"via"`
	By       string        `json:"by"`
	Persons  []feedTarget  `json:"persons"`
	Robots   []feedTarget  `json:"robots"`
	Field    string        `json:"field_name"`
	Target   string        `json:"target_incident_id"`
	Incident string        `json:"incident_id"`
	Chat     string        `json:"chat_name"`
	Link     string        `json:"share_link"`
	Limit    int64         `json:"threshold"`
	Emails   []string      `json:"emails"`

	Answer     string `json:"answer"`
	Unanswered string `json:"no_answer_to"`
	Restarts   bool   `json:"restarts"`
}

type feedTarget struct {
	Person int64         `json:"person_id"`
	Alias  string        `json:"alias"`
	Failed string        `json:"failed_reason"`
	Why    sentence.Data `json:"failed_reason_data"`
}

// feedLine is an entry of a feed for people.
type feedLine struct {
	ID     int64
	At     int64  // Unix seconds
	Kind   string // note, page or change
	Who    string // the person who did it; empty: Tocsin
	Text   string
	Words  string         // that a person or a source wrote
	Reason sentence.Words // that the engine stored
	Link   string
	Bad    bool // no person was reached by it
	WhoID  int64
	Rule   string     // the id of the escalation rule that it is about; empty: none
	Step   string     // of which it is a notification; empty: it is none, or failed
	Folded []feedLine // notifications of one step that this line stands for
}

// foldSpan is how many seconds lie at most between notifications that share a line.
const foldSpan = 120

// folded returns lines in which the notifications of one step share a line.
func folded(v *page.Visit, lines []feedLine) (all []feedLine) {
	for _, line := range lines {
		last := len(all) - 1
		if last < 0 || line.Step == "" || all[last].Step != line.Step || all[last].At-line.At > foldSpan {
			all = append(all, line)
			continue
		}
		if all[last].Folded == nil {
			all[last].Folded = []feedLine{all[last]}
		}
		all[last].Folded = append(all[last].Folded, line)
		all[last].Text = v.T("%d messages of %s", len(all[last].Folded), line.Step)
	}
	return all
}

// linkRules links lines about an escalation rule of a channel to its page.
func linkRules(lines []feedLine, channel int64) {
	for i := range lines {
		if lines[i].Rule != "" {
			lines[i].Link = fmt.Sprintf("/channels/%d/escalations/%s", channel, lines[i].Rule)
		}
		linkRules(lines[i].Folded, channel)
	}
}

// feed is a page of a feed.
type feed struct {
	Lines []feedLine
	Kind  string // the kind that is shown; empty: all
	Total int64
	More  bool // there are older entries
	Page  int64
}

// Older returns the number of the page with older entries.
func (f feed) Older() int64 { return f.Page + 1 }

// kinds maps the types of entries to what people filter by; all others are changes.
var kinds = map[string]string{
	"i_comm": "note", "a_comm": "note",
	"i_notify": "page", "i_exhausted": "page", "i_escalate": "page", "i_join": "page", "i_flap": "page",
}

// readFeed reads a page of a feed. The address chooses the kind and the page.
func readFeed(v *page.Visit, read func(alert.FeedRequest) (api.CursorPage[alert.Entry], error)) (f feed, err error) {
	f.Kind, f.Page = v.Query("feed"), max(1, page.Number(v.Query("page")))
	request := alert.FeedRequest{}
	request.Limit, request.P = 30, f.Page
	switch f.Kind {
	case "note", "page":
		for kind, group := range kinds {
			if group == f.Kind {
				request.Types = append(request.Types, kind)
			}
		}
	case "change":
		request.Types = changeTypes
	default:
		f.Kind = ""
	}
	reply, err := read(request)
	if err != nil {
		return f, err
	}
	f.Total, f.More = reply.Total, reply.HasNextPage
	entries, err := feedEntries(reply.Items)
	if err != nil {
		return f, err
	}
	f.Lines, err = described(v, entries)
	return f, err
}

// feedEntries returns entries with the members that the console shows.
func feedEntries(entries []alert.Entry) ([]feedEntry, error) {
	all := make([]feedEntry, len(entries))
	for i, e := range entries {
		all[i].Entry = e
		text, err := json.Marshal(e.Detail)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &all[i].Detail); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// changeTypes are the types of entries that are neither notes nor about notifications.
var changeTypes = []string{
	"i_new", "i_assign", "i_a_rspd", "i_snooze", "i_wake", "i_ack", "i_unack", "i_answer", "i_storm", "i_custom", "i_rslv", "i_reopen",
	"i_merge", "i_r_title", "i_r_desc", "i_r_impact", "i_r_rc", "i_r_rsltn", "i_r_severity", "i_r_field", "i_wr_create", "i_wr_delete",
	"i_silence", "i_undone", "a_silence", "a_undone", "a_new", "a_update", "a_merge", "a_close",
	"a_m_silence", "a_m_inhibit", "a_m_flapping", "a_m_channel",
}

// described returns entries for people.
func described(v *page.Visit, entries []feedEntry) ([]feedLine, error) {
	var ids []int64
	for _, e := range entries {
		ids = append(ids, e.CreatorID)
		for _, t := range e.Detail.Persons {
			ids = append(ids, t.Person)
		}
		ids = append(ids, e.Detail.to()...)
	}
	slices.Sort(ids)
	people, err := v.People(slices.DeleteFunc(slices.Compact(ids), func(id int64) bool { return id == 0 }))
	if err != nil {
		return nil, err
	}
	lines := make([]feedLine, len(entries))
	for i, e := range entries {
		lines[i] = describe(v, e, page.Names(people))
	}
	return folded(v, lines), nil
}

// to returns the persons of the member to, which is a text in other types.
func (d feedDetail) to() (ids []int64) {
	list, _ := d.To.([]any)
	for _, one := range list {
		if id, ok := one.(float64); ok {
			ids = append(ids, int64(id))
		}
	}
	return ids
}

// describe returns an entry for people.
func describe(v *page.Visit, e feedEntry, n page.Names) feedLine {
	line := feedLine{ID: e.FeedID, At: e.CreatedAt / 1000, Kind: "change"}
	if kind := kinds[e.Type]; kind != "" {
		line.Kind = kind
	}
	if e.CreatorID != 0 {
		line.Who, line.WhoID = n.Of(e.CreatorID), e.CreatorID
	}
	d := e.Detail
	line.Rule = d.RuleID
	switch e.Type {
	case "i_comm", "a_comm":
		line.Text, line.Words = v.T("Note"), d.Comment
	case "i_assign":
		line.Text = assigned(v, d, n)
	case "i_a_rspd":
		line.Text = v.T("Added: %s", n.List(d.to()))
	case "i_notify":
		describeNotified(v, &line, d, n)
	case "i_exhausted":
		line.Text = v.T("No person was reached.")
		line.Reason = wordsOf(d.Reason, d.Why)
		line.Bad = true
		if to := d.to(); len(to) > 0 {
			line.Text = v.T("No person was reached, so these were notified instead: %s", n.List(to))
		}
	case "i_merge":
		line.Text, line.Words = v.T("Merged"), d.Comment
		line.Link = "/incidents/" + d.Target
	case "a_merge":
		line.Text = v.T("Moved to an incident")
		line.Words = d.Comment
		line.Link = "/incidents/" + d.Incident
	case "i_wr_create", "i_wr_delete":
		line.Text = v.T(map[bool]string{true: "War room opened: %s", false: "War room closed: %s"}[e.Type == "i_wr_create"], d.Chat)
		line.Link = outside(d.Link)
	default:
		describeChange(v, &line, e.Type, d)
	}
	return line
}

// wordsOf returns a sentence of an entry, or the text of one that an earlier version stored.
func wordsOf(text string, data sentence.Data) sentence.Words {
	if data.Code == "" {
		return sentence.Words(sentence.Raw(text))
	}
	return sentence.Words(data.Value())
}

// describeNotified describes a notification, or a step that notified no person.
func describeNotified(v *page.Visit, line *feedLine, d feedDetail, n page.Names) {
	if d.By == "nobody" {
		line.Text = v.T("Step %d of %s had no person to notify.", d.Layer+1, d.Rule)
		line.Reason = wordsOf(d.Reason, d.Why)
		line.Bad = true
		return
	}
	var reached, failed []string
	var reasons []sentence.Value
	for _, t := range slices.Concat(d.Persons, d.Robots) {
		name := t.Alias
		if t.Person != 0 {
			name = n.Of(t.Person)
		}
		if t.Failed == "" {
			reached = append(reached, name)
		} else {
			failed, reasons = append(failed, name), append(reasons, sentence.Value(wordsOf(t.Failed, t.Why)))
		}
	}
	if len(failed) > 0 {
		line.Text = v.T("Could not notify %s by %s.", strings.Join(failed, ", "), v.Way(d.By))
		line.Reason, line.Bad = sentence.Words(sentence.Join(reasons...)), true
		return
	}
	line.Text = v.T("Notified %s by %s.", strings.Join(reached, ", "), v.Way(d.By))
	if d.Rule != "" {
		line.Step = v.T("step %d of %s", d.Layer+1, d.Rule)
	}
}

// assigned describes an assignment.
func assigned(v *page.Visit, d feedDetail, n page.Names) string {
	who := n.List(d.to())
	if len(d.Emails) > 0 {
		who = strings.Trim(who+", "+strings.Join(d.Emails, ", "), ", ")
	}
	switch {
	case d.Rule != "" && who != "":
		return v.T("Step %d of %s began: %s", d.Layer+1, d.Rule, who)
	case d.Rule != "":
		return v.T("Step %d of %s began.", d.Layer+1, d.Rule)
	}
	return v.T("Assigned to %s", who)
}

// changes are the texts of entries without members that the console shows.
var changes = map[string]string{
	"i_ack": "Acknowledged", "i_unack": "Withdrew the acknowledgement", "i_wake": "Ended the snooze", "a_close": "Ended",
	"a_m_silence": "Silenced", "a_m_inhibit": "Inhibited", "a_m_flapping": "Changes too often",
	"a_m_channel": "Muted: its channel is disabled", "a_update": "Another event came",
	"i_custom": "A custom action ran", "i_undone": "Ended the silence", "a_undone": "Ended the silence",
	"i_escalate": "Took the escalation to its next step",
}

// answers are the texts of the answers to reminders.
var answers = map[string]string{"later": "Still on it, ask again in 4 hours", "never": "Still on it, ask no more"}

// edits are the texts of entries about a text that was changed.
var edits = map[string]string{
	"i_r_title": "Changed the title", "i_r_desc": "Changed the description", "i_r_impact": "Changed the impact",
	"i_r_rc": "Changed the root cause", "i_r_rsltn": "Changed the resolution",
}

// endings are the texts of entries about the end of an incident, by its cause.
var endings = map[string]string{"recovery": "Resolved: all alerts ended", "timeout": "Resolved: nothing came for a long time"}

// describeChange describes the entries that have few members.
func describeChange(v *page.Visit, line *feedLine, kind string, d feedDetail) {
	switch {
	case kind == "i_new" || kind == "a_new":
		line.Text, line.Words = v.T("Opened with severity %s", v.T(d.Severity)), cmp.Or(d.Headline, d.Title)
	case kind == "i_answer":
		line.Text = v.T(cmp.Or(answers[d.Answer], "Still on it"))
	case kind == "i_unack" && d.Unanswered != "":
		line.Text, line.Bad = v.T("The acknowledgement was withdrawn: no answer came. The escalation begins again."), true
	case kind == "i_wake" && d.Restarts:
		line.Text = v.T("The snooze is over. The escalation begins again.")
	case kind == "i_snooze":
		line.Text = v.T("Snoozed for %s", v.Span(60*d.Minutes))
	case kind == "i_silence" || kind == "a_silence":
		line.Text = v.T("Silenced for %s, up to %s", v.Span(60*d.Minutes), v.T(d.Severity))
	case kind == "i_rslv":
		line.Text = v.T(cmp.Or(endings[text(d.From)], "Resolved"))
	case kind == "i_reopen":
		line.Text, line.Words = v.T("Reopened"), d.Reason
	case kind == "i_storm":
		line.Text = v.T("It has %d alerts now.", d.Limit)
	case kind == "i_join":
		line.Text, line.Words = v.T("Alerts join it"), d.Title
	case kind == "i_flap":
		line.Text = v.T("Notified again")
		line.Words = d.Title
		line.Reason = wordsOf(d.Reason, d.Why)
	case kind == "i_r_severity":
		line.Text = v.T("Changed the severity from %s to %s", v.T(text(d.From)), v.T(text(d.To)))
	case kind == "i_r_field":
		line.Text, line.Words = v.T("Changed the field %s", d.Field), text(d.To)
	case edits[kind] != "":
		line.Text, line.Words = v.T(edits[kind]), text(d.To)
	case changes[kind] != "":
		line.Text = v.T(changes[kind])
		if d.Via == "chat" {
			line.Text = v.T("Acknowledged from a chat")
		}
	default:
		line.Text = kind // of a newer version
	}
}

// text returns a member that is a text, or a list of texts.
func text(member any) string {
	switch member := member.(type) {
	case string:
		return member
	case bool:
		return strconv.FormatBool(member)
	case []any:
		var words []string
		for _, one := range member {
			words = append(words, text(one))
		}
		return strings.Join(words, ", ")
	}
	return ""
}
