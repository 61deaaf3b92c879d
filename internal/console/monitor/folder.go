package monitor

import (
	"fmt"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/rulefolder"
)

var folderPages = []page.Page{{Path: "/rule-folders/{id}", Template: "record", Tab: "rules", Show: editFolder, Needs: manageRules}}

var folderActions = []page.Action{
	{Path: "/rule-folders/{id}", Do: saveFolder, Show: editFolder, Template: "record", Needs: manageRules},
	{Path: "/rule-folders/{id}/delete", Do: page.Does[api.Removal]("/monit/folder/delete", "/rules", folderToDelete), Needs: manageRules},
}

var folderForm = page.Form{Operations: []string{"/monit/folder/create", "/monit/folder/update"}, Members: []page.Member{
	{Path: "folder_name", Label: "Name"},
	{Path: "parent_id", Label: "In the folder", Choices: foldersAbove},
	{Path: "team_id", Label: "Team", Kind: page.Teams},
	{Path: "note", Label: "Description", Kind: page.Long},
}}

// foldersAbove returns the folders in which the folder of the address can be: it is not in itself, and the first is in none.
func foldersAbove(v *page.Visit) ([]page.Option, error) {
	options := []page.Option{{Value: "0", Text: v.T("None")}}
	if v.ID() == rulefolder.First {
		return options, nil
	}
	all, err := ruleFolders(v)
	within := map[int64]bool{v.ID(): !v.IsNew()}
	for _, f := range all { // each behind its parent
		within[f.FolderID] = within[f.FolderID] || within[f.ParentID]
	}
	for _, o := range folderOptions(all) {
		if !within[page.Number(o.Value)] {
			options = append(options, o)
		}
	}
	return options, err
}

// folderOptions returns the folders with those above each in its name.
func folderOptions(all []rulefolder.Listed) (options []page.Option) {
	paths := map[int64]string{}
	for _, f := range all { // each behind its parent
		paths[f.FolderID] = f.FolderName
		if above := paths[f.ParentID]; above != "" {
			paths[f.FolderID] = above + " › " + f.FolderName
		}
		options = append(options, page.Option{Value: strconv.FormatInt(f.FolderID, 10), Text: paths[f.FolderID]})
	}
	return options
}

func folderPath(id int64) string { return fmt.Sprintf("/rules?folder=%d", id) }

func editFolder(v *page.Visit) (page.View, error) {
	d := page.RecordForm{Titled: page.Titled(v.T("New folder of rules")), Back: "/rules", Path: v.Request.URL.Path, May: true}
	if v.IsNew() {
		return &d, folderForm.Draw(v, &d, rulefolder.Folder{ParentID: page.Number(v.Query("parent"))})
	}
	all, err := ruleFolders(v)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(f rulefolder.Listed) bool { return f.FolderID == v.ID() })
	if at < 0 {
		return nil, page.NotHere(v)
	}
	d.Titled, d.Back = page.Titled(all[at].FolderName), folderPath(v.ID())
	if v.ID() != rulefolder.First {
		d.Delete = d.Path + "/delete"
	}
	return &d, folderForm.Draw(v, &d, all[at].Folder)
}

func saveFolder(v *page.Visit) (string, error) {
	if v.IsNew() {
		var request rulefolder.CreateRequest
		if err := folderForm.Read(v, &request); err != nil {
			return "", err
		}
		made, err := page.Call[rulefolder.Named](v, "/monit/folder/create", request)
		return folderPath(made.FolderID), err
	}
	request := rulefolder.UpdateRequest{FolderID: v.ID()}
	if err := folderForm.Read(v, &request); err != nil {
		return "", err
	}
	return folderPath(v.ID()), page.Do[rulefolder.Named](v, "/monit/folder/update", request)
}

func folderToDelete(v *page.Visit) rulefolder.DeleteRequest {
	return rulefolder.DeleteRequest{FolderID: v.ID()}
}
