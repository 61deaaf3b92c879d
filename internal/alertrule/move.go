package alertrule

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// MoveRequest asks to put rules into a folder.
type MoveRequest struct {
	IDs          []uint64 `json:"ids" minItems:"1" maxItems:"1000" doc:"The rules."`
	DestFolderID int64    `json:"dest_folder_id" minimum:"1" doc:"The folder that they are in then."`
}

// move answers /monit/rule/move.
func (s *Service) move(c *api.Call, in MoveRequest) ([]Done, error) {
	within, err := scopeOf(c)
	if err != nil {
		return nil, err
	}
	if _, found := within.tree.Folder(in.DestFolderID); !found {
		return nil, fault.Missing(configstore.RuleFolder, in.DestFolderID)
	}
	return each(c, in.IDs, func(before Rule) error {
		r := before
		r.FolderID = in.DestFolderID
		if r.FolderID == before.FolderID {
			return nil
		}
		return s.replace(c, &within, &r, &before, move)
	})
}
