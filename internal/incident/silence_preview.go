package incident

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/fault"
)

// PreviewLabels names the labels that a preview counts with.
type PreviewLabels struct {
	Labels []string `json:"labels,omitzero" maxItems:"50" maxLength:"128" doc:"The names of identifying labels to count with; absent: the usual ones."`
}

// PreviewIncidentRequest asks what a silence of an incident would cover.
type PreviewIncidentRequest struct {
	OneRequest
	PreviewLabels
}

// SilencePreview describes the alerts that silences of an alert or an incident would cover now.
type SilencePreview struct {
	RuleName string         `json:"rule_name" doc:"The name that the silence rule would have."`
	Severity string         `json:"severity" enum:"Critical,Warning,Info" doc:"Up to which severity a silence would hold."`
	ByKey    SilenceCover   `json:"by_key" doc:"A silence by key."`
	ByLabels SilenceCover   `json:"by_labels" doc:"A silence by the labels that are ticked."`
	Labels   []SilenceLabel `json:"labels" doc:"The labels that can be ticked; none if the source does not name the labels that identify an alert."`
	Complete bool           `json:"complete" doc:"Whether all open alerts of the channel were compared; at most 20,000 are."`
}

// SilenceCover describes the alerts that one silence would cover.
type SilenceCover struct {
	OpenAlerts int64  `json:"open_alerts" doc:"How many open alerts of the channel it would match now."`
	Refused    string `json:"refused,omitzero" doc:"Why it cannot be made; absent: it can."`
}

func (r *Service) previewSilenceOfIncident(c *api.Call, in PreviewIncidentRequest) (SilencePreview, error) {
	s, err := incidentToSilence(c, in.IncidentID)
	if err != nil {
		return SilencePreview{}, err
	}
	return s.preview(c, in.Labels)
}

// preview counts with the very filters that silences would have.
func (s silenceable) preview(c *api.Call, labels []string) (p SilencePreview, err error) {
	scope := scopeOf(s.alerts)
	p.RuleName, p.Severity = ruleName(s.title), scope.severity
	var filters []filter.Filter
	var counted []*SilenceCover
	for _, choice := range []struct {
		by    string
		cover *SilenceCover
	}{{"", &p.ByKey}, {byLabels, &p.ByLabels}} {
		f, _, err := scope.choose(choice.by, labels)
		switch {
		case err == nil:
			filters, counted = append(filters, f), append(counted, choice.cover)
		case fault.KindOf(err) == fault.InvalidParameter:
			choice.cover.Refused = err.Error()
		default:
			return p, err
		}
	}
	p.Labels = append([]SilenceLabel{}, scope.labels...)
	counts, complete, err := alert.OpenCounts(c.Tx, c.Who.AccountID, s.channel, filters)
	if err != nil {
		return p, err
	}
	for i, n := range counts {
		counted[i].OpenAlerts = n
	}
	p.Complete = complete
	return p, nil
}
