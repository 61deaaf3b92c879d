package rulefolder_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/rulefolder"
)

const (
	createPath = "/monit/folder/create"
	updatePath = "/monit/folder/update"
	deletePath = "/monit/folder/delete"
	listPath   = "/monit/folder/list"
)

func start(t *testing.T) *apitest.Server {
	t.Helper()
	s := apitest.Start(t, (&rulefolder.Service{Rules: func(*db.Tx, int64) (map[int64]int64, error) { return map[int64]int64{1: 5}, nil }}).Ops())
	s.Grant(auth.AlertingRulesRead)
	return s
}

// made creates a folder and returns its id.
func made(s *apitest.Server, parent int64, name string) int64 {
	var f struct {
		FolderID int64 `json:"folder_id"`
	}
	s.Call(apitest.KeyA, createPath, fmt.Sprintf(`{"parent_id": %d, "folder_name": %q}`, parent, name)).Into(&f)
	return f.FolderID
}

func TestFolders(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Scenarios(t, listPath, []apitest.Scenario{
		{Name: "every account has one", Body: `{}`, Golden: "monit_folder_list",
			Data: `{"items": [{"folder_id": 1, "parent_id": 0, "folder_name": "Rules", "note": "", "team_id": 0, "created_at": 0, "updated_at": 0, "rule_total": 5}]}`},
		{Name: "reader", Key: apitest.KeyReader, Body: `{}`},
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied"},
	})
	shop := made(s, 0, "Shop")
	deep := shop
	for i := range 4 {
		deep = made(s, deep, fmt.Sprint("Level ", i+2))
	}
	s.Scenarios(t, createPath, []apitest.Scenario{
		{Name: "the name is taken", Body: `{"folder_name": "Shop"}`, Code: "InvalidParameter", Says: []string{"folder_name", "Shop"}},
		{Name: "the name of the first is taken", Body: `{"folder_name": "Rules"}`, Code: "InvalidParameter", Says: []string{"folder_name", "Rules"}},
		{Name: "the same name elsewhere", Body: fmt.Sprintf(`{"parent_id": %d, "folder_name": "Rules"}`, shop)},
		{Name: "unknown parent", Body: `{"parent_id": 9, "folder_name": "x"}`, Code: "InvalidParameter", Says: []string{"parent_id", "9"}},
		{Name: "too deep", Body: fmt.Sprintf(`{"parent_id": %d, "folder_name": "x"}`, deep), Code: "InvalidParameter", Says: []string{"parent_id", "5 deep", "6"}},
		{Name: "unknown team", Body: `{"folder_name": "x", "team_id": 7}`, Code: "InvalidParameter", Says: []string{"team_id", "7"}},
		{Name: "name of 60", Body: fmt.Sprintf(`{"folder_name": "%060d"}`, 1), Code: "InvalidParameter", Says: []string{"folder_name", "59"}},
		{Name: "reader", Key: apitest.KeyReader, Body: `{"folder_name": "x"}`, Code: "AccessDenied"},
	})
	s.Scenarios(t, updatePath, []apitest.Scenario{
		{Name: "the first has a name", Body: `{"folder_id": 1, "folder_name": "All", "note": "n"}`, Golden: "monit_folder_update"},
		{Name: "the first stays where it is", Body: fmt.Sprintf(`{"folder_id": 1, "parent_id": %d}`, shop), Code: "InvalidParameter", Says: []string{"parent_id"}},
		{Name: "below itself", Body: fmt.Sprintf(`{"folder_id": %d, "parent_id": %d}`, shop, deep), Code: "InvalidParameter", Says: []string{"parent_id", "below"}},
		{Name: "too deep with what is below", Body: fmt.Sprintf(`{"folder_id": %d, "parent_id": 1}`, shop), Code: "InvalidParameter", Says: []string{"5 deep"}},
		{Name: "unknown", Body: `{"folder_id": 9}`, Code: "ResourceNotFound"},
		{Name: "another account's", Key: apitest.KeyB, Body: fmt.Sprintf(`{"folder_id": %d}`, shop), Code: "ResourceNotFound"},
	})
	s.Write(func(tx *db.Tx) error {
		return configstore.SetReferences(tx, apitest.AccountA, configstore.RefFrom(configstore.AlertRule, 5, "Disk full"), rulefolder.RefTo(deep), rulefolder.RefTo(1))
	})
	s.Scenarios(t, deletePath, []apitest.Scenario{
		{Name: "the first", Body: `{"folder_id": 1}`, Code: "BadRequest", Says: []string{"every account"}},
		{Name: "a folder below", Body: fmt.Sprintf(`{"folder_id": %d}`, shop), Code: "ReferenceExist", Says: []string{"rule_folder"}},
		{Name: "a rule in it", Body: fmt.Sprintf(`{"folder_id": %d}`, deep), Code: "ReferenceExist", Says: []string{"Disk full"}},
		{Name: "unknown", Body: `{"folder_id": 9}`, Code: "ResourceNotFound"},
		{Name: "done", Body: fmt.Sprintf(`{"folder_id": %d}`, made(s, 0, "Empty")), Golden: "monit_folder_delete"},
	})
	r := s.Call(apitest.KeyA, createPath, `{"folder_name": "Payment"}`)
	var f struct {
		FolderID int64 `json:"folder_id"`
	}
	r.Into(&f)
	apitest.Golden(t, "monit_folder_create", r.Body, fmt.Sprint(f.FolderID), "6113996590131")
}

func TestRecords(t *testing.T) {
	t.Parallel()
	s := start(t)
	records := []rulefolder.Folder{{FolderID: 1, FolderName: "All", CreatedAt: 3}, {FolderID: 5, ParentID: 7, FolderName: "b", Note: "n", CreatedBy: 8, UpdatedAt: 9, UpdatedBy: 10}, {FolderID: 7, FolderName: "a"}}
	dumped, err := apitest.Passed(t, s.DB, rulefolder.Load, rulefolder.Dump, records)
	if err != nil || fmt.Sprint(dumped) != fmt.Sprint(records) {
		t.Errorf("%v %v", dumped, err)
	}
	for _, wrong := range [][]rulefolder.Folder{
		{{FolderID: 5, ParentID: 6, FolderName: "a"}},
		{{FolderID: 5, ParentID: 6, FolderName: "a"}, {FolderID: 6, ParentID: 5, FolderName: "b"}},
		{{FolderID: 5, FolderName: "Rules"}},
		{{FolderID: 5, FolderName: "a"}, {FolderID: 5, FolderName: "b"}},
		{{FolderID: 0, FolderName: "a"}},
	} {
		if _, err := apitest.Passed(t, s.DB, rulefolder.Load, rulefolder.Dump, wrong); fault.KindOf(err) != fault.InvalidParameter {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}
