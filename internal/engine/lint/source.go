package lint

import (
	"fmt"
	"slices"
	"strconv"

	"tocsin/internal/alert"
	"tocsin/internal/core/lint"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/integration"
	"tocsin/internal/route"
)

// sources returns the enabled integrations that take alerts, with their routes and the pipeline rules that drop alerts.
func (r *reader) sources() (list []lint.Source, err error) {
	all, err := integration.Kind.All(r.tx, r.account)
	if err != nil {
		return nil, err
	}
	monitors, err := integration.MonitorsOf(r.tx, r.account) // without a target it is a finding of the rules that need it
	if err != nil {
		return nil, err
	}
	for _, i := range all {
		if !i.IsSource() || i.IntegrationType == integration.Change || i.Status != "enabled" {
			continue
		}
		s := lint.Source{ID: i.IntegrationID, Name: i.IntegrationName, Channel: i.ChannelID}
		if i.ChannelID != 0 {
			s.Channels = []int64{i.ChannelID}
		}
		key := strconv.FormatInt(i.IntegrationID, 10)
		if err := r.routed(&s, key); err != nil {
			return nil, err
		}
		rules, _, err := alert.Pipelines.Find(r.tx, r.account, key)
		if err != nil {
			return nil, err
		}
		for n, rule := range rules.Rules {
			if rule.Kind == pipeline.AlertDrop {
				s.Discards = append(s.Discards, lint.Filtered{Name: fmt.Sprintf("rules[%d]", n), Filter: rule.If.Value})
			}
		}
		s.Unknown, err = r.unknownSeverities(&i)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return slices.DeleteFunc(list, func(s lint.Source) bool { return s.ID == monitors && s.Channel == 0 && !s.Routed }), nil
}

// routed adds the route of an integration.
func (r *reader) routed(s *lint.Source, integration string) error {
	to, found, err := route.Kind.Find(r.tx, r.account, integration)
	if err != nil || !found {
		return err
	}
	s.Routed = true
	s.Default = to.Default != nil && len(to.Default.ChannelIDs) > 0
	s.Channels = append(s.Channels, to.Channels()...)
	for _, c := range to.Cases {
		s.Cases = append(s.Cases, c.If)
	}
	return nil
}

// unknownSeverities returns the unknown severities that an integration sends.
func (r *reader) unknownSeverities(i *integration.Integration) (list []lint.Unknown, err error) {
	words, err := i.UnknownSeverities(r.tx, r.account)
	for _, u := range words {
		list = append(list, lint.Unknown{Word: u.Word, Events: u.Events})
	}
	return list, err
}
