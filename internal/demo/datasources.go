package demo

import (
	"time"

	"tocsin/internal/datasource"
)

// datasources returns one of each type. Their passwords are invented; those in ${env:...} are set outside.
func datasources(m moments) []datasource.Record {
	all := []datasource.Item{
		{
			TypeIdent: "prometheus",
			Name:      "Prometheus Frankfurt",
			Address:   "https://prometheus.fra." + domain + ":9090",
			Note:      "Two replicas behind one address.",
			Payload: &datasource.Payload{Prometheus: &datasource.HTTP{
				BasicAuthEnabled: ptr(true), BasicAuthUsername: ptr("tocsin"), BasicAuthPassword: ptr("${env:PROMETHEUS_PASSWORD}"),
				Headers: []string{"X-Scope-OrgID: shop"}, TLS: datasource.TLS{TLSSkipVerify: ptr(false), TLSMinVersion: ptr("1.2")}}},
		},
		{
			TypeIdent: "loki",
			Name:      "Loki",
			Address:   "https://loki.fra." + domain,
			Note:      "14 days of logs.",
			Payload: &datasource.Payload{
				Loki: &datasource.HTTP{BasicAuthEnabled: ptr(false), Headers: []string{"Authorization: Bearer demo-7f3a9c", "X-Scope-OrgID: shop"}},
			},
		},
		{
			TypeIdent: "mysql",
			Name:      "Katalog (MySQL)",
			Address:   "catalog-db.fra." + domain + ":3306",
			Payload: &datasource.Payload{
				MySQL: &datasource.MySQL{Login: login("tocsin_ro", "${env:CATALOG_DB_PASSWORD}"), Pool: pool(16), TLSMode: ptr("verify-full")},
			},
		},
		{
			TypeIdent:       "oracle",
			Name:            "Buchhaltung (Oracle)",
			Address:         "10.20.30.40:1521",
			Note:            "Read-only copy, one hour old.",
			EdgeClusterName: "leipzig",
			Payload: &datasource.Payload{
				Oracle: &datasource.Oracle{
					Login:   login("REPORTS", "demo-Gebirgsbach-12"),
					Options: map[string]string{"SERVICE_NAME": "FIBU"},
					Pool:    pool(4),
				},
			},
		},
		{
			TypeIdent: "postgres",
			Name:      "Bestellungen (PostgreSQL)",
			Address:   "orders-db.fra." + domain + ":5432",
			Note:      "Asks a replica, never the primary.",
			Payload: &datasource.Payload{
				Postgres: &datasource.Postgres{Login: login("tocsin_ro", "demo-Murmeltier-47"), Pool: pool(32), SSLMode: ptr("verify-full")},
			},
		},
		{
			TypeIdent: "clickhouse",
			Name:      "Klickstrom (ClickHouse)",
			Address:   "clicks.fra." + domain + ":9440",
			Payload: &datasource.Payload{
				ClickHouse: &datasource.ClickHouse{Database: ptr("clicks"), Login: login("tocsin", "demo-Alpenglühen-3"), Pool: pool(8),
					MaxExecutionSeconds: ptr(int64(30)), DialTimeoutMills: ptr(int64(3000)), TLSEnabled: ptr(true)},
			},
		},
		{
			TypeIdent: "elasticsearch",
			Name:      "Suche (Elastic Cloud)",
			Note:      "Found by its cloud id.",
			Payload: &datasource.Payload{
				Elasticsearch: &datasource.Elasticsearch{
					Deployment:   "cloud",
					TimeoutMills: ptr(int64(5000)),
					CloudID:      ptr("shop-search:ZXUtY2VudHJhbC0xLmV4YW1wbGUkYWJjJGRlZg=="),
					APIKey:       ptr("${env:ELASTIC_API_KEY}"),
				},
			},
		},
		{
			TypeIdent:       "sls",
			Name:            "华东日志 (SLS)",
			Address:         "cn-hangzhou.log.aliyuncs.com",
			Note:            "Logs of the shop in China.",
			EdgeClusterName: "hangzhou",
			Payload:         &datasource.Payload{SLS: &datasource.SLS{AccessKeyID: ptr("LTAI-demo"), AccessKeySecret: ptr("demo-山高水长-8")}},
		},
		{
			TypeIdent:       "victorialogs",
			Name:            "VictoriaLogs Leipzig",
			Address:         "http://10.20.30.50:9428",
			Note:            "Off while the warehouse moves.",
			EdgeClusterName: "leipzig",
			Payload:         &datasource.Payload{VictoriaLogs: &datasource.HTTP{Params: []string{"AccountID=7"}}},
		},
	}
	records := make([]datasource.Record, len(all))
	for i, d := range all {
		d.ID = uint64(i + 1)
		d.AccountID = accountID
		d.Enabled = d.TypeIdent != "victorialogs"
		if d.EdgeClusterName == "" {
			d.EdgeClusterName = "frankfurt"
		}
		d.UpdatedAt = m.ago(time.Duration(11*(i+1)) * day).Unix()
		records[i] = datasource.Record{Item: d}
	}
	return records
}

func login(username, password string) datasource.Login {
	return datasource.Login{Username: &username, Password: &password}
}

func pool(open int64) datasource.Pool {
	return datasource.Pool{OpenConns: &open, IdleConns: ptr(int64(4)), LifetimeSeconds: ptr(int64(600)), TimeoutMills: ptr(int64(5000))}
}

func ptr[T any](v T) *T { return &v }
