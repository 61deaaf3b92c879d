package monitor

import (
	"context"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/querier"
)

// Connect returns the querier of a datasource: that of a cluster of edges asks a live member. All queries of operations go through it.
func (r *Service) Connect(_ context.Context, account int64, d datasource.Connection) (querier.Querier, *evaluate.Failure) {
	if d.Failed != nil {
		return nil, d.Failed
	}
	if d.Cluster != nodes.cluster {
		return &throughEdge{r, account, d}, nil
	}
	return r.Open(d.Datasource)
}
