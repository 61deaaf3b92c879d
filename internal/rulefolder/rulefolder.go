package rulefolder

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
	"tocsin/internal/team"
)

// CreateRequest is a folder to create.
type CreateRequest struct {
	ParentID   int64  `json:"parent_id,omitzero" minimum:"0" doc:"The folder that it is in; absent or 0: none."`
	FolderName string `json:"folder_name" minLength:"1" maxLength:"59" doc:"1 to 59 characters, unique in its parent."`
	Note       string `json:"note,omitzero" maxLength:"500" doc:"What it is for."`
	TeamID     int64  `json:"team_id,omitzero" minimum:"0" doc:"Owning team; absent or 0: none."`
}

// Named is the reply of the operations that store a folder.
type Named struct {
	FolderID   int64  `json:"folder_id" doc:"The folder."`
	FolderName string `json:"folder_name" doc:"Its name."`
}

func create(c *api.Call, in CreateRequest) (Named, error) {
	account := c.Who.AccountID
	tree, err := TreeOf(c.Tx, account)
	if err != nil {
		return Named{}, err
	}
	f := Folder{
		ParentID: in.ParentID, FolderName: in.FolderName, Note: in.Note, TeamID: in.TeamID,
		CreatedAt: c.Now.UnixMilli(), CreatedBy: c.Who.PersonID,
	}
	f.FolderID, err = id.Unused(func(n int64) (bool, error) {
		_, taken := tree.Folder(n)
		return taken, nil
	})
	if err != nil {
		return Named{}, err
	}
	if err := tree.free(); err != nil {
		return Named{}, err
	}
	return f.store(c, tree)
}

// store checks a folder and stores it.
func (f Folder) store(c *api.Call, tree *Tree) (Named, error) {
	account := c.Who.AccountID
	if err := configstore.FirstError(tree.check("", f), team.Table.Need(c.Tx, account, "team_id", f.TeamID)); err != nil {
		return Named{}, err
	}
	f.changed(c.Who.PersonID, c.Now)
	c.Touched(configstore.RuleFolder, f.FolderID, f.FolderName)
	return Named{f.FolderID, f.FolderName}, f.put(c.Tx, account)
}

// UpdateRequest is what changes of a folder. An absent member stays as it is.
type UpdateRequest struct {
	FolderID   int64   `json:"folder_id" minimum:"1" doc:"The folder."`
	ParentID   *int64  `json:"parent_id,omitzero" minimum:"0" doc:"The folder that it is in; 0: none."`
	FolderName *string `json:"folder_name,omitzero" minLength:"1" maxLength:"59" doc:"1 to 59 characters, unique in its parent."`
	Note       *string `json:"note,omitzero" maxLength:"500" doc:"What it is for."`
	TeamID     *int64  `json:"team_id,omitzero" minimum:"0" doc:"Owning team; 0: none."`
}

func update(c *api.Call, in UpdateRequest) (Named, error) {
	tree, err := TreeOf(c.Tx, c.Who.AccountID)
	if err != nil {
		return Named{}, err
	}
	f, found := tree.Folder(in.FolderID)
	if !found {
		return Named{}, fault.Missing(configstore.RuleFolder, in.FolderID)
	}
	configstore.SetIfSent(&f.ParentID, in.ParentID)
	configstore.SetIfSent(&f.FolderName, in.FolderName)
	configstore.SetIfSent(&f.Note, in.Note)
	configstore.SetIfSent(&f.TeamID, in.TeamID)
	return f.store(c, tree)
}

// DeleteRequest asks to delete a folder, or what that would do.
type DeleteRequest struct {
	FolderID int64 `json:"folder_id" minimum:"1" doc:"The folder."`
	api.DryRun
}

func remove(c *api.Call, in DeleteRequest) (api.Removal, error) {
	account := c.Who.AccountID
	tree, err := TreeOf(c.Tx, account)
	if err != nil {
		return api.Removal{}, err
	}
	f, found := tree.Folder(in.FolderID)
	if !found {
		return api.Removal{}, fault.Missing(configstore.RuleFolder, in.FolderID)
	}
	if f.FolderID == First {
		return api.Removal{}, fault.New(fault.Conflict, "folder %d cannot be deleted: every account has it", First)
	}
	if err := configstore.RefuseReferenced(c.Tx, account, configstore.RuleFolder, f.FolderID); err != nil {
		return api.Removal{}, err
	}
	c.Removed(configstore.RuleFolder, f.FolderID, f.FolderName)
	return api.Removal{}, Erase(c.Tx, account, f.FolderID)
}

// Erase deletes a folder. It does nothing if there is none.
func Erase(tx *db.Tx, account, folder int64) error {
	if err := tx.Do(`DELETE FROM rule_folder WHERE account_id = $1 AND folder_id = $2`, account, folder); err != nil {
		return err
	}
	return configstore.ClearReferences(tx, account, configstore.RuleFolder, folder)
}

// ListRequest asks for all folders.
type ListRequest struct{}

// Listed is a folder in a list.
type Listed struct {
	Folder
	RuleTotal int64 `json:"rule_total" doc:"The rules in it, without those of folders below."`
}

func (r *Service) list(c *api.Call, _ ListRequest) (api.Items[Listed], error) {
	list := api.Items[Listed]{Items: []Listed{}}
	tree, err := TreeOf(c.Tx, c.Who.AccountID)
	if err != nil {
		return list, err
	}
	counts := map[int64]int64{}
	if r.Rules != nil {
		counts, err = r.Rules(c.Tx, c.Who.AccountID)
		if err != nil {
			return list, err
		}
	}
	tree.Each(0, func(f Folder) { list.Items = append(list.Items, Listed{f, counts[f.FolderID]}) })
	return list, nil
}
