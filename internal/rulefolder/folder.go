// Package rulefolder stores the folders of alert rules. Every account has the folder First, whether it has a row or not.
//
// It must never let a folder be below itself, nor know what a rule is.
package rulefolder

import (
	"cmp"
	"slices"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// First is the folder that every account has.
const First = 1

// firstName is the name of First until it gets another one.
const firstName = "Rules"

// The bounds of folders.
const (
	maxFolders = 1000 // of an account
	maxDepth   = 5
)

// Folder holds alert rules and further folders. It is a record of the account file's rule_folders.
type Folder struct {
	FolderID   int64  `json:"folder_id" doc:"The folder; 1 is that which every account has."`
	ParentID   int64  `json:"parent_id" doc:"The folder that it is in; 0: none."`
	FolderName string `json:"folder_name" maxLength:"59" doc:"1 to 59 characters, unique in its parent."`
	Note       string `json:"note" maxLength:"500" doc:"What it is for."`
	TeamID     int64  `json:"team_id" doc:"Owning team; 0: none."`
	CreatedAt  int64  `json:"created_at" doc:"Unix milliseconds; 0: with the account."`
	CreatedBy  int64  `json:"created_by,omitzero" doc:"The person who created it."`
	UpdatedAt  int64  `json:"updated_at" doc:"Unix milliseconds."`
	UpdatedBy  int64  `json:"updated_by,omitzero" doc:"The person who changed it last."`
}

const columns = `folder_id, parent_id, folder_name, note, team_id, created_at, created_by, updated_at, updated_by`

func scanFolder(scan db.Scan) (f Folder, err error) {
	return f, scan(&f.FolderID, &f.ParentID, &f.FolderName, &f.Note, &f.TeamID, &f.CreatedAt, &f.CreatedBy, &f.UpdatedAt, &f.UpdatedBy)
}

// stored returns the folders of an account that have a row, by id.
func stored(tx *db.Tx, account int64) ([]Folder, error) {
	return db.All(tx, scanFolder, `SELECT `+columns+` FROM rule_folder WHERE account_id = $1 ORDER BY folder_id`, account)
}

// put stores a folder.
func (f Folder) put(tx *db.Tx, account int64) error {
	err := tx.Do(`INSERT INTO rule_folder (account_id, `+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (account_id, folder_id) DO UPDATE SET parent_id = excluded.parent_id, folder_name = excluded.folder_name,
			note = excluded.note, team_id = excluded.team_id, created_at = excluded.created_at, created_by = excluded.created_by,
			updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
		account, f.FolderID, f.ParentID, f.FolderName, f.Note, f.TeamID, f.CreatedAt, f.CreatedBy, f.UpdatedAt, f.UpdatedBy)
	if err != nil {
		return err
	}
	return configstore.SetReferences(tx, account, configstore.RefFrom(configstore.RuleFolder, f.FolderID, f.FolderName),
		RefTo(f.ParentID), configstore.RefTo(configstore.Team, f.TeamID))
}

// RefTo returns the reference to a folder. First needs none, because nothing can delete it.
func RefTo(folder int64) configstore.Target {
	if folder == First {
		folder = 0
	}
	return configstore.RefTo(configstore.RuleFolder, folder)
}

// changed sets who changed the folder, and when.
func (f *Folder) changed(person int64, now time.Time) {
	f.UpdatedAt = now.UnixMilli()
	f.UpdatedBy = person
}

// Tree is all folders of an account.
type Tree struct {
	folders  map[int64]Folder
	children map[int64][]Folder // by name
}

// TreeOf returns the folders of an account.
func TreeOf(tx *db.Tx, account int64) (*Tree, error) {
	folders, err := stored(tx, account)
	return treeOf(folders), err
}

func treeOf(folders []Folder) *Tree {
	t := &Tree{folders: map[int64]Folder{First: {FolderID: First, FolderName: firstName}}, children: map[int64][]Folder{}}
	for _, f := range folders {
		t.folders[f.FolderID] = f
	}
	for _, f := range t.folders {
		t.children[f.ParentID] = append(t.children[f.ParentID], f)
	}
	for _, list := range t.children {
		slices.SortFunc(list, func(a, b Folder) int {
			return cmp.Or(cmp.Compare(a.FolderName, b.FolderName), cmp.Compare(a.FolderID, b.FolderID))
		})
	}
	return t
}

// Folder returns a folder.
func (t *Tree) Folder(id int64) (Folder, bool) {
	f, found := t.folders[id]
	return f, found
}

// Children returns the folders in a folder by name; those of 0 are in no folder.
func (t *Tree) Children(id int64) []Folder { return t.children[id] }

// Each visits the folder and all below it, those above first.
func (t *Tree) Each(id int64, visit func(Folder)) {
	if f, found := t.folders[id]; found {
		visit(f)
	}
	for _, child := range t.children[id] {
		t.Each(child.FolderID, visit)
	}
}

// Need returns fault.Invalid for a field that names a folder that the account does not have.
func (t *Tree) Need(at configstore.RecordPath, field string, id int64) error {
	if _, found := t.folders[id]; !found {
		return at.Invalid(field, "%s %d does not exist", fault.Word(configstore.RuleFolder), id)
	}
	return nil
}

// check checks a folder against the others.
func (t *Tree) check(at configstore.RecordPath, f Folder) error {
	if f.FolderID == First && f.ParentID != 0 {
		return at.Invalid("parent_id", "must be 0, because folder %d is in no other, got %d", First, f.ParentID)
	}
	above := 0
	for id := f.ParentID; id != 0; id = t.folders[id].ParentID {
		if err := t.Need(at, "parent_id", id); err != nil {
			return err
		}
		if id == f.FolderID {
			return at.Invalid("parent_id", "must not be the folder or one below it, got %d", f.ParentID)
		}
		if above++; above > len(t.folders) {
			return at.Invalid("parent_id", "must lead to a folder that is in no other, got %d", f.ParentID)
		}
	}
	if deep := above + t.height(f.FolderID); deep > maxDepth {
		return at.Invalid("parent_id", "must leave folders at most %d deep, got %d", maxDepth, deep)
	}
	for _, other := range t.children[f.ParentID] {
		if other.FolderID != f.FolderID && other.FolderName == f.FolderName {
			return at.Invalid("folder_name", "another folder there has the name %q", f.FolderName)
		}
	}
	return nil
}

// height returns how many levels a folder has with those below it. It must not be below itself.
func (t *Tree) height(id int64) int {
	highest := 0
	for _, child := range t.children[id] {
		highest = max(highest, t.height(child.FolderID))
	}
	return highest + 1
}

// free returns fault.Invalid if the account has as many folders as it may.
func (t *Tree) free() error {
	if len(t.folders) >= maxFolders {
		return fault.New(fault.Conflict, "an account has at most %d folders of rules", maxFolders)
	}
	return nil
}
