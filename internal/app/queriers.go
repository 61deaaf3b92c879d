package app

import (
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
	"tocsin/internal/querier/clickhouse"
	"tocsin/internal/querier/elasticsearch"
	"tocsin/internal/querier/loki"
	"tocsin/internal/querier/mysql"
	"tocsin/internal/querier/postgres"
	"tocsin/internal/querier/prometheus"
	"tocsin/internal/querier/sls"
	"tocsin/internal/querier/victorialogs"
)

// Queriers returns the types of datasources that this program can ask.
func Queriers() querier.Types {
	types := querier.Types{
		"prometheus": prometheus.Open, "loki": loki.Open, "victorialogs": victorialogs.Open, "mysql": mysql.Open, "postgres": postgres.Open,
		"clickhouse": clickhouse.Open, "elasticsearch": elasticsearch.Open, "sls": sls.Open,
	}
	addOracle(types)
	return types
}

// queriers returns the registry that opens datasources. Persons who manage them choose their addresses, so what is link-local or
// serves the credentials of a machine is refused in any case.
func (a *App) queriers() querier.Registry {
	return querier.Registry{
		Types: Queriers(),
		Out: egress.New(egress.Policy{
			Allow: a.DatasourceAllow, RefusePrivate: a.Senders.RefusePrivate, RefuseCloud: true, Held: a.Gate.Reason,
		}),
		SecretEnv: a.SecretEnv,
	}
}
