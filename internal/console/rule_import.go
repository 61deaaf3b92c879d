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
	d.Folders, err = itemsOf[rulefolder.Listed](v, "/monit/folder/list")
	if err != nil || !v.who.May(auth.DatasourcesRead) {
		return d, err
	}
	return d, v.call("/monit/datasource/list", struct{}{}, &d.Sources)
}

// importRules reads the rules that were pasted or uploaded, and saves them if the button for it was used.
func importRules(v *visit) (string, error) {
	text, err := v.pastedFile("text", "file")
	if err != nil {
		return "", err
	}
	var found alertrule.FileImport
	request := map[string]any{
		"text": text, "ds_id": unsigned(v.field("on")), "folder_id": formNumber(v, "folder_id"), "dry_run": v.field("do") != "save",
	}
	if err := v.call("/monit/rule/import/file", request, &found); err != nil {
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
