package alertrule

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
	"tocsin/internal/rulefolder"
)

type statusRequest struct {
	FolderID int64 `json:"folder_id,omitzero" minimum:"0" doc:"The folder whose folders are counted; absent or 0: all folders are."`
}

// FolderStatus is how many rules a folder has, with all folders below it.
type FolderStatus struct {
	FolderID           int64  `json:"folder_id" doc:"The folder."`
	FolderName         string `json:"folder_name" doc:"Its name."`
	RuleTotal          int64  `json:"rule_total" doc:"The rules in it and below it."`
	TriggeredRuleCount int64  `json:"triggered_rule_count" doc:"Those of them with alerts that are open."`
}

// status answers /monit/rule/status.
func (s *Service) status(c *api.Call, in statusRequest) ([]FolderStatus, error) {
	tree, err := rulefolder.TreeOf(c.Tx, c.Who.AccountID)
	if err != nil {
		return nil, err
	}
	if in.FolderID != 0 {
		if _, found := tree.Folder(in.FolderID); !found {
			return nil, fault.Missing(configstore.RuleFolder, in.FolderID)
		}
		return s.folderStatus(c, tree, tree.Children(in.FolderID))
	}
	var all []rulefolder.Folder
	tree.Each(0, func(f rulefolder.Folder) { all = append(all, f) })
	return s.folderStatus(c, tree, all)
}

// folderStatus counts the rules of folders.
func (s *Service) folderStatus(c *api.Call, tree *rulefolder.Tree, folders []rulefolder.Folder) ([]FolderStatus, error) {
	rules, err := basics(c.Tx, c.Who.AccountID, 0)
	if err != nil {
		return nil, err
	}
	states, err := s.known(c, rules)
	if err != nil {
		return nil, err
	}
	own := map[int64]FolderStatus{}
	for _, r := range rules {
		n := own[r.FolderID]
		n.RuleTotal++
		if states[r.ID].Triggered {
			n.TriggeredRuleCount++
		}
		own[r.FolderID] = n
	}
	list := []FolderStatus{}
	for _, f := range folders {
		sum := FolderStatus{FolderID: f.FolderID, FolderName: f.FolderName}
		tree.Each(f.FolderID, func(below rulefolder.Folder) {
			sum.RuleTotal += own[below.FolderID].RuleTotal
			sum.TriggeredRuleCount += own[below.FolderID].TriggeredRuleCount
		})
		list = append(list, sum)
	}
	return list, nil
}
