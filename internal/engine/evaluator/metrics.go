package evaluator

import prom "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	evaluations, transitions *prom.CounterVec
	queries                  *prom.HistogramVec
	late                     prom.Histogram
	fenced                   prom.Counter
}

// newMetrics returns the metrics of an evaluator. registry may be nil.
func newMetrics(registry prom.Registerer) metrics {
	m := metrics{
		evaluations: prom.NewCounterVec(prom.CounterOpts{
			Name: "tocsin_evaluations_total",
			Help: "Evaluations of alert rules by type of the datasource and outcome: known, missed or the kind of the failure.",
		}, []string{"type", "outcome"}),
		transitions: prom.NewCounterVec(prom.CounterOpts{
			Name: "tocsin_transitions_total",
			Help: "Changes of what alert rules found, by kind.",
		}, []string{"to"}),
		queries: prom.NewHistogramVec(prom.HistogramOpts{
			Name: "tocsin_query_seconds", Help: "How long datasources took to answer a query of an alert rule.",
			Buckets: []float64{0.005, 0.025, 0.1, 0.5, 2.5, 10, 60},
		}, []string{"type"}),
		late: prom.NewHistogram(prom.HistogramOpts{
			Name: "tocsin_evaluation_late_seconds", Help: "How long after their moment evaluations of alert rules began.",
			Buckets: []float64{0.005, 0.025, 0.1, 0.5, 2.5, 10, 60},
		}),
		fenced: prom.NewCounter(prom.CounterOpts{
			Name: "tocsin_fenced_total",
			Help: "Transitions of alert rules that were refused because another process evaluates the rule.",
		}),
	}
	if registry != nil {
		registry.MustRegister(m.evaluations, m.transitions, m.queries, m.late, m.fenced)
	}
	return m
}

func (m *metrics) evaluated(kind, outcome string, n int) {
	if n > 0 {
		m.evaluations.WithLabelValues(kind, outcome).Add(float64(n))
	}
}
