package monitor

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
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

// storedDatasource returns the datasource of the address, or what a new one begins with, and the path of its block in it.
func storedDatasource(v *page.Visit) (s datasource.Item, path string, err error) {
	s = datasource.Item{TypeIdent: cmp.Or(v.Query("type"), "prometheus"), EdgeClusterName: datasource.DefaultCluster, Enabled: true}
	if !v.IsNew() {
		s, err = page.Call[datasource.Item](v, "/monit/datasource/info", datasource.InfoRequest{ID: page.Unsigned(v.Request.PathValue("id"))})
	}
	s.Payload = new(page.ValueOf(s.Payload)) // which a form may change
	return s, "payload." + s.TypeIdent, err
}

func editDatasource(v *page.Visit) (page.View, error) {
	s, path, err := storedDatasource(v)
	if err != nil {
		return nil, err
	}
	d := page.RecordForm{Titled: page.Titled(v.T("New datasource")), Back: "/datasources", Path: v.Path(),
		May: v.Who.May(auth.DatasourcesManage)}
	if v.IsNew() {
		for i := range reflect.TypeFor[datasource.Payload]().NumField() {
			kind := jsonName(reflect.TypeFor[datasource.Payload]().Field(i))
			d.Tabs = append(d.Tabs, page.TabLink{Link: page.Link{Path: "/datasources/new?type=" + kind, Text: kind}, Here: kind == s.TypeIdent})
		}
	} else {
		d.Titled, d.Delete = page.Titled(s.Name), v.Request.URL.Path+"/delete"
	}
	d.Text("name", v.T("Name"), s.Name, "")
	d.Text("note", v.T("Description"), s.Note, "")
	d.Text("address", v.T("Address"), s.Address, v.T(addressHints[s.TypeIdent]))
	d.Text("edge_cluster_name", v.T("Edge cluster"), s.EdgeClusterName, "")
	d.Check("enabled", v.T("Enabled"), s.Enabled)
	value, found := memberOf(&s, path)
	if !found || value.Kind() != reflect.Struct {
		return nil, v.NoSuchForm()
	}
	block(&d, v, path, value)
	d = d.Entered(v)
	if v.IsNew() {
		return d, nil
	}
	d.Buttons = []page.Button{{Do: "test", Text: v.T("Test connection")}}
	if v.Field("do") == "test" {
		shown, err := testDatasource(v)
		d.Shown = shown
		return d, err
	}
	states, err := datasourceStates(v)
	d.Shown = &page.Displayed{Title: v.T("How it answers"), Text: datasourceWords(v, states[s.ID])}
	return d, err
}

// addressHints are the forms of addresses, by type.
var addressHints = map[string]string{
	"prometheus": "Such as https://prometheus.example.com.", "loki": "Such as https://loki.example.com.",
	"victorialogs": "Such as https://logs.example.com.", "mysql": "Host and port, such as db.example.com:3306.",
	"postgres": "Host and port, such as db.example.com:5432.", "oracle": "Host and port, such as db.example.com:1521.",
	"clickhouse":    "Host and native port, such as db.example.com:9000; several with commas.",
	"elasticsearch": "Such as https://search.example.com:9200, several with commas; empty with a cloud ID.",
	"sls":           "The endpoint, such as cn-hangzhou.log.aliyuncs.com.",
}

// blockLabels name the members of the blocks, and blockChoices list the values of those that have few.
var (
	blockLabels = map[string]string{
		"basic_auth_enabled": "Sign in with user name and password", "basic_auth_username": "User name", "basic_auth_password": "Password",
		"headers": "Request headers, one name: value on each line", "params": "Query parameters, one name=value on each line",
		"username": "User name", "password": "Password", "database": "Database", "options": "Options, one name=value on each line",
		"tls_mode": "TLS", "ssl_mode": "TLS", "tls_enabled": "Connect with TLS", "tls_ca": "Trusted authorities, PEM",
		"tls_cert": "Client certificate, PEM", "tls_key": "Key of the client certificate, PEM", "tls_key_pwd": "Password of the key",
		"tls_skip_verify": "Accept any server certificate", "tls_server_name": "Name in the server's certificate",
		"tls_min_version": "Lowest version of TLS", "tls_max_version": "Highest version of TLS",
		"open_conns": "Connections at a time", "idle_conns": "Idle connections", "lifetime_seconds": "Longest life of a connection, in seconds",
		"timeout_mills": "Longest wait for a query, in milliseconds", "dial_timeout_mills": "Longest wait for a connection, in milliseconds",
		"max_execution_seconds": "Longest run of a query, in seconds",
		"deployment":            "Deployment", "cloud_id": "Cloud ID", "api_key": "API key of the cloud", "service_token": "Service token",
		"certificate_fingerprint": "SHA-256 of the certificate authority", "access_key_id": "ID of the access key",
		"access_key_secret": "Secret of the access key",
	}
	blockChoices = map[string][]string{
		"deployment": {"self-managed", "cloud"}, "tls_mode": {"", "disable", "require", "verify-full"},
		"ssl_mode":        {"", "disable", "require", "verify-ca", "verify-full"},
		"tls_min_version": {"", "1.0", "1.1", "1.2", "1.3"}, "tls_max_version": {"", "1.0", "1.1", "1.2", "1.3"},
	}
)

// block adds the inputs of the members of a block, with what they hold, but no passwords and keys.
func block(d *page.RecordForm, v *page.Visit, path string, block reflect.Value) {
	for _, f := range reflect.VisibleFields(block.Type()) {
		if f.Anonymous {
			continue
		}
		name := jsonName(f)
		text, _ := memberText(block.FieldByIndex(f.Index))
		in := page.FormField{Name: path + "." + name, Label: v.T(blockLabels[name]), Kind: "text", Value: text}
		switch f.Type.String() {
		case "*bool":
			in.Kind = "check"
		case "*int64":
			in.Kind = "number"
		case "[]string", "map[string]string":
			in.Kind = "long"
		}
		if f.Tag.Get("maxLength") == "262144" { // a certificate
			in.Kind = "long"
		}
		for _, choice := range blockChoices[name] {
			in.Kind, in.Options = "choice", append(in.Options, page.Option{Value: choice, Text: cmp.Or(choice, v.T("As usual"))})
		}
		if f.Tag.Get("secret") == "value" {
			in.Value = ""
			if text != "" {
				in.Hint = v.T("Empty: it stays as it is.")
			}
			if in.Kind == "text" {
				in.Kind = "password"
			}
		}
		if strings.HasPrefix(name, "tls_") || in.Kind == "number" || in.Kind == "long" {
			d.More = append(d.More, in)
		} else {
			d.Fields = append(d.Fields, in)
		}
	}
}

func saveDatasource(v *page.Visit) (string, error) {
	if v.Field("do") == "test" {
		return "", nil
	}
	s, path, err := storedDatasource(v)
	if err != nil {
		return "", err
	}
	s.Payload = &datasource.Payload{} // what is left empty is unset; a secret that is unset stays as it is
	if _, found := memberOf(&s, path); !found {
		return "", v.NoSuchForm()
	}
	for _, name := range slices.Sorted(maps.Keys(v.Request.PostForm)) {
		list := name == path+".headers" || name == path+".params" // one that is emptied must not stay as it is
		if !strings.HasPrefix(name, path+".") || v.Field(name) == "" && !list {
			continue
		}
		if at, found := memberOf(&s, name); found {
			err = cmp.Or(err, setMember(v, at, name))
		}
	}
	if err != nil {
		return "", err
	}
	name, note := v.Field("name"), v.Field("note")
	address, cluster := v.Field("address"), v.Field("edge_cluster_name")
	if v.IsNew() {
		return "/datasources", page.Do[datasource.Item](v, "/monit/datasource/create", datasource.CreateRequest{
			TypeIdent: s.TypeIdent, Name: name, Note: note, Address: address, EdgeClusterName: cluster, Payload: *s.Payload,
		})
	}
	return "/datasources", page.Do[datasource.Item](v, "/monit/datasource/update", datasource.UpdateRequest{
		ID: s.ID, TypeIdent: s.TypeIdent, Name: &name, Enabled: new(v.Field("enabled") != ""), Note: &note, Address: &address,
		EdgeClusterName: &cluster, Payload: s.Payload,
	})
}

func datasourceToDelete(v *page.Visit) datasource.DeleteRequest {
	return datasource.DeleteRequest{ID: page.Unsigned(v.Request.PathValue("id"))}
}

// testDatasource tests the connection of a stored datasource and shows its phases.
func testDatasource(v *page.Visit) (*page.Displayed, error) {
	reply, err := page.Call[datasource.TestReply](v, "/monit/datasource/test",
		datasource.TestRequest{ID: page.Unsigned(v.Request.PathValue("id"))})
	if err != nil {
		return nil, err
	}
	names := map[string]string{
		querier.PhaseResolve: v.T("Name of the host"), querier.PhaseDial: v.T("Connection to the host"), querier.PhaseTLS: "TLS",
		querier.PhaseSignIn: v.T("Signing in there"), querier.PhaseQuery: v.T("A small query"), "rights": v.T("What the account may do there"),
	}
	d := &page.Displayed{Title: v.T("Connection, as it is saved")}
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
