// Package console serves the web console: pages that show who is on call, what burns and why, and forms that act on it.
//
// A page receives all its data from the operations of the API, called for the person who signed in, so that the console
// can show and do nothing that the API cannot. It must never read a table itself, and never need a script: scripts only
// shorten the way.
package console

import (
	"embed"
	"net/http"

	"tocsin/internal/console/asset"
	"tocsin/internal/console/channel"
	"tocsin/internal/console/configuration"
	"tocsin/internal/console/incident"
	"tocsin/internal/console/insight"
	"tocsin/internal/console/monitor"
	"tocsin/internal/console/page"
	"tocsin/internal/console/people"
	"tocsin/internal/console/rum"
	"tocsin/internal/console/schedule"
	"tocsin/internal/console/status"
	"tocsin/internal/console/webhook"
)

//go:embed template/*.html
var files embed.FS

// Handlers returns the handlers of the console's addresses by pattern.
func Handlers(site *page.Site) map[string]http.Handler {
	all := site.Handlers(files, parts())
	all["GET /assets/{name}"] = asset.Handler()
	all["GET /service-worker.js"] = asset.ServiceWorker()
	all["GET /manifest.webmanifest"] = asset.Served("application/manifest+json", asset.Manifest)
	return all
}

// parts returns the parts of the console.
func parts() []page.Part {
	return []page.Part{
		{Pages: nowPages, Actions: nowActions, Others: []page.Other{{Pattern: "GET /live", Do: listen}}},
		people.Part, incident.Part, schedule.Part, channel.Part, monitor.Part, configuration.Part, rum.Part, webhook.Part, insight.Part,
		status.Part,
	}
}

// Addresses returns the addresses of all pages that show something, as patterns of http.ServeMux: tests look at every one.
func Addresses() (all []string) {
	for _, one := range parts() {
		for _, p := range one.Pages {
			if p.Template != "" {
				all = append(all, p.Path)
			}
		}
	}
	return all
}
