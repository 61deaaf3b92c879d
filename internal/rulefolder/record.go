package rulefolder

import (
	"tocsin/internal/configstore"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
)

const section = "rule_folders"

// Module returns the package's operations and sections of an account file.
func (r *Service) Module() module.Module {
	return module.Module{Name: "rulefolder", Ops: r.Ops(), Sections: []string{section}}
}

// Load adds the folders of an account file. Errors are fault.Invalid with the record's path.
func Load(tx *db.Tx, account int64, records []Folder) error {
	have, err := stored(tx, account)
	if err != nil {
		return err
	}
	taken := map[int64]bool{}
	for _, f := range have {
		taken[f.FolderID] = true
	}
	for i, f := range records {
		at := configstore.PathOf(section, i)
		if err := configstore.FirstError(at.AtLeast("folder_id", f.FolderID, 1), at.Length("folder_name", f.FolderName, 1, 59),
			at.AtLeast("parent_id", f.ParentID, 0), at.AtLeast("team_id", f.TeamID, 0)); err != nil {
			return err
		}
		if taken[f.FolderID] {
			return at.Twice("folder_id", f.FolderID)
		}
		taken[f.FolderID] = true
		if len(taken) > maxFolders {
			return at.Invalid("", "an account has at most %d folders of rules", maxFolders)
		}
	}
	tree := treeOf(append(have, records...))
	for i, f := range records {
		if err := tree.check(configstore.PathOf(section, i), f); err != nil {
			return err
		}
		if err := f.put(tx, account); err != nil {
			return err
		}
	}
	return nil
}

// Dump returns the account's folders by id, without those that were never changed.
func Dump(tx *db.Tx, account int64) ([]Folder, error) { return stored(tx, account) }
