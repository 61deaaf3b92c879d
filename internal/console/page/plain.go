package page

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
	"tocsin/internal/integration"
)

// plain are sentences of the engine as pages show them, by their codes. The texts of the API name members of requests, count from 0 and
// give ids, which programs need. A condition with the operator NOTIN has its own text.
var plain = map[string]string{
	"met": "%[1]t is %[2]q: one of %[4]s", "met NOTIN": "%[1]t is %[2]q: none of %[4]s",
	"unmet": "%[1]t is %[2]q: none of %[4]s", "unmet NOTIN": "%[1]t is %[2]q: one of %[4]s",
	"met_absent": "%[1]t is missing: none of %[3]s", "unmet_absent": "%[1]t is missing",
	"fewer_rules_absent": "%t is missing, %d rules want another value",
	"group_no_value":     "%t is missing",
	"route_met":          "The route matched in %t: %v",
	"route_not_met":      "The route did not match in %t: %v",

	"n_message":      "%w to %s (%v) by %t: %v",
	"instead":        "So it was tried by %p instead",
	"s_until":        "Nobody was reached yet: %s by %t waits until %c (%v)",
	"s_until_budget": "Nobody was reached yet: %s by %t waits until %c",
	"s_attempt":      "Nobody was reached yet: %s by %t waits for attempt %d",
	"s_sending":      "Nobody was reached yet: %s by %t is being sent",
	"s_unreached":    "Nobody was reached: %s by %t was %w",
	"not_sendable":   "this server sends nothing by %m",

	"l_layer":           "layer %d %q",
	"l_never_on":        "%s is never on call: its days or its hours exclude all of its time",
	"l_settings_source": "its settings name no integration whose app posts the message",
	"l_settings_chats":  "its settings name no chats to notify",
	"l_night_cut": "%[1]s: its days end at 00:00, so the hours %[2]h to %[3]h of %[4]y end on %[5]y at 00:00, " +
		"and %[6]y is on call from 00:00 to %[7]h; a night can belong to the day on which it begins",
	"l_hours_cut": "%[1]s: its days begin at %[2]h, within the hours %[3]h to %[4]h, so these are cut where a day is left out",
	"l_drift_days": "%s: hours are elapsed time, so its turns change at another time of day after the clock change of %s on %t; " +
		"turns of days do not",
	"l_drift_hours": "%s: hours are elapsed time, so its turns change at other times of day after the clock change of %s on %t; " +
		"turns of days do not, with a layer for each shift",

	"w_layer":           "layer %d: %v",
	"w_mode_mask":       "an override ignores hours and days",
	"w_mode_calendars":  "an override ignores calendars",
	"w_override_groups": "it has %d groups, but an override uses only the first",
	"w_override_empty":  "its group names no person: nobody is on call during the override",
	"w_override_weight": "its weight %d is too low: other overrides take precedence over this one at every moment",
	"w_periods_off":     "its hours are ignored: it is on around the clock",
	"w_periods_empty":   "it is limited to hours, and has none: it is on around the clock",
	"w_mode_ignored":    "its hours of the week are ignored, because it is limited to days",
	"w_period_empty":    "its hours %[1]d cover no time",
	"w_handoff":         "its handover is ignored: only turns of exactly one week have one",
	"w_continuous":      "no day is left out, so it makes no difference to which day a night belongs",
	"w_calendars":       "the same calendar is chosen twice: its days off are skipped",
	"w_fair":            "a fair rotation needs three groups to be of use: two serve twice in a row, one serves always",
	"w_crowded":         "group %d has too many persons with too many absences: no absence of them counts",
	"w_group_empty":     "group %d names no person: nobody is on call in its turns",
	"w_group_never":     "group %d never serves: in the first %d days its days and hours leave nothing of its turns",
	"w_now_changes": "who is on call now changes from %p to %p, and who is shown for the past changes too; " +
		"to change only what comes, end the layer and add another",
	"w_now_changes_in":   "who is on call now in %[2]s changes from %[3]p to %[4]p",
	"w_no_contact":       "%[2]q has no address in the contacts: it is not used",
	"w_quiet":            "Critical notifications wait for the end of the quiet hours, too",
	"w_unassigned":       "it is assigned to nobody and has no channel, so no person is notified of it",
	"w_alerting_nowhere": "alerting is on and has no channel, so issues alert nobody",
	"w_tracing_nowhere":  "tracing is on and has no address, so no trace can be linked",
	"not_subscribed":     "the webhook does not subscribe to events of this kind",
}

// fromZero are the sentences whose first argument is a place in a list, counted from 0.
var fromZero = map[string]bool{
	"l_layer": true, "w_layer": true, "w_crowded": true, "w_group_empty": true, "w_group_never": true, "w_period_empty": true,
}

// conditions are the sentences about a condition, and where their arguments have the value that was found and, behind the operator, the
// values that are wanted. The field is the first argument.
var conditions = map[string]struct{ found, values int }{
	"met": {1, 3}, "unmet": {1, 3}, "met_absent": {0, 2}, "unmet_absent": {0, 2}, "group_value": {1, 0}, "fewer_rules": {1, 0},
}

// patternOf returns the text of a sentence for pages, and the kinds of its arguments.
func patternOf(s *sentence.Data) (text string, kinds []byte) {
	english, kinds := s.Pattern()
	code := s.Code
	if c := conditions[code]; c.values > 0 && c.values < len(s.Args) && s.Args[c.values-1] == filter.NotIn && plain[code+" NOTIN"] != "" {
		code += " NOTIN"
	}
	return cmp.Or(plain[code], english), kinds
}

var (
	idInBrackets = regexp.MustCompile(` ?[(（](?:#[0-9A-F]{6}|[0-9a-f]{24}|\d{13,})[)）]`) // behind the name of what has the id
	objectID     = regexp.MustCompile(`^[0-9a-f]{24}$`)
	routeCase    = regexp.MustCompile(`^case_(\d+)$`)
	pipelineRule = regexp.MustCompile(`^((?:\w+ )?)rules\[(\d+)\](?: \w+)?$`)
)

// word returns what a program calls something as people do: a case of a route, a rule of a pipeline, a field. Other texts stay.
func (v *Visit) word(text string) string {
	if m := routeCase.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return v.T("case %d", n+1)
	}
	if m := pipelineRule.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[2])
		return m[1] + v.T("rule %d", n+1)
	}
	return text
}

// Step returns the name of a step of a trace.
func (v *Visit) Step(name string) string { return v.word(name) }

// token returns an id, a field or a word of the API as pages show it. The number of an incident is the end of its id.
func (v *Visit) token(text string) string {
	if objectID.MatchString(text) {
		return "#" + strings.ToUpper(text[18:])
	}
	if ways[text] != "" {
		return v.Way(text)
	}
	if word := v.word(text); word != text {
		return word
	}
	return v.FieldWord(text)
}

// fieldWords names the fields of filters that are no labels.
var fieldWords = map[string]string{
	"data_source_id": "integration", "integration_id": "integration", "alert_key": "alert key", "title_rule": "rule of the title",
	"group_key": "group of the source", "dedup_key": "alert key", "alert_severity": "severity", "event_severity": "severity",
	"incident_severity": "severity", "alert_status": "status", "event_status": "status", "incident_status": "status",
	"severity": "severity", "status": "status", "title": "title", "description": "description",
}

// FieldWord names a field of a filter. A label has its own name.
func (v *Visit) FieldWord(key string) string {
	if word := fieldWords[key]; word != "" {
		return v.T(word)
	}
	return strings.TrimPrefix(key, "labels.")
}

// valueWord names a value of a field: an integration, a severity.
func (v *Visit) valueWord(key, value string) string {
	switch fieldWords[key] {
	case "integration":
		return v.integrationName(value)
	case "severity":
		return v.T(value)
	}
	return value
}

// valueWords names values with commas between them.
func (v *Visit) valueWords(key, values string) string {
	all := strings.Split(values, ", ")
	for i, one := range all {
		all[i] = v.valueWord(key, one)
	}
	return strings.Join(all, v.T(", "))
}

// conditionWords names the values in a sentence about a condition.
func (v *Visit) conditionWords(s *sentence.Data, texts []string) {
	c := conditions[s.Code]
	key, _ := s.Args[0].(string)
	if found, is := s.Args[c.found].(string); is && c.found > 0 {
		if value, err := strconv.Unquote(found); err == nil && v.valueWord(key, value) != value {
			texts[c.found] = v.valueWord(key, value)
		}
	}
	if values, is := s.Args[c.values].(string); is && c.values > 0 {
		texts[c.values] = v.valueWords(key, values)
	}
}

// integrationName returns the name of an integration that a condition names by its id; the id, if the visitor may not read it.
func (v *Visit) integrationName(id string) string {
	if name := v.integrations[id]; name != "" {
		return name
	}
	name := id
	number, err := strconv.ParseInt(id, 10, 64)
	if err == nil {
		found, err := Call[integration.Info](v, "/integration/info", integration.OneRequest{IntegrationID: number})
		if err == nil && found.IntegrationName != "" {
			name = found.IntegrationName
		}
	}
	if v.integrations == nil {
		v.integrations = map[string]string{}
	}
	v.integrations[id] = name
	return name
}
