// Package rumintake takes the errors of web pages from the browser SDKs of Datadog and Sentry, and groups them into the
// issues of RUM applications. It raises the alerts of issues in the channels of their application and ends them, and
// resolves issues that have gone.
//
// It must never reply with success before the errors are committed, nor keep an address of a user that the application
// does not want. Client tokens are public, so it must never let the sender of one stop other accounts, or notify a person
// a hundred times.
package rumintake

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/jobs"
)

// Module returns the package's jobs.
func (r *Service) Module() module.Module {
	return module.Module{Name: "engine/rumintake", Jobs: []jobs.Job{r.Job()}}
}
