package app

import (
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
	"tocsin/internal/querier/loki"
	"tocsin/internal/querier/prometheus"
	"tocsin/internal/querier/victorialogs"
)

// QuerierTypes returns the types of datasources that this program can ask.
func QuerierTypes() querier.Types {
	return querier.Types{"prometheus": prometheus.Open, "loki": loki.Open, "victorialogs": victorialogs.Open}
}

// queriers returns the registry that opens datasources. Persons who manage them choose their addresses, so what is link-local or
// serves the credentials of a machine is refused in any case.
func (a *App) queriers() querier.Registry {
	return querier.Registry{
		Types: QuerierTypes(),
		Out: egress.New(egress.Policy{
			Allow: a.DatasourceAllow, RefusePrivate: a.Senders.RefusePrivate, RefuseCloud: true, Held: a.Gate.Reason,
		}),
		SecretEnv: a.SecretEnv,
	}
}
