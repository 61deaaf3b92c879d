package monitor

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/rulefolder"
)

var ruleFormPages = []page.Page{
	{Path: "/rules/new", Template: "rule_edit", Tab: "rules", Show: showRuleForm, Needs: manageRules},
	{Path: "/rules/{id}/edit", Template: "rule_edit", Tab: "rules", Show: showRuleForm, Needs: manageRules},
	{Path: "/rules/import", Template: "rule_import", Tab: "rules", Show: showRuleImport, Needs: manageRules},
}

var ruleFormActions = []page.Action{
	{Path: "/rules/new", Do: saveRuleForm, Show: showRuleForm, Template: "rule_edit", Needs: manageRules},
	{Path: "/rules/{id}/edit", Do: saveRuleForm, Show: showRuleForm, Template: "rule_edit", Needs: manageRules},
	{Path: "/rules/import", Do: importRules, Show: showRuleImport, Template: "rule_import", Needs: manageRules},
	{Path: "/rules/{id}/status/{to}", Do: setAlertRuleStatus, Needs: manageRules},
}

var manageRules = page.Rights{auth.AlertingRulesManage}

// ruleEditView is the form of an alert rule.
type ruleEditView struct {
	page.Titled
	*page.Visit
	Rule     alertrule.Rule    // as entered, else as stored
	Seen     string            // identifies the stored rule that the form began with; empty: it is new
	Sources  []datasource.Item // of the rule's type
	Matched  []datasource.Item // on which it would be evaluated
	Offers   []page.Offer
	Schedule scheduleWords
	Run      *ruleRun
	Past     *rulePast
	inputs   map[string]page.FormField
	refused  error // of what was entered; nil: it can be read
}

// maxMatched is how many datasources a rule matches before the form warns.
const maxMatched = 100

// Known reports whether the datasources are known to the visitor.
func (d *ruleEditView) Known() bool { return d.Who.May(auth.DatasourcesRead) }

// TooMany reports whether the rule matches more datasources than is usual.
func (d *ruleEditView) TooMany() bool { return len(d.Matched) > maxMatched }

// storedRule returns the rule of the address, or what a new one begins with: the copy of another, or the usual.
func storedRule(v *page.Visit) (r alertrule.Rule, err error) {
	id, copied := v.Request.PathValue("id"), v.Query("copy")
	switch {
	case id != "":
		r, err = alertRule(v, page.Unsigned(id))
	case copied != "":
		r, err = alertRule(v, page.Unsigned(copied))
		if err == nil {
			r.ID, r.Name = 0, v.T("%s (copy)", r.Name)
		}
	default:
		r = alertrule.Rule{DSType: "prometheus", FolderID: rulefolder.First, Enabled: new(true)}
		r.CronPattern, r.RepeatInterval = "@every 1m", 3600
		r.RuleConfigs.Queries = []evaluate.Query{{Name: "A"}}
		counts := evaluate.Counts{AlertingCheckTimes: 3, RecoveryCheckTimes: 2}
		r.RuleConfigs.CheckAnydata = &evaluate.Anydata{Counts: counts, Severity: "Warning"}
		r.RuleConfigs.CheckNodata = &evaluate.Nodata{Counts: counts, Severity: "Warning"}
		counts.Enabled = true
		r.RuleConfigs.CheckThreshold = &evaluate.Threshold{Counts: counts}
	}
	checksOf(&r)
	r.Enabled = new(r.On())
	return r, err
}

// alertRule returns a rule of which a form may change everything: nothing of it belongs to the reply.
func alertRule(v *page.Visit, id uint64) (r alertrule.Rule, err error) {
	reply, err := page.Call[alertrule.Rule](v, "/monit/rule/info", alertrule.InfoRequest{ID: id})
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
func showRuleForm(v *page.Visit) (page.View, error) {
	d, err := ruleEdit(v)
	if err != nil {
		return nil, err
	}
	if err := d.choices(); err != nil {
		return nil, err
	}
	d.Schedule = wordsOfSchedule(v, d.Rule)
	switch do := v.Field("do"); {
	case v.Failure != nil:
	case do == "run":
		d.Run, err = runRule(v, d)
	case do == "past":
		d.Past, err = testOnPast(v, d)
	}
	return d, err
}

// ruleEdit returns the form with what was entered, without what it offers.
func ruleEdit(v *page.Visit) (*ruleEditView, error) {
	r, err := storedRule(v)
	if err != nil {
		return nil, err
	}
	d := &ruleEditView{Titled: page.Titled(v.T("New alert rule")), Visit: v, Rule: r}
	if r.ID != 0 {
		d.Titled, d.Seen = page.Titled(r.Name), page.Identity(r)
	}
	if v.Request.Method == http.MethodPost {
		d.Seen = v.FormSeen(d.Seen)
		d.Rule = alertrule.Rule{ID: r.ID} // the form has all of it
		for _, counts := range checksOf(&d.Rule) {
			*counts.PushRecoveryEvent = false // a box that is not ticked is not sent
		}
		d.refused = ruleForm.Read(v, &d.Rule)
	}
	var form page.RecordForm
	if err := ruleForm.Draw(v, &form, d.Rule); err != nil {
		return nil, err
	}
	d.Offers, d.inputs = form.Offers, map[string]page.FormField{}
	for _, input := range form.Fields {
		d.inputs[input.Name] = input
	}
	return d, nil
}

// Input returns an input of the form.
func (d *ruleEditView) Input(name string) (page.FormField, error) {
	input, found := d.inputs[name]
	if !found {
		return input, fmt.Errorf("the form of a rule has no input %s", name)
	}
	return input, nil
}

// Inputs returns the inputs of which the path begins with an object.
func (d *ruleEditView) Inputs(object string, names ...string) (all []page.FormField, err error) {
	for _, name := range names {
		input, err := d.Input(object + "." + name)
		if err != nil {
			return nil, err
		}
		all = append(all, input)
	}
	return all, nil
}

// choices fills in what the form offers.
func (d *ruleEditView) choices() error {
	var err error
	if d.Known() {
		d.Sources, err = page.Call[[]datasource.Item](d.Visit, "/monit/datasource/list", datasource.ListRequest{Type: d.Rule.DSType})
		if err != nil {
			return err
		}
	}
	for i := range d.Sources {
		if s := &d.Sources[i]; s.Enabled && d.Rule.Matches(s) {
			d.Matched = append(d.Matched, *s)
		}
	}
	return nil
}

// saveRuleForm stores the rule, unless a button asked for a try or for another row.
func saveRuleForm(v *page.Visit) (string, error) {
	d, err := ruleEdit(v)
	if err != nil || v.Field("do") != "save" {
		return "", err
	}
	if d.refused != nil {
		return "", d.refused
	}
	request := alertrule.Saving{Rule: d.Rule, Strict: v.Field("anyway") == ""}
	if d.Rule.ID == 0 {
		saved, err := page.Call[alertrule.Saved](v, "/monit/rule/create", request)
		return fmt.Sprintf("/rules/%d", saved.ID), err
	}
	before, err := storedRule(v)
	if err == nil {
		err = v.Unchanged(page.Identity(before), before.UpdaterID)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("/rules/%d", d.Rule.ID), page.Do[alertrule.Saved](v, "/monit/rule/update", request)
}

// setAlertRuleStatus enables, disables or deletes a rule.
func setAlertRuleStatus(v *page.Visit) (string, error) {
	id := ruleID(v)
	switch to := v.Request.PathValue("to"); to {
	case "delete":
		return "/rules", page.Do[api.Removal](v, "/monit/rule/delete", alertrule.DeleteRequest{ID: id})
	case "enable", "disable":
		done, err := setEnabled(v, []uint64{id}, to == "enable")
		if err == nil && len(done) > 0 && done[0].Message != "" {
			err = page.Wrong(done[0].Message.English())
		}
		return fmt.Sprintf("/rules/%d", id), err
	}
	return "", v.NoSuchForm()
}
