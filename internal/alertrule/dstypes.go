package alertrule

import (
	"tocsin/internal/api"
)

// DSType is a type of datasources.
type DSType struct {
	ID        int64  `json:"id" doc:"A number of the type."`
	Name      string `json:"name" doc:"What people call it."`
	Ident     string `json:"ident" doc:"The value of ds_type."`
	AccountID int64  `json:"account_id" doc:"0: the type is of every account."`
	Weight    int64  `json:"weight" doc:"Higher ones come first in lists."`
}

// dstypes answers /monit/rule/dstypes.
func dstypes(*api.Call, EmptyRequest) ([]DSType, error) {
	list := []DSType{
		{Name: "Prometheus", Ident: "prometheus"},
		{Name: "Loki", Ident: "loki"},
		{Name: "VictoriaLogs", Ident: "victorialogs"},
		{Name: "MySQL", Ident: "mysql"},
		{Name: "PostgreSQL", Ident: "postgres"},
		{Name: "Oracle", Ident: "oracle"},
		{Name: "ClickHouse", Ident: "clickhouse"},
		{Name: "Elasticsearch", Ident: "elasticsearch"},
		{Name: "SLS", Ident: "sls"},
	}
	for i := range list {
		list[i].ID = int64(i) + 1
		list[i].Weight = int64(len(list) - i)
	}
	return list, nil
}
