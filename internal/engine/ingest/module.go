// Package ingest accepts events from monitoring systems, at /event/push. It finds the integration by its key, parses the
// body with the source's parser, and replies when the events are on disk. Package engine/triage decides about them
// afterwards.
//
// It must never reply with success before the events are committed, and never reject one alert of a batch because of
// another.
package ingest

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/jobs"
)

// Module returns the package's operations, jobs and gauges.
func (r *Service) Module() module.Module {
	return module.Module{
		Name: "engine/ingest",
		Ops:  r.Ops(),
		Jobs: []jobs.Job{r.Job(), r.RefusedJob(), r.UnknownSeverityJob(), r.VolumeJob()},
		Gauges: []module.Gauge{{
			Name: "tocsin_heartbeats", Help: "Enabled heartbeat integrations by status: up or overdue.", Labels: []string{"status"},
			Read: beating,
		}},
	}
}
