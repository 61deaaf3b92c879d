package console

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/fault"
	"tocsin/internal/rulefolder"
)

var ruleFormPages = []page{
	{path: "/rules/new", template: "rule_edit", tab: "rules", show: showRuleForm, needs: manageRules},
	{path: "/rules/{id}/edit", template: "rule_edit", tab: "rules", show: showRuleForm, needs: manageRules},
	{path: "/rules/import", template: "rule_import", tab: "rules", show: showRuleImport, needs: manageRules},
}

var ruleFormActions = []action{
	{path: "/rules/new", do: saveRuleForm, show: showRuleForm, page: "rule_edit", needs: manageRules},
	{path: "/rules/{id}/edit", do: saveRuleForm, show: showRuleForm, page: "rule_edit", needs: manageRules},
	{path: "/rules/import", do: importRules, show: showRuleImport, page: "rule_import", needs: manageRules},
	{path: "/rules/{id}/status/{to}", do: setAlertRuleStatus, needs: manageRules},
}

var manageRules = rights{auth.AlertingRulesManage}

// ruleEditView is the form of an alert rule. Its inputs have the names that the operations give the members, so that an error names
// its input.
type ruleEditView struct {
	titled
	*visit
	Rule     alertrule.Rule // as entered, else as stored
	Seen     string         // identifies the stored rule that the form began with; empty: it is new
	Folders  []rulefolder.Listed
	Types    []alertrule.DSType
	Sources  []datasource.Item // of the rule's type
	Matched  []datasource.Item // on which it would be evaluated
	Channels []channel.Shown
	Schedule scheduleWords
	Run      *ruleRun
	Past     *rulePast
	refused  error // of what was entered; nil: it can be read
}

// maxMatched is how many datasources a rule matches before the form warns.
const maxMatched = 100

// Known reports whether the datasources are known to the visitor.
func (d *ruleEditView) Known() bool { return d.who.May(auth.DatasourcesRead) }

// TooMany reports whether the rule matches more datasources than is usual.
func (d *ruleEditView) TooMany() bool { return len(d.Matched) > maxMatched }

// storedRule returns the rule of the address, or what a new one begins with: the copy of another, or the usual.
func (v *visit) storedRule() (r alertrule.Rule, err error) {
	id, copied := v.r.PathValue("id"), v.query("copy")
	switch {
	case id != "":
		r, err = v.alertRule(unsigned(id))
	case copied != "":
		r, err = v.alertRule(unsigned(copied))
		if err == nil {
			r.ID, r.Name = 0, v.T("%s (copy)", r.Name)
		}
	default:
		r = alertrule.Rule{DSType: "prometheus", FolderID: rulefolder.First}
		r.CronPattern, r.RepeatInterval = "@every 1m", 3600
		r.RuleConfigs.Queries = []evaluate.Query{{Name: "A"}}
		counts := evaluate.Counts{AlertingCheckTimes: 3, RecoveryCheckTimes: 2}
		r.RuleConfigs.CheckAnydata = &evaluate.Anydata{Counts: counts, Severity: "Warning"}
		r.RuleConfigs.CheckNodata = &evaluate.Nodata{Counts: counts, Severity: "Warning"}
		counts.Enabled = true
		r.RuleConfigs.CheckThreshold = &evaluate.Threshold{Counts: counts}
	}
	checksOf(&r)
	return r, err
}

// alertRule returns a rule of which a form may change everything: nothing of it belongs to the reply.
func (v *visit) alertRule(id uint64) (r alertrule.Rule, err error) {
	reply, err := call[alertrule.Rule](v, "/monit/rule/info", alertrule.InfoRequest{ID: id})
	if err != nil {
		return r, err
	}
	text, err := json.Marshal(reply)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// checksOf returns the counts of all checks of a rule, after adding what it leaves out.
func checksOf(r *alertrule.Rule) []*evaluate.Counts {
	c := &r.RuleConfigs
	c.CheckThreshold = cmp.Or(c.CheckThreshold, &evaluate.Threshold{})
	c.CheckAnydata = cmp.Or(c.CheckAnydata, &evaluate.Anydata{})
	c.CheckNodata = cmp.Or(c.CheckNodata, &evaluate.Nodata{})
	all := []*evaluate.Counts{&c.CheckThreshold.Counts, &c.CheckAnydata.Counts, &c.CheckNodata.Counts}
	for _, counts := range all {
		counts.PushRecoveryEvent = cmp.Or(counts.PushRecoveryEvent, new(true))
	}
	return all
}

// showRuleForm shows the form: what was entered, else what is stored.
func showRuleForm(v *visit) (view, error) {
	d, err := v.ruleEdit()
	if err != nil {
		return nil, err
	}
	if err := d.choices(); err != nil {
		return nil, err
	}
	d.Schedule = v.scheduleWords(d.Rule)
	switch do := v.field("do"); {
	case v.Failure != nil:
	case do == "run":
		d.Run, err = v.runRule(d)
	case do == "past":
		d.Past, err = v.testOnPast(d)
	}
	return d, err
}

// ruleEdit returns the form with what was entered, without what it offers.
func (v *visit) ruleEdit() (*ruleEditView, error) {
	r, err := v.storedRule()
	if err != nil {
		return nil, err
	}
	d := &ruleEditView{titled: titled(v.T("New alert rule")), visit: v, Rule: r}
	id := r.ID
	if r.ID != 0 {
		d.titled, d.Seen = titled(r.Name), identity(r)
	}
	if v.r.Method == http.MethodPost {
		d.Seen = v.seen(d.Seen)
		d.read()
		d.Rule.ID = id
	}
	return d, nil
}

// read sets what was entered, and adds or removes the row of a button.
func (d *ruleEditView) read() {
	queries, windows := &d.Rule.RuleConfigs.Queries, &d.Rule.EnabledTimes
	*queries = make([]evaluate.Query, d.rows("rule_configs.queries[%d].name"))
	*windows = make([]evaluate.Window, d.rows("enabled_times[%d].stime"))
	d.Rule.DSIDs, d.Rule.ChannelIDs = nil, nil // boxes that are not ticked are not sent
	for _, counts := range checksOf(&d.Rule) {
		counts.Enabled, *counts.PushRecoveryEvent = false, false
	}
	for _, name := range slices.Sorted(maps.Keys(d.r.PostForm)) {
		if at, found := memberOf(&d.Rule, name); found {
			d.refused = cmp.Or(d.refused, d.setMember(at, name))
		}
	}
	do, at, _ := strings.Cut(d.field("do"), ":")
	switch i, _ := strconv.Atoi(at); {
	case do == "add-query":
		*queries = append(*queries, evaluate.Query{Name: string(rune('A' + len(*queries)))})
	case do == "add-window":
		*windows = append(*windows, evaluate.Window{Days: []int64{1, 2, 3, 4, 5}, Stime: "09:00", Etime: "17:00"})
	case do == "remove-query" && i < len(*queries):
		*queries = slices.Delete(*queries, i, i+1)
	case do == "remove-window" && i < len(*windows):
		*windows = slices.Delete(*windows, i, i+1)
	}
}

// maxFormRows is how many queries or windows the form has at most.
const maxFormRows = 20

// rows returns how many rows were entered that have an input of a name.
func (d *ruleEditView) rows(name string) (n int) {
	for n < maxFormRows && d.r.PostForm.Has(fmt.Sprintf(name, n)) {
		n++
	}
	return n
}

// In returns what an input holds: what was typed, else what is stored. Rows move, so theirs is what was read of them.
func (d *ruleEditView) In(name string) (string, error) {
	if d.r.PostForm.Has(name) && !strings.Contains(name, "[") {
		return d.r.PostFormValue(name), nil
	}
	at, _ := memberOf(&d.Rule, name)
	text, found := memberText(at)
	if !found {
		return "", fmt.Errorf("the form of a rule has no text %s", name)
	}
	return text, nil
}

// On reports whether a box is ticked; of boxes that share a name, that of a number.
func (d *ruleEditView) On(name string, number ...any) (bool, error) {
	at, _ := memberOf(&d.Rule, name)
	switch member := at.Interface().(type) {
	case bool:
		return member, nil
	case []int64, []uint64:
		return slices.Contains(strings.Fields(strings.Trim(fmt.Sprint(member), "[]")), fmt.Sprint(number...)), nil
	}
	return false, fmt.Errorf("the form of a rule has no box %s", name)
}

// Wrong reports whether an input was refused.
func (d *ruleEditView) Wrong(name string) bool {
	var refused *fault.Error
	return d.Failure != nil && errors.As(error(d.Failure), &refused) && refused.Field == name
}

// choices fills in what the form offers.
func (d *ruleEditView) choices() error {
	var err error
	d.Folders, err = d.ruleFolders()
	if err != nil {
		return err
	}
	d.Types, err = call[[]alertrule.DSType](d.visit, "/monit/rule/dstypes", alertrule.EmptyRequest{})
	if err != nil {
		return err
	}
	if d.Known() {
		d.Sources, err = call[[]datasource.Item](d.visit, "/monit/datasource/list", datasource.ListRequest{Type: d.Rule.DSType})
		if err != nil {
			return err
		}
	}
	for i := range d.Sources {
		if s := &d.Sources[i]; s.Enabled && d.Rule.Matches(s) {
			d.Matched = append(d.Matched, *s)
		}
	}
	d.Channels, err = d.channelChoices()
	return err
}

// saveRuleForm stores the rule, unless a button asked for a try or for another row.
func saveRuleForm(v *visit) (string, error) {
	d, err := v.ruleEdit()
	if err != nil || v.field("do") != "save" {
		return "", err
	}
	if d.refused != nil {
		return "", d.refused
	}
	request := alertrule.Saving{Rule: d.Rule, Strict: v.field("anyway") == ""}
	if d.Rule.ID == 0 {
		saved, err := call[alertrule.Saved](v, "/monit/rule/create", request)
		return fmt.Sprintf("/rules/%d", saved.ID), err
	}
	before, err := v.storedRule()
	if err == nil {
		err = v.unchanged(identity(before), before.UpdaterID)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("/rules/%d", d.Rule.ID), do[alertrule.Saved](v, "/monit/rule/update", request)
}

// setAlertRuleStatus enables, disables or deletes a rule.
func setAlertRuleStatus(v *visit) (string, error) {
	id := v.ruleID()
	switch to := v.r.PathValue("to"); to {
	case "delete":
		return "/rules", do[api.Removal](v, "/monit/rule/delete", alertrule.DeleteRequest{ID: id})
	case "enable", "disable":
		done, err := v.setEnabled([]uint64{id}, to == "enable")
		if err == nil && len(done) > 0 && done[0].Message != "" {
			err = wrong(done[0].Message.English())
		}
		return fmt.Sprintf("/rules/%d", id), err
	}
	return "", v.noSuchForm()
}
