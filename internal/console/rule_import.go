package console

import (
	"errors"
	"io"
	"net/http"

	"tocsin/internal/alertrule"
	"tocsin/internal/auth"
	"tocsin/internal/datasource"
	"tocsin/internal/rulefolder"
)

// ruleImportView is the page that reads rules of other systems: first what would become of each, then it saves them.
type ruleImportView struct {
	titled
	Sources []datasource.Item
	Folders []rulefolder.Listed
	Text    string
	Found   *alertrule.FileImport // nil: nothing was read
	Saved   bool
}

func showRuleImport(v *visit) (view, error) {
	d := ruleImportView{titled: titled(v.T("Import rules")), Text: v.r.PostFormValue("text"), Saved: v.field("do") == "save"}
	d.Found, _ = v.made.(*alertrule.FileImport)
	var err error
	d.Folders, err = v.ruleFolders()
	if err != nil || !v.who.May(auth.DatasourcesRead) {
		return d, err
	}
	d.Sources, err = call[[]datasource.Item](v, "/monit/datasource/list", datasource.ListRequest{})
	return d, err
}

// importRules reads the rules that were pasted or uploaded, and saves them if the button for it was used.
func importRules(v *visit) (string, error) {
	text, err := v.pastedFile("text", "file")
	if err != nil {
		return "", err
	}
	request := alertrule.FileRequest{Text: text, DSID: unsigned(v.field("on")), FolderID: formNumber(v, "folder_id")}
	request.Only = v.field("do") != "save"
	found, err := call[alertrule.FileImport](v, "/monit/rule/import/file", request)
	if err != nil {
		return "", err
	}
	v.made = &found
	return "", nil
}

// pastedFile returns the text of a field, or of the file that was uploaded instead, which then is the text of the field.
func (v *visit) pastedFile(field, file string) (string, error) {
	if err := v.r.ParseMultipartForm(maxForm); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return "", wrong(v.T("The file cannot be read."))
	}
	if from, _, err := v.r.FormFile(file); err == nil {
		defer from.Close() //nolint:errcheck // it is in memory
		text, err := io.ReadAll(from)
		if err != nil {
			return "", wrong(v.T("The file cannot be read."))
		}
		if len(text) > 0 {
			v.r.PostForm.Set(field, string(text))
		}
	}
	return v.r.PostFormValue(field), nil
}
