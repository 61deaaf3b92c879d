package decide

import (
	"fmt"
	"slices"

	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
)

// group finds the incident of an alert that is not muted, or opens one.
func (d *decision) group() error {
	if d.Alert.Incident != "" {
		d.Outcome = Grouped
		if d.Event.GroupTitle != "" {
			d.Grouping.Key, _ = d.key(&d.channel.Grouping)
		}
		d.looked("group", Step{Matched: true, Why: sentence.New("in_incident", d.Alert.Incident)})
		return nil
	}
	d.Outcome, d.Grouping.Open = Opened, true
	m := &d.channel.Grouping
	key, why := d.key(m)
	if key == "" {
		d.looked("group", Step{Matched: true, Why: sentence.New("group_alone", why)})
		return nil
	}
	d.Grouping.Key = key
	g, err := d.state.Group(d.Channel, key)
	if err != nil {
		return err
	}
	if refused := m.refuse(g, d.now); refused != "" {
		d.looked("group", Step{Matched: true, Why: sentence.New("group_opens", why, refused)})
		return nil
	}
	d.Outcome, d.Grouping = Grouped, Grouping{Join: g.Incident, Key: key, BySource: d.Grouping.BySource}
	for _, n := range m.Storms {
		if g.Alerts+1 == n {
			d.Grouping.Storm = n
		}
	}
	d.looked("group", Step{Matched: true, Joins: true, Why: sentence.New("group_joins", why, g.Incident)})
	return nil
}

// refuse returns why an alert cannot join an incident; empty: it can.
func (m *Method) refuse(g *Group, now int64) sentence.Value {
	switch {
	case g == nil:
		return sentence.New("group_none_open")
	case g.Alerts >= MaxAlerts:
		return sentence.New("group_full", g.Incident, g.Alerts)
	case m.Window > 0 && m.Sliding && now >= g.Last+m.Window:
		return sentence.New("group_quiet", g.Incident, m.Window/60)
	case m.Window > 0 && !m.Sliding && now >= g.Started+m.Window:
		return sentence.New("group_old", g.Incident, m.Window/60)
	}
	return ""
}

// key returns the key that the alert shares with the alerts of its group, and its explanation. The key is empty if the
// alert is grouped with no other.
func (d *decision) key(m *Method) (key string, why sentence.Value) {
	e := &d.Event
	if !m.ByFields {
		return "", sentence.New("not_grouped")
	}
	lists, branch := m.Equals, "equals"
	for i, c := range m.Cases {
		d.meter.Begin()
		matched := c.If.Within(d.meter, e, nil)
		if d.meter.Over() {
			d.looked("group", Step{Name: fmt.Sprintf("case %d", i), Why: d.meter.Why(), Over: true})
		}
		if matched {
			lists, branch = c.Equals, fmt.Sprintf("case %d", i)
			break
		}
	}
	if len(lists) == 0 {
		return event.KeyOf(nil, branch), sentence.New("group_all", branch)
	}
	for i, fields := range lists {
		values, why, missing := read(fields, e)
		if len(missing) == 0 || len(missing) < len(fields) && !m.Strict {
			d.Grouping.BySource = BySource(fields)
			return event.KeyOf(nil, append([]string{branch, fmt.Sprint(i)}, values...)...), both(why)
		}
	}
	return "", sentence.New("group_lacks")
}

// BySource reports whether grouping by these fields makes the groups of the source.
func BySource(fields []string) bool { return slices.Equal(fields, []string{"group_key"}) }

// both returns sentences with "and" between them.
func both(all []sentence.Value) (joined sentence.Value) {
	for i, why := range slices.Backward(all) {
		if i < len(all)-1 {
			why = sentence.New("both", why, joined)
		}
		joined = why
	}
	return joined
}

// read returns the values of fields in a form for keys, their explanations, and the fields that the event lacks.
func read(fields []string, e *event.Event) (values []string, why []sentence.Value, missing []string) {
	for _, field := range fields {
		value, ok := filter.Read(e, field)
		if !ok {
			missing = append(missing, field)
			why = append(why, sentence.New("group_no_value", field))
			values = append(values, "-")
			continue
		}
		values = append(values, "="+value)
		why = append(why, sentence.New("group_value", field, value))
	}
	return values, why, missing
}
