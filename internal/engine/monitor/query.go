package monitor

import "tocsin/internal/api"

// QueryData is the answer to a query, in the shape of the public API.
type QueryData struct {
	Format string  `json:"format" enum:"rows" doc:"The format of result."`
	Result Preview `json:"result" doc:"The answer."`
}

func (r *Service) queryData(c *api.Call, in PreviewRequest) (QueryData, error) {
	p, err := r.preview(c, in)
	return QueryData{"rows", p}, err
}
