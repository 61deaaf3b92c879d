package architecture

import (
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// withoutInput is the list of the members that no page of the console enters: ids and moments that the server sets, names that other
// clients use for the same, and members that still lack an input.
const withoutInput = "testdata/members_without_input.txt"

// needsNoInput are the fields that a console has a reason not to enter, and the operations that take what it does not ask for member by
// member, with the reason.
var needsNoInput = map[string]string{
	"tocsin/internal/schedule.Body.Name":                               "schedule_name under an older name",
	"tocsin/internal/schedule.Body.GroupID":                            "team_id under an older name",
	"tocsin/internal/schedule.Body.Disabled":                           "status under an older name",
	"tocsin/internal/schedule.CreateRequest.ScheduleID":                "it is not used",
	"tocsin/internal/channel.Body.PluginIDs":                           "it has no effect",
	"tocsin/internal/channel.Body.DisableOutlierDetection":             "it has no effect",
	"tocsin/internal/channel.Body.IsExternalReportEnabled":             "it has no effect",
	"tocsin/internal/channel.SilenceBody.FromIncidentID":               "the page of the incident silences it by another operation",
	"tocsin/internal/datasource.CreateRequest.ID":                      "it is refused: the server chooses it",
	"tocsin/internal/rum.AlertingInput.IntegrationID":                  "it is not used",
	"tocsin/internal/rum.ApplicationCreateRequest.TracingAlias":        "tracing under another name",
	"tocsin/internal/rum.ApplicationUpdateRequest.TracingAlias":        "tracing under another name",
	"tocsin/internal/rum.IssueFilter.TeamIDs":                          "a page has the errors of one application",
	"tocsin/internal/rum.IssueFilter.DQL":                              "it must be empty",
	"tocsin/internal/rum.IssueFilter.SQL":                              "it must be empty",
	"tocsin/internal/rum.IssueFilter.ErrorRequired":                    "only issues of an account file have no error",
	"tocsin/internal/integration.Settings.PreviousSignSecret":          "it is set by replacing the secret",
	"tocsin/internal/integration.Settings.PreviousSignSecretExpiresAt": "it is set by replacing the secret",
	"tocsin/internal/integration.Settings.SignSecretRotatedAt":         "it is set by replacing the secret",
	"/monit/rule/import":                                               "the page of import takes the rules as they were exported",
	"tocsin/internal/alertrule.Stamps.AccountID":                       "the server sets it",
	"tocsin/internal/alertrule.Stamps.CreatorID":                       "the server sets it",
	"tocsin/internal/alertrule.Stamps.CreatorName":                     "the server sets it",
	"tocsin/internal/alertrule.Stamps.CreatedAt":                       "the server sets it",
	"tocsin/internal/alertrule.Stamps.UpdaterID":                       "the server sets it",
	"tocsin/internal/alertrule.Stamps.UpdaterName":                     "the server sets it",
	"tocsin/internal/alertrule.Stamps.UpdatedAt":                       "the server sets it",
	"tocsin/internal/engine/webhook.TestRequest.WaitSeconds":           "of programs: a page waits for as long as is usual",
	"tocsin/internal/incident.AssignedTo.AssignedAt":                   "the server sets it",
	"tocsin/internal/incident.AssignedTo.EscalateRuleName":             "the server sets it",
	"tocsin/internal/incident.AssignedTo.ID":                           "the server sets it",
	"tocsin/internal/incident.AssignedTo.Type":                         "the server sets it",
	"tocsin/internal/incident.CommentRequest.MuteReply":                "it is kept as sent, without effect",
	"tocsin/internal/person.InviteRequest.From":                        "it is not used",
	"tocsin/internal/person.MemberNames.CountryCode":                   "a page names the person by id",
	"tocsin/internal/person.MemberNames.Email":                         "a page names the person by id",
	"tocsin/internal/person.MemberNames.MemberName":                    "a page names the person by id",
	"tocsin/internal/person.MemberNames.Phone":                         "a page names the person by id",
	"tocsin/internal/person.MemberNames.RefID":                         "a page names the person by id",
	"tocsin/internal/person.MemberResetRequest.Updates":                "the same members under another name",
	"tocsin/internal/preference.StatusPage.IMIntegrations":             "it is kept as sent, without effect",
	"tocsin/internal/preference.UpdateRequest.StatusPage":              "it is kept as sent, without effect",
	"tocsin/internal/schedule.Group.End":                               "of timelines: 0 in a layer",
	"tocsin/internal/schedule.Group.Name":                              "group_name under an older name",
	"tocsin/internal/schedule.Group.Start":                             "of timelines: 0 in a layer",
	"tocsin/internal/schedule.WrittenLayer.AccountID":                  "the server sets it",
	"tocsin/internal/schedule.WrittenLayer.CreateAt":                   "the server sets it",
	"tocsin/internal/schedule.WrittenLayer.CreateBy":                   "the server sets it",
	"tocsin/internal/schedule.WrittenLayer.ScheduleID":                 "the server sets it",
	"tocsin/internal/schedule.WrittenLayer.UpdateAt":                   "the server sets it",
	"tocsin/internal/schedule.WrittenLayer.UpdateBy":                   "the server sets it",
	"tocsin/internal/statuspage.ComponentChange.Name":                  "of replies: the page has it",
	"tocsin/internal/team.Named.RefID":                                 "a page names the team by id",
	"tocsin/internal/team.Named.TeamName":                              "a page names the team by id",
	"tocsin/internal/team.UpsertRequest.ResetIfNameExist":              "a page names the team by id",
}

// TestMemberOfWriteHasInput reads each operation that writes: each member of its request is set somewhere in the console, has a reason not
// to be, or stands in the list. A new member needs an input, and the list only becomes shorter.
func TestMemberOfWriteHasInput(t *testing.T) {
	set, entered := map[string]bool{}, map[string]bool{}
	requests := map[string]types.Type{}
	for _, s := range sources(t) {
		for _, o := range typedOperations(s) {
			if o.writes {
				requests[o.path] = o.in
			}
		}
		if s.name == "console" || strings.HasPrefix(s.name, "console/") {
			fieldsSet(s, set)
			formsEnter(s, entered)
		}
	}
	if len(requests) < 150 {
		t.Errorf("%d operations that write were found", len(requests))
	}
	listed, err := os.ReadFile(withoutInput)
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for path, in := range requests {
		without := []string{} // objects that need no input, and so do their members
		for _, m := range members(in) {
			at := path + " " + m.path
			if needsNoInput[m.field] != "" || needsNoInput[path] != "" {
				without = append(without, at+".")
			}
			_, found := entered[at]
			none := slices.ContainsFunc(without, func(object string) bool { return strings.HasPrefix(at+".", object) })
			if !set[m.field] && !found && !none {
				missing[at] = true
			}
			delete(entered, at)
		}
	}
	for at, must := range entered {
		if !must {
			continue
		}
		t.Errorf("a form has a member that its operation lacks: %s", at)
	}
	for line := range strings.Lines(string(listed)) {
		at := strings.TrimSpace(line)
		if !missing[at] {
			t.Errorf("%s has an input, or is no member: remove it from the list", at)
		}
		delete(missing, at)
	}
	for _, at := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("no page of the console enters %s", at)
	}
}

// member is a member of a request: its path in JSON, and its field in Go.
type member struct{ path, field string }

// members returns the members of a request that hold no further members.
func members(in types.Type) []member {
	all, seen := []member{}, map[string]bool{}
	var walk func(t types.Type, path string)
	walk = func(t types.Type, path string) {
		t = types.Unalias(t)
		switch of := t.Underlying().(type) {
		case *types.Pointer:
			walk(of.Elem(), path)
		case *types.Slice:
			walk(of.Elem(), path+"[]")
		case *types.Map:
			walk(of.Elem(), path+"{}")
		case *types.Struct:
			if seen[written(t)] {
				return
			}
			seen[written(t)] = true
			for i := range of.NumFields() {
				f := of.Field(i)
				name, options, _ := strings.Cut(reflect.StructTag(of.Tag(i)).Get("json"), ",")
				if !f.Exported() || name == "-" {
					continue
				}
				if f.Embedded() || strings.Contains(options, "inline") {
					walk(f.Type(), path)
					continue
				}
				at := name
				if path != "" {
					at = path + "." + name
				}
				all = append(all, member{at, owned(t, f)})
				walk(f.Type(), at)
			}
			delete(seen, written(t)) // another member may have the type too
		}
	}
	walk(in, "")
	return all
}

// owned names a field with the type that has it.
func owned(t types.Type, f *types.Var) string {
	if named, ok := t.(*types.Named); ok {
		return written(named.Origin()) + "." + f.Name()
	}
	return written(t) + "." + f.Name()
}

// fieldsSet adds the fields that a package sets.
func fieldsSet(s *source, set map[string]bool) {
	selected := func(e ast.Expr) {
		sel, ok := e.(*ast.SelectorExpr)
		if !ok || s.info.Selections[sel] == nil {
			return
		}
		selection := s.info.Selections[sel]
		t := selection.Recv()
		for _, i := range selection.Index() {
			if p, ok := types.Unalias(t).Underlying().(*types.Pointer); ok {
				t = p.Elem()
			}
			of, ok := t.Underlying().(*types.Struct)
			if !ok {
				return
			}
			set[owned(types.Unalias(t), of.Field(i))] = true
			t = of.Field(i).Type()
		}
	}
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				t := types.Unalias(s.info.Types[n].Type)
				if p, ok := t.Underlying().(*types.Pointer); ok {
					t = types.Unalias(p.Elem())
				}
				of, ok := t.Underlying().(*types.Struct)
				if !ok {
					return true
				}
				for i, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						key, _ := kv.Key.(*ast.Ident)
						for j := range of.NumFields() {
							if key != nil && of.Field(j).Name() == key.Name {
								set[owned(t, of.Field(j))] = true
							}
						}
						continue
					}
					set[owned(t, of.Field(i))] = true
				}
			case *ast.AssignStmt:
				for _, l := range n.Lhs {
					selected(l)
				}
			case *ast.UnaryExpr:
				selected(n.X)
			}
			return true
		})
	}
}

// formsEnter adds the members that the forms of a package enter, after the path of their operation: true for those that the operation
// must have, false for those of an object that share their inputs with others.
func formsEnter(s *source, entered map[string]bool) {
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || written(s.info.Types[literal].Type) != "tocsin/internal/console/page.Form" {
				return true
			}
			var operations []string
			ast.Inspect(element(literal, "Operations"), func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok {
					operations = append(operations, constant.StringVal(s.info.Types[text].Value))
				}
				return true
			})
			for _, path := range membersOf(s, literal, "Members") {
				path, shared := strings.CutSuffix(path, sharedMember)
				for _, operation := range operations {
					entered[operation+" "+path] = !shared
				}
			}
			return true
		})
	}
}

// sharedMember ends the path of a member that not every object has whose members the form enters.
const sharedMember = "?"

// membersOf returns the paths of the members in a field of a literal, with the objects on the way and with the rows of lists.
func membersOf(s *source, literal *ast.CompositeLit, field string) (all []string) {
	list := s.literal(element(literal, field))
	if list == nil {
		return nil
	}
	for _, e := range list.Elts {
		one := s.literal(e)
		if one == nil {
			return append(all, s.at(e)+" is no literal")
		}
		path := constant.StringVal(s.info.Types[element(one, "Path")].Value)
		for i, c := range path {
			if c == '.' {
				all = append(all, path[:i])
			}
		}
		all = append(all, path)
		for _, row := range membersOf(s, one, "Rows") {
			all = append(all, path+"[]."+row)
		}
		for _, part := range membersOf(s, one, "Each") {
			all = append(all, path+"."+part+sharedMember)
		}
	}
	return all
}

// literal returns a composite literal, or that of the variable that an expression names; nil: it is neither.
func (s *source) literal(e ast.Expr) (found *ast.CompositeLit) {
	name, ok := e.(*ast.Ident)
	if !ok {
		found, _ = e.(*ast.CompositeLit)
		return found
	}
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 && s.info.Defs[v.Names[0]] == s.info.Uses[name] {
				found, _ = v.Values[0].(*ast.CompositeLit)
			}
			return true
		})
	}
	return found
}
