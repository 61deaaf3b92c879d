package incident

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
)

// PreviewAlertRequest asks what a silence of an alert would cover.
type PreviewAlertRequest struct {
	alert.OneRequest
	PreviewLabels
}

func (r *Service) previewSilenceOfAlert(c *api.Call, in PreviewAlertRequest) (SilencePreview, error) {
	s, err := alertToSilence(c, in.AlertID)
	if err != nil {
		return SilencePreview{}, err
	}
	return s.preview(c, in.Labels)
}
