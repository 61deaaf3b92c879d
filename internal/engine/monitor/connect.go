package monitor

import (
	"context"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/querier"
)

// Connect returns the querier of a datasource. All queries of operations go through it.
func (r *Service) Connect(_ context.Context, _ int64, d datasource.Connection) (querier.Querier, *evaluate.Failure) {
	if d.Failed != nil {
		return nil, d.Failed
	}
	return r.Open(d.Datasource)
}
