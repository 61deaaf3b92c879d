package monitor

import (
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

// AllDatasources asks for the states of all datasources.
type AllDatasources struct{}

// datasourceStates answers /monit/datasource/state.
func (r *Service) datasourceStates(c *api.Call, _ AllDatasources) (api.Items[DatasourceState], error) {
	list := api.Items[DatasourceState]{Items: []DatasourceState{}}
	account := c.Who.AccountID
	sources, err := datasource.All(c.Tx, account)
	if err != nil {
		return list, err
	}
	all, err := r.watchedOf(c.Tx, account)
	if err != nil {
		return list, err
	}
	stored, err := unknownsOf(c.Tx, account)
	if err != nil {
		return list, err
	}
	found := map[uint64]*DatasourceState{}
	list.Items = make([]DatasourceState, len(sources))
	for i := range sources {
		list.Items[i] = DatasourceState{DSID: sources[i].ID, State: SourceUnused}
		found[sources[i].ID] = &list.Items[i]
	}
	for key := range all {
		found[key.Datasource].add(r.watchState(key, "", stored).Last)
	}
	for i := range list.Items {
		s := &list.Items[i]
		if u, lost := stored[evaluator.Key{Account: account, Datasource: s.DSID}]; lost && s.Rules > 0 {
			s.State = SourceLost
			s.Since, s.Reason = u.since, u.Message
		}
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
