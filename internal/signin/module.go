// Package signin lets persons into the console: by password, by a link, by an OpenID Connect provider, each with a second
// factor where the person has set one up. It slows down guessing and records sign-ins in the audit log.
//
// It must never reveal to a caller whether a person exists, nor put a password, a code or a token into an error, the log or
// the audit log.
package signin

import (
	"context"
	"errors"
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/jobs"
)

// Module returns the package's operations, jobs and audit entries.
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
