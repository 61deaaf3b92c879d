package alertrule

import (
	"bytes"
	"cmp"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/core/rulefile"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/rulefolder"
	"tocsin/internal/source"
)

// FileRequest holds a file of rules of another program.
type FileRequest struct {
	Text     string `json:"text" minLength:"1" maxLength:"524288" doc:"A rule file of Prometheus, or an export of Grafana (YAML or JSON)."`
	DSID     uint64 `json:"ds_id" minimum:"1" doc:"The datasource on which the rules are evaluated."`
	FolderID int64  `json:"folder_id,omitzero" minimum:"0" doc:"Their folder; absent or 0: folder 1."`
	api.DryRun
}

// FileImport is what became of the rules of a file.
type FileImport struct {
	Items   []FileItem `json:"items" doc:"The rules in the order of the file."`
	Created int64      `json:"created" doc:"How many were created."`
	Updated int64      `json:"updated" doc:"How many rules of the folder have the name and were updated."`
}

// FileItem is one rule of a file.
type FileItem struct {
	Name    string           `json:"name" doc:"Its name in the file."`
	Group   string           `json:"group" doc:"Its group in the file."`
	Status  string           `json:"status" enum:"carried,changed,not_carried" doc:"changed: carried, with the changes."`
	Changes []sentence.Words `json:"changes" doc:"What is carried otherwise, and what of the rule is not carried."`
	Why     sentence.Words   `json:"why" doc:"Why it is not carried; empty: it is."`
	Action  string           `json:"action" enum:"create,update,none" doc:"none: it is not carried, or is stored as the file has it."`
	Rule    *Rule            `json:"rule,omitzero" doc:"The rule as it is stored; absent: it is not carried."`
}

// ReadFile reads a file of rules of another program.
func ReadFile(text string) ([]rulefile.Item, error) {
	items, err := rulefile.Parse(text, func(word string) (string, bool) {
		r := source.SeverityMap(nil).Rate(map[string]string{"severity": word})
		return r.Severity, !r.Unknown
	})
	if err != nil {
		return nil, fault.Invalid("text", "%s", err)
	}
	return items, nil
}

// Carried returns a rule of a file as it is stored on a datasource.
func Carried(r *rulefile.Rule, kind string, id uint64) Rule {
	return Rule{
		Name: r.Name, DSType: kind, Enabled: &r.Enabled, Sources: Sources{DSIDs: []uint64{id}},
		Head: Head{Labels: r.Labels, CronPattern: r.CronPattern, DelaySeconds: r.DelaySeconds},
		Body: Body{RuleConfigs: r.Config, Annotations: r.Annotations, Description: r.Description},
	}
}

// readFile reads the file before the transaction of the import.
func readFile(_ *api.Call, in FileRequest) (f filed, err error) {
	f.FileRequest = in
	f.items, err = ReadFile(in.Text)
	return f, err
}

type filed struct {
	FileRequest
	items []rulefile.Item
}

func (s *Service) importFile(c *api.Call, in filed) (reply FileImport, err error) {
	within, err := scopeOf(c)
	if err != nil {
		return reply, err
	}
	kind := ""
	for i := range within.datasources {
		if d := &within.datasources[i]; d.ID == in.DSID {
			kind = d.TypeIdent
		}
	}
	if kind == "" {
		return reply, fault.Invalid("ds_id", "datasource %d does not exist", in.DSID)
	}
	if err := s.first(c); err != nil {
		return reply, err
	}
	reply.Items = []FileItem{}
	for i := range in.items {
		one, err := s.carry(c, &within, &in.items[i], kind, &in.FileRequest)
		if err != nil {
			return reply, err
		}
		switch one.Action {
		case create:
			reply.Created++
		case update:
			reply.Updated++
		}
		reply.Items = append(reply.Items, one)
	}
	return reply, countToday(c.Tx, c.Who.AccountID, c.Unix())
}

// carry stores one rule of a file. A rule of the name in the folder is updated, and keeps what the file does not have.
func (s *Service) carry(c *api.Call, within *scope, i *rulefile.Item, kind string, in *FileRequest) (one FileItem, err error) {
	one = FileItem{
		Name: i.Name, Group: i.Group, Status: "carried", Action: "none",
		Changes: append([]sentence.Words{}, sentence.ToWords(i.Changes)...), Why: sentence.Words(sentence.Raw(i.Why)),
	}
	if i.Rule == nil {
		one.Status = "not_carried"
		return one, nil
	}
	if len(one.Changes) > 0 {
		one.Status = "changed"
	}
	r := Carried(i.Rule, kind, in.DSID)
	r.FolderID = cmp.Or(in.FolderID, rulefolder.First)
	before, known, err := ofName(c, r.FolderID, r.Name)
	if err != nil {
		return one, err
	}
	done, err := attempt(c, r.Name, func() error {
		if err := r.check(""); err != nil {
			return err
		}
		if !known {
			one.Action = create
			return s.add(c, within, &r, carried)
		}
		r.keep(&before)
		r.normalise()
		if same, err := r.same(&before); err != nil || same {
			return err
		}
		one.Action = update
		return s.replace(c, within, &r, &before, carried)
	})
	if done.Message != "" {
		one.Status = "not_carried"
		one.Action = "none"
		one.Why = done.Message
		return one, err
	}
	one.Rule = &r
	return one, err
}

// ofName returns the rule of a name in a folder.
func ofName(c *api.Call, folder int64, name string) (Rule, bool, error) {
	return db.One(c.Tx, scanRule(c.Who.AccountID, true),
		`SELECT `+columns+` FROM alert_rule WHERE account_id = $1 AND folder_id = $2 AND rule_name = $3`, c.Who.AccountID, folder, name)
}

// keep takes over what a file does not have from the rule that it updates. A rule that a person has disabled stays so.
func (r *Rule) keep(before *Rule) {
	r.ID = before.ID
	r.Stamps = before.Stamps
	r.Revision = before.Revision
	r.ChannelIDs = before.ChannelIDs
	r.EnabledTimes = before.EnabledTimes
	r.Timezone = before.Timezone
	r.RepeatInterval = before.RepeatInterval
	r.RepeatTotal = before.RepeatTotal
	r.DescriptionType = before.DescriptionType
	r.DebugLogEnabled = before.DebugLogEnabled
	if !before.On() {
		r.Enabled = before.Enabled
	}
}

// same reports whether two rules are equal.
func (r *Rule) same(other *Rule) (bool, error) {
	a, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		return false, err
	}
	b, err := json.Marshal(other, json.Deterministic(true))
	return bytes.Equal(a, b), err
}
