package monitor

import (
	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/evaluator"
)

// DatasourceState is how a datasource answers the rules on it.
type DatasourceState struct {
	DSID   uint64 `json:"ds_id" doc:"The datasource."`
	State  string `json:"state" enum:"answers,lost,waiting,unused" doc:"waiting: this process knows no answer yet; unused: no rule that is on asks it."`
	Since  int64  `json:"since,omitzero" doc:"Since when it is lost, Unix milliseconds."`
	Reason string `json:"reason" doc:"Why it is lost; empty: it is not."`
	LastAt int64  `json:"last_at" doc:"The last complete answer that this process knows, Unix milliseconds; 0: none."`
	TookMS int64  `json:"took_ms" doc:"How long the evaluation with that answer took, in milliseconds."`
	Rules  int64  `json:"rules" doc:"The rules on it that are on."`
}

// The states of datasources.
const (
	SourceAnswers = "answers"
	SourceLost    = "lost"
	SourceWaiting = "waiting"
	SourceUnused  = "unused"
)

type allDatasources struct{}

// datasourceStates answers /monit/datasource/state.
func (r *Service) datasourceStates(c *api.Call, _ allDatasources) (api.Items[DatasourceState], error) {
	list := api.Items[DatasourceState]{Items: []DatasourceState{}}
	account := c.Who.AccountID
	sources, err := datasource.All(c.Tx, account)
	if err != nil {
		return list, err
	}
	rules, _, err := alertrule.Changed(c.Tx, account, -1)
	if err != nil {
		return list, err
	}
	stored, err := unknownsOf(c.Tx, account)
	if err != nil {
		return list, err
	}
	for i := range sources {
		s := DatasourceState{DSID: sources[i].ID, State: SourceUnused}
		for n := range rules {
			if sources[i].Enabled && rules[n].On() && rules[n].Matches(&sources[i]) {
				s.add(r.watchState(evaluator.Key{Account: account, Rule: rules[n].ID, Datasource: s.DSID}, "", stored).Last)
			}
		}
		if u, lost := stored[evaluator.Key{Account: account, Datasource: s.DSID}]; lost && s.Rules > 0 {
			s.State = SourceLost
			s.Since, s.Reason = u.since, u.Message
		}
		list.Items = append(list.Items, s)
	}
	return list, nil
}

// add adds a rule with its last evaluation; nil: this process knows none.
func (s *DatasourceState) add(last *Evaluation) {
	s.Rules++
	if s.State == SourceUnused {
		s.State = SourceWaiting
	}
	if last != nil && last.Outcome == "known" && last.At > s.LastAt {
		s.State = SourceAnswers
		s.LastAt, s.TookMS = last.At, last.TookMS
	}
}
