package monitor

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alertrule"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/datasource"
)

// ruleImportView is the page that reads rules of other systems: first what would become of each, then it saves them.
type ruleImportView struct {
	page.Titled
	Sources []datasource.Item
	Folders []page.Option
	Text    string
	Found   *alertrule.FileImport // nil: nothing was read
	Saved   bool
}

func showRuleImport(v *page.Visit) (page.View, error) {
	d := ruleImportView{Titled: page.Titled(v.T("Import rules")), Text: v.Request.PostFormValue("text"), Saved: v.Field("do") == "save"}
	d.Found, _ = v.Made.(*alertrule.FileImport)
	folders, err := ruleFolders(v)
	d.Folders = folderOptions(folders)
	if err != nil || !v.Who.May(auth.DatasourcesRead) {
		return d, err
	}
	d.Sources, err = page.Call[[]datasource.Item](v, "/monit/datasource/list", datasource.ListRequest{})
	return d, err
}

// importRules reads the rules that were pasted or uploaded, and saves them if the button for it was used.
func importRules(v *page.Visit) (string, error) {
	text, err := pastedFile(v, "text", "file")
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		return "", importExported(v, text)
	}
	request := alertrule.FileRequest{Text: text, DSID: page.Unsigned(v.Field("on")), FolderID: v.Number("folder_id")}
	request.Only = v.Field("do") != "save"
	found, err := page.Call[alertrule.FileImport](v, "/monit/rule/import/file", request)
	if err != nil {
		return "", err
	}
	v.Made = &found
	return "", nil
}

// importExported reads rules that the operation /monit/rule/export returned, and saves them if the button for it was used.
func importExported(v *page.Visit, text string) error {
	var rules alertrule.Imported
	if err := json.Unmarshal([]byte(text), &rules); err != nil {
		return page.Wrong(v.T("These are no exported rules: %s", err.Error()))
	}
	found := &alertrule.FileImport{}
	for i := range rules {
		rules[i].FolderID = v.Number("folder_id")
		found.Items = append(found.Items, alertrule.FileItem{Name: rules[i].Name, Status: "carried", Action: "create"})
	}
	v.Made = found
	if v.Field("do") != "save" {
		return nil
	}
	done, err := page.Call[[]alertrule.Done](v, "/monit/rule/import", rules)
	for i, one := range done {
		found.Items[i].Why = one.Message
		if one.Message != "" {
			found.Items[i].Status = "not_carried"
			continue
		}
		found.Created++
	}
	return err
}

// pastedFile returns the text of a field, or of the file that was uploaded instead, which then is the text of the field.
func pastedFile(v *page.Visit, field, file string) (string, error) {
	if err := v.Request.ParseMultipartForm(page.MaxForm); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return "", page.Wrong(v.T("The file cannot be read."))
	}
	if from, _, err := v.Request.FormFile(file); err == nil {
		defer from.Close() //nolint:errcheck // it is in memory
		text, err := io.ReadAll(from)
		if err != nil {
			return "", page.Wrong(v.T("The file cannot be read."))
		}
		if len(text) > 0 {
			v.Request.PostForm.Set(field, string(text))
		}
	}
	return v.Request.PostFormValue(field), nil
}
