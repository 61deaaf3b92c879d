package monitor

import (
	"cmp"
	"fmt"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/monitor"
	"tocsin/internal/querier"
)

var datasourcePages = []page.Page{
	{Path: "/datasources", Template: "records", Tab: "rules", Show: showDatasources},
	{Path: "/datasources/{id}", Template: "record", Tab: "rules", Show: editDatasource},
}

var datasourceActions = []page.Action{
	{Path: "/datasources/{id}", Do: saveDatasource, Show: editDatasource, Template: "record", Needs: page.Rights{auth.DatasourcesManage}},
	{Path: "/datasources/{id}/delete", Do: page.Does[api.Removal]("/monit/datasource/delete", "/datasources", datasourceToDelete),
		Needs: page.Rights{auth.DatasourcesManage}},
}

func showDatasources(v *page.Visit) (page.View, error) {
	d := page.RecordList{Titled: page.Titled(v.T("Datasources")), Intro: v.T("Where rules read from."),
		None: v.T("There is no datasource yet.")}
	if v.Who.May(auth.DatasourcesManage) {
		d.New, d.NewText = "/datasources/new", v.T("New datasource")
	}
	all, err := page.Call[[]datasource.Item](v, "/monit/datasource/list", datasource.ListRequest{})
	if err != nil {
		return nil, err
	}
	states, err := datasourceStates(v)
	for _, s := range all {
		state := states[s.ID]
		row := page.RecordRow{
			Path: fmt.Sprintf("/datasources/%d", s.ID), Name: s.Name, Tags: []string{s.TypeIdent, s.EdgeClusterName},
			About: strings.TrimSpace(s.Note + " " + datasourceWords(v, state)),
		}
		if s.Address != "" {
			row.Tags = append(row.Tags, s.Address)
		}
		switch {
		case !s.Enabled:
			row.Warnings = []string{v.T("Disabled")}
		case state.State == monitor.SourceLost:
			row.Warnings = []string{v.T("Does not answer")}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

// storedDatasource returns the datasource of the address, or what a new one begins with.
func storedDatasource(v *page.Visit) (s datasource.Item, err error) {
	s = datasource.Item{TypeIdent: cmp.Or(v.Query("type"), "prometheus"), EdgeClusterName: datasource.DefaultCluster, Enabled: true}
	if !v.IsNew() {
		s, err = page.Call[datasource.Item](v, "/monit/datasource/info", datasource.InfoRequest{ID: page.Unsigned(v.Request.PathValue("id"))})
	}
	s.Payload = new(page.ValueOf(s.Payload)) // to which the form adds a block
	return s, err
}

// hasBlock adds the block of a type to a datasource, or to a request for one. It reports whether there is such a type.
func hasBlock(to any, kind string) bool {
	return page.Allocate(to, "payload."+kind)
}

func editDatasource(v *page.Visit) (page.View, error) {
	s, err := storedDatasource(v)
	if err != nil {
		return nil, err
	}
	d := page.RecordForm{Titled: page.Titled(v.T("New datasource")), Back: "/datasources", Path: v.Path(),
		May: v.Who.May(auth.DatasourcesManage), Buttons: []page.Button{{Do: "test", Text: v.T("Test connection")}}}
	if v.IsNew() {
		for _, one := range datasourceTypes {
			link := page.Link{Path: "/datasources/new?type=" + one.kind, Text: one.product}
			d.Tabs = append(d.Tabs, page.TabLink{Link: link, Here: one.kind == s.TypeIdent})
		}
	} else {
		d.Titled, d.Delete = page.Titled(s.Name), v.Request.URL.Path+"/delete"
	}
	if !hasBlock(&s, s.TypeIdent) {
		return nil, v.NoSuchForm()
	}
	if err := datasourceForm.Draw(v, &d, s); err != nil {
		return nil, err
	}
	d.Fields[1].Hint = v.T(addressHints[s.TypeIdent])
	if v.IsNew() && v.Field("do") != "test" {
		return &d, nil
	}
	if !v.IsNew() {
		if err := enabledForm.Draw(v, &d, s); err != nil {
			return nil, err
		}
	}
	d.Shown, err = datasourceAnswers(v, s)
	return &d, err
}

// datasourceAnswers returns what is beside the form: the result of a test, else how the datasource answers its rules.
func datasourceAnswers(v *page.Visit, s datasource.Item) (*page.Displayed, error) {
	if v.Field("do") == "test" {
		return testDatasource(v, s)
	}
	states, err := datasourceStates(v)
	return &page.Displayed{Title: v.T("How it answers"), Text: datasourceWords(v, states[s.ID])}, err
}

// readDatasource sets the members of a request to what was entered for a datasource of a type.
func readDatasource(v *page.Visit, kind string, request any) error {
	if !hasBlock(request, kind) {
		return v.NoSuchForm()
	}
	return datasourceForm.Read(v, request)
}

func saveDatasource(v *page.Visit) (string, error) {
	if v.Field("do") == "test" {
		return "", nil
	}
	s, err := storedDatasource(v)
	if err != nil {
		return "", err
	}
	if v.IsNew() {
		request := datasource.CreateRequest{TypeIdent: s.TypeIdent}
		if err := readDatasource(v, s.TypeIdent, &request); err != nil {
			return "", err
		}
		return "/datasources", page.Do[datasource.Item](v, "/monit/datasource/create", request)
	}
	request := datasource.UpdateRequest{ID: s.ID, TypeIdent: s.TypeIdent}
	err = cmp.Or(readDatasource(v, s.TypeIdent, &request), enabledForm.Read(v, &request))
	if err != nil {
		return "", err
	}
	return "/datasources", page.Do[datasource.Item](v, "/monit/datasource/update", request)
}

func datasourceToDelete(v *page.Visit) datasource.DeleteRequest {
	return datasource.DeleteRequest{ID: page.Unsigned(v.Request.PathValue("id"))}
}

// testDatasource tests a connection and shows its phases: that of a stored datasource as it is saved, because what is stored of its
// credentials must not be sent to an address that was only typed.
func testDatasource(v *page.Visit, s datasource.Item) (*page.Displayed, error) {
	d := &page.Displayed{Title: v.T("Connection, as it is saved")}
	request := datasource.TestRequest{ID: s.ID}
	if v.IsNew() {
		d.Title = v.T("Connection")
		request.TypeIdent = s.TypeIdent
		err := readDatasource(v, s.TypeIdent, &request)
		if err != nil {
			return d, refusedIn(v, d, err)
		}
	}
	reply, err := page.Call[datasource.TestReply](v, "/monit/datasource/test", request)
	if err != nil {
		return d, refusedIn(v, d, err)
	}
	names := map[string]string{
		querier.PhaseResolve: v.T("Name of the host"), querier.PhaseDial: v.T("Connection to the host"), querier.PhaseTLS: "TLS",
		querier.PhaseSignIn: v.T("Signing in there"), querier.PhaseQuery: v.T("A small query"), "rights": v.T("What the account may do there"),
	}
	var lines []string
	for _, p := range reply.Phases {
		if !p.OK {
			d.Failure = names[p.Name] + ": " + p.Message
			break
		}
		lines = append(lines, fmt.Sprintf("✓ %s, %d ms", names[p.Name], p.TookMS))
	}
	d.Text = strings.Join(lines, "\n")
	return d, nil
}

// refusedIn shows why an operation was refused, and returns every other error.
func refusedIn(v *page.Visit, d *page.Displayed, err error) (other error) {
	d.Failure, other = attempted(v, err)
	return other
}

// datasourceStates returns how datasources answer their rules, by id.
func datasourceStates(v *page.Visit) (map[uint64]monitor.DatasourceState, error) {
	reply, err := page.Call[api.Items[monitor.DatasourceState]](v, "/monit/datasource/state", monitor.AllDatasources{})
	states := map[uint64]monitor.DatasourceState{}
	for _, s := range reply.Items {
		states[s.DSID] = s
	}
	return states, err
}

// datasourceWords returns in words how a datasource answers its rules.
func datasourceWords(v *page.Visit, s monitor.DatasourceState) string {
	if s.State == monitor.SourceUnused {
		return v.T("No rule that is enabled asks it.")
	}
	words := v.T("Rules on it: %d.", s.Rules)
	if s.State == monitor.SourceLost {
		words += " " + v.T("It has not answered since %s: %s", v.When(s.Since/1000), s.Reason)
	}
	if s.LastAt > 0 {
		words += " " + v.T("Last answer %s, in %d ms.", v.When(s.LastAt/1000), s.TookMS)
	}
	return words
}
