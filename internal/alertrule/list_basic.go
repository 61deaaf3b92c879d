package alertrule

import (
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/fault"
	"tocsin/internal/rulefolder"
)

// State is what is known of a rule that is not as usual.
type State struct {
	RuntimeState     string // one of those of Basic
	Triggered        bool
	ActiveAlertCount int64
	PendingCount     int64
	UnknownSince     int64 // Unix milliseconds; 0: it is known
	LastTransitionAt int64 // Unix milliseconds; 0: nothing was found yet
}

// Basic is an alert rule in a list.
type Basic struct {
	ID       uint64 `json:"id" doc:"The rule."`
	FolderID int64  `json:"folder_id" doc:"The folder that it is in."`
	Name     string `json:"name" doc:"Its name."`
	DSType   string `json:"ds_type" doc:"The type of its datasources."`
	Enabled  bool   `json:"enabled" doc:"Whether it is evaluated."`
	Head
	Sources
	ChannelIDs []int64 `json:"channel_ids" doc:"The channels that get its alerts; empty: as the route of the account's integration for monitors says."`
	Stamps
	Triggered        bool   `json:"triggered" doc:"Whether it has alerts that are open."`
	ActiveAlertCount int64  `json:"active_alert_count" doc:"How many."`
	PendingCount     int64  `json:"pending_count" doc:"How many alerts are pending, as far as this process evaluates the rule."`
	UnknownSince     int64  `json:"unknown_since" doc:"Since when it is not known on one of its datasources, Unix milliseconds; 0: it is known."`
	LastTransitionAt int64  `json:"last_transition_at" doc:"When something last changed, Unix milliseconds; 0: nothing was found yet."`
	RuntimeState     string `json:"runtime_state" enum:"disabled,no_datasource,offline,config_pending,waiting,abnormal,stale,normal,unsupported" doc:"How its evaluation goes: disabled; no_datasource: it matches none that is on; offline: nothing evaluates it; config_pending: what evaluates it has an older version; waiting: not evaluated yet; abnormal: an answer has been missing for long; stale: late; normal; unsupported: what evaluates it cannot."`
}

// ListRequest asks for rules, by folder.
type ListRequest struct {
	FolderID int64 `json:"folder_id,omitzero" minimum:"0" doc:"The folder; absent or 0: all."`
}

// listBasic answers /monit/rule/list/basic.
func (s *Service) listBasic(c *api.Call, in ListRequest) ([]Basic, error) {
	account := c.Who.AccountID
	if in.FolderID != 0 {
		tree, err := rulefolder.TreeOf(c.Tx, account)
		if err != nil {
			return nil, err
		}
		if _, found := tree.Folder(in.FolderID); !found {
			return nil, fault.Missing(configstore.RuleFolder, in.FolderID)
		}
	}
	rules, err := basics(c.Tx, account, in.FolderID)
	if err != nil {
		return nil, err
	}
	states, err := s.states(c, rules)
	if err != nil {
		return nil, err
	}
	channels, err := configstore.AllTargets(c.Tx, account, configstore.AlertRule, configstore.Channel)
	if err != nil {
		return nil, err
	}
	list := make([]Basic, len(rules))
	names := nameCache{}
	for i, r := range rules {
		state := states[r.ID]
		list[i] = Basic{
			ID: r.ID, FolderID: r.FolderID, Name: r.Name, DSType: r.DSType, Enabled: r.On(), Head: r.Head, Sources: r.Sources,
			ChannelIDs: []int64{}, Stamps: r.Stamps, Triggered: state.Triggered, ActiveAlertCount: state.ActiveAlertCount,
			PendingCount: state.PendingCount, UnknownSince: state.UnknownSince, LastTransitionAt: state.LastTransitionAt,
			RuntimeState: state.RuntimeState,
		}
		for _, id := range channels[strconv.FormatUint(r.ID, 10)] {
			n, _ := strconv.ParseInt(id, 10, 64)
			list[i].ChannelIDs = append(list[i].ChannelIDs, n)
		}
		if err := names.sign(c.Tx, &list[i].Stamps); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// known returns what is known of rules by id.
func (s *Service) known(c *api.Call, rules []Rule) (map[uint64]State, error) {
	if s.States == nil {
		return map[uint64]State{}, nil
	}
	ids := make([]uint64, len(rules))
	for i, r := range rules {
		ids[i] = r.ID
	}
	return s.States(c.Tx, c.Who.AccountID, ids, c.Now)
}

// states returns the states of rules by id, each with its RuntimeState.
func (s *Service) states(c *api.Call, rules []Rule) (map[uint64]State, error) {
	usual := "normal"
	if s.States == nil {
		usual = "waiting" // nothing evaluates
	}
	known, err := s.known(c, rules)
	if err != nil {
		return nil, err
	}
	matched, err := matched(c, rules)
	if err != nil {
		return nil, err
	}
	all := map[uint64]State{}
	for _, r := range rules {
		state := known[r.ID]
		switch {
		case !r.On():
			state.RuntimeState = "disabled"
		case !matched[r.ID]:
			state.RuntimeState = "no_datasource"
		case state.RuntimeState == "":
			state.RuntimeState = usual
		}
		all[r.ID] = state
	}
	return all, nil
}

// matched reports which rules match a datasource that is on.
func matched(c *api.Call, rules []Rule) (map[uint64]bool, error) {
	datasources, err := datasource.All(c.Tx, c.Who.AccountID)
	if err != nil {
		return nil, err
	}
	datasources = slices.DeleteFunc(datasources, func(d datasource.Item) bool { return !d.Enabled })
	matched := map[uint64]bool{}
	for _, r := range rules {
		matched[r.ID] = slices.ContainsFunc(datasources, func(d datasource.Item) bool { return r.Matches(&d) })
	}
	return matched, nil
}
