package signin

import (
	"context"
	"errors"
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/jobs"
)

// Module returns the part that the package takes in the program.
func (s *Service) Module() module.Module {
	return module.Module{
		Name: "signin",
		Ops:  s.Ops(),
		Jobs: []jobs.Job{
			{Name: "sign-in failures", Interval: time.Minute, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
				s.attempts.sweep(now)
				return time.Time{}, errors.Join(s.recordFailures(ctx), s.attempts.nodes.sweep(ctx, now), s.sweepStates(ctx, now))
			}},
			{Name: "invitations", Interval: 10 * time.Second, Run: s.invite},
		},
		Records: []string{opSignIn, opRefused, opProvision, opProve},
	}
}
