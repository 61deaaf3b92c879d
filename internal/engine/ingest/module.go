package ingest

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/jobs"
)

// Module returns the part that the package takes in the program.
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
