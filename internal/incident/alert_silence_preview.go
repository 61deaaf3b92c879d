package incident

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
)

type previewAlertRequest struct {
	alert.OneRequest
	PreviewLabels
}

func (r *Service) previewSilenceOfAlert(c *api.Call, in previewAlertRequest) (SilencePreview, error) {
	s, err := alertToSilence(c, in.AlertID)
	if err != nil {
		return SilencePreview{}, err
	}
	return s.preview(c, in.Labels)
}
