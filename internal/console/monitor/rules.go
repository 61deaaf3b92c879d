package monitor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/rulefolder"
)

var watchRulePages = []page.Page{
	{Path: "/rules", Template: "rules", Tab: "rules", Show: showRules, Needs: page.ReadRules},
	{Path: "/rules/{id}", Template: "watch_rule", Tab: "rules", Show: showWatchRule, Needs: page.ReadRules},
}

var watchRuleActions = []page.Action{
	{Path: "/rules", Do: changeRules, Show: showRules, Template: "rules", Needs: manageRules},
}

// rulesView is the list of alert rules.
type rulesView struct {
	page.Titled
	page.Pager
	Query   string
	Folder  int64
	Tabs    []page.CountedLink
	Folders []page.CountedLink
	Places  []page.Option // the folders by their paths
	Rules   []watchRuleRow
	Blind   int // rules that are not known
	Here    string
	May     bool
	Kept    []alertrule.Done // rules that could not be changed
	Any     bool             // the account has a rule
}

// watchRuleRow is an alert rule in the list.
type watchRuleRow struct {
	alertrule.Basic
	Tags                   []stateTag
	Reads, Every, Channels string
	sort                   int
}

// stateTag is a state in a word or two.
type stateTag struct{ Class, Text string }

// ruleFilters are the parts of the list of rules.
var ruleFilters = []struct{ name, text string }{
	{"", "All"}, {"firing", "Firing"}, {"pending", "Pending"}, {"unknown", "Not known"}, {"disabled", "Paused"}, {"mine", "Mine"},
}

// within reports whether a rule is in a part of the list.
func (r *watchRuleRow) within(part string, me int64) bool {
	switch part {
	case "firing":
		return r.Enabled && r.Triggered
	case "pending":
		return r.Enabled && r.PendingCount > 0
	case "unknown":
		return r.Enabled && (r.RuntimeState == "abnormal" || r.RuntimeState == "no_datasource")
	case "disabled":
		return !r.Enabled
	case "mine":
		return r.CreatorID == me || r.UpdaterID == me
	}
	return true
}

func showRules(v *page.Visit) (page.View, error) {
	d := rulesView{
		Titled: page.Titled(v.T("Rules")), Pager: v.Pager(), Query: v.Query("q"), Folder: page.Number(v.Query("folder")),
		May: v.Who.MayAny(manageRules), Here: v.Request.URL.RequestURI(),
	}
	d.Kept, _ = v.Made.([]alertrule.Done)
	all, err := page.Call[[]alertrule.Basic](v, "/monit/rule/list/basic", alertrule.ListRequest{})
	if err != nil {
		return nil, err
	}
	folders, err := ruleFolders(v)
	if err != nil {
		return nil, err
	}
	d.Any, d.Places = len(all) > 0, folderOptions(folders)
	below := d.folders(v, folders, all)
	rows := []watchRuleRow{}
	for _, r := range all {
		if (d.Folder == 0 || below[r.FolderID]) && strings.Contains(strings.ToLower(r.Name), strings.ToLower(d.Query)) {
			rows = append(rows, watchRuleRowOf(v, r))
		}
	}
	d.part(v, rows)
	slices.SortStableFunc(d.Rules, func(a, b watchRuleRow) int {
		return cmp.Or(cmp.Compare(a.sort, b.sort), strings.Compare(a.Name, b.Name))
	})
	d.More = len(d.Rules) > int(d.Page)*page.PageSize
	first := min(int(d.Page-1)*page.PageSize, len(d.Rules))
	d.Rules = d.Rules[first:min(first+page.PageSize, len(d.Rules))]
	return d, d.name(v)
}

// ruleFolders returns all folders of rules, each behind its parent.
func ruleFolders(v *page.Visit) ([]rulefolder.Listed, error) {
	reply, err := page.Call[api.Items[rulefolder.Listed]](v, "/monit/folder/list", rulefolder.ListRequest{})
	return reply.Items, err
}

// folders fills in the folders with how many rules are in each and below it. It returns the folders that the shown folder holds.
func (d *rulesView) folders(v *page.Visit, all []rulefolder.Listed, rules []alertrule.Basic) map[int64]bool {
	above := map[int64]int64{}
	for _, f := range all {
		above[f.FolderID] = f.ParentID
	}
	counts := map[int64]int{}
	for _, r := range rules {
		for at := r.FolderID; at != 0; at = above[at] {
			counts[at]++
		}
	}
	shown := map[int64]bool{d.Folder: true}
	depth := map[int64]int{}
	d.Folders = []page.CountedLink{{Text: v.T("All"), Path: v.With("folder", ""), Count: len(rules), Here: d.Folder == 0}}
	for _, f := range all { // each behind its parent
		shown[f.FolderID] = shown[f.FolderID] || shown[f.ParentID] && f.ParentID != 0
		depth[f.FolderID] = depth[f.ParentID] + 1
		id := strconv.FormatInt(f.FolderID, 10)
		d.Folders = append(d.Folders, page.CountedLink{
			ID: f.FolderID, Text: f.FolderName, Path: v.With("folder",
				id), Count: counts[f.FolderID], Depth: depth[f.FolderID], Here: f.FolderID == d.Folder,
		})
	}
	return shown
}

// part fills in the rules of the part that is shown, and how many each part has.
func (d *rulesView) part(v *page.Visit, rows []watchRuleRow) {
	show := v.Query("show")
	for _, f := range ruleFilters {
		link := page.CountedLink{Text: v.T(f.text), Path: v.With("show", f.name), Here: f.name == show}
		for _, r := range rows {
			if !r.within(f.name, v.Who.PersonID) {
				continue
			}
			link.Count++
			if link.Here {
				d.Rules = append(d.Rules, r)
			}
		}
		if f.name == "unknown" {
			d.Blind = link.Count
		}
		d.Tabs = append(d.Tabs, link)
	}
}

// watchRuleRowOf returns a rule as the list shows it. Rules that need a person come first.
func watchRuleRowOf(v *page.Visit, r alertrule.Basic) watchRuleRow {
	row := watchRuleRow{Basic: r, Every: every(v, r.CronPattern)}
	row.sort = 9
	add := func(place int, class, text string) {
		row.sort = min(row.sort, place)
		row.Tags = append(row.Tags, stateTag{class, text})
	}
	if !r.Enabled {
		add(8, "muted", v.T("Paused"))
		return row
	}
	if r.Triggered {
		add(0, "crit", v.T("Firing %d", r.ActiveAlertCount))
	}
	switch {
	case r.RuntimeState == "no_datasource":
		add(1, "warn", v.T("No datasource"))
	case r.UnknownSince != 0:
		add(1, "warn", v.T("Not known for %s", v.Since(r.UnknownSince/1000)))
	case r.RuntimeState == "abnormal":
		add(1, "warn", v.T("Not known"))
	}
	if r.PendingCount > 0 {
		add(2, "warn", v.T("Pending %d", r.PendingCount))
	}
	switch {
	case len(row.Tags) > 0:
	case r.RuntimeState == "normal":
		add(4, "ok", v.T("Normal"))
	default:
		add(3, "muted", v.T("Not evaluated yet"))
	}
	return row
}

// every returns when a rule is evaluated: an interval in words, or the pattern.
func every(v *page.Visit, pattern string) string {
	if s, err := evaluate.ParseSchedule(pattern); err == nil && s.Every > 0 {
		return v.Span(int64(s.Every.Seconds()))
	}
	return pattern
}

// name fills in the names of the datasources and channels of the rules that are shown.
func (d *rulesView) name(v *page.Visit) error {
	sources, err := datasourceNames(v)
	if err != nil {
		return err
	}
	channels, err := v.ChannelNames()
	for i := range d.Rules {
		r := &d.Rules[i]
		r.Reads = reads(v, r.Sources, sources)
		var to []string
		for _, id := range r.ChannelIDs {
			to = append(to, cmp.Or(channels[id], strconv.FormatInt(id, 10)))
		}
		r.Channels = few(v, to)
	}
	return err
}

// datasourceNames returns the names of datasources by id; none for who may not read them.
func datasourceNames(v *page.Visit) (map[uint64]string, error) {
	names := map[uint64]string{}
	if !v.Who.May(auth.DatasourcesRead) {
		return names, nil
	}
	all, err := page.Call[[]datasource.Item](v, "/monit/datasource/list", datasource.ListRequest{})
	for _, s := range all {
		names[s.ID] = s.Name
	}
	return names, err
}

// reads returns the datasources of a rule in words.
func reads(v *page.Visit, s alertrule.Sources, names map[uint64]string) string {
	list := slices.Clone(s.DSList)
	for _, id := range s.DSIDs {
		list = append(list, cmp.Or(names[id], v.T("datasource %d", id)))
	}
	return few(v, list)
}

// few returns the first of a list, and how many more there are.
func few(v *page.Visit, list []string) string {
	const most = 3
	text := strings.Join(list[:min(most, len(list))], v.T(", "))
	if more := len(list) - most; more > 0 {
		return v.T("%s and %d more", text, more)
	}
	return text
}

// changeRules enables, disables, moves or deletes the rules that were chosen, or leads to the form that changes them.
func changeRules(v *page.Visit) (string, error) {
	ids := []uint64{}
	for _, text := range v.Request.PostForm["rule"] {
		ids = append(ids, page.Unsigned(text))
	}
	here := v.Request.URL.RequestURI()
	switch to := v.Field("to"); {
	case len(ids) == 0:
		return "", page.Wrong(v.T("Choose at least one rule."))
	case to == "change":
		return changeLink(ids), nil
	case to == "delete":
		return here, page.Do[api.Removal](v, "/monit/rule/delete/batch", alertrule.BatchRequest{IDs: ids})
	case to == "move":
		request := alertrule.MoveRequest{IDs: ids, DestFolderID: v.Number("folder")}
		done, err := page.Call[[]alertrule.Done](v, "/monit/rule/move", request)
		return keepOr(v, done, here, err)
	default:
		done, err := setEnabled(v, ids, to == "enable")
		return keepOr(v, done, here, err)
	}
}

// setEnabled enables or disables rules.
func setEnabled(v *page.Visit, ids []uint64, enabled bool) ([]alertrule.Done, error) {
	request := alertrule.FieldsRequest{IDs: ids, Fields: []string{"enabled"}, Enabled: &enabled}
	return page.Call[[]alertrule.Done](v, "/monit/rule/update/fields", request)
}
