package monitor

import "tocsin/internal/console/page"

// This file has the form of a datasource. Each type has a block of its own in the payload, and blocks share their members.

// datasourceForm draws the block of the type, which the record has.
var datasourceForm = page.Form{
	Operations: []string{"/monit/datasource/create", "/monit/datasource/update", "/monit/datasource/test"},
	Members: []page.Member{
		{Path: "name", Label: "Name"},
		{Path: "address", Label: "Address"},
		{Path: "payload.prometheus", Each: blockMembers},
		{Path: "payload.loki", Each: blockMembers},
		{Path: "payload.victorialogs", Each: blockMembers},
		{Path: "payload.mysql", Each: blockMembers},
		{Path: "payload.oracle", Each: blockMembers},
		{Path: "payload.postgres", Each: blockMembers},
		{Path: "payload.clickhouse", Each: blockMembers},
		{Path: "payload.elasticsearch", Each: blockMembers},
		{Path: "payload.sls", Each: blockMembers},
		{Path: "edge_cluster_name", Label: "Edge cluster", Hint: "Its edges ask the datasource. The cluster default is this server."},
		{Path: "note", Label: "Description", Kind: page.Long},
	},
}

// enabledForm is what only a stored datasource has.
var enabledForm = page.Form{Operations: []string{"/monit/datasource/update"}, Members: []page.Member{{Path: "enabled", Label: "Enabled"}}}

// datasourceTypes are the types with the names of their products.
var datasourceTypes = []struct{ kind, product string }{
	{"prometheus", "Prometheus"}, {"loki", "Loki"}, {"victorialogs", "VictoriaLogs"}, {"mysql", "MySQL"}, {"oracle", "Oracle"},
	{"postgres", "PostgreSQL"}, {"clickhouse", "ClickHouse"}, {"elasticsearch", "Elasticsearch"}, {"sls", "SLS"},
}

// addressHints are the forms of addresses, by type.
var addressHints = map[string]string{
	"prometheus": "Such as https://prometheus.example.com.", "loki": "Such as https://loki.example.com.",
	"victorialogs": "Such as https://logs.example.com.", "mysql": "Host and port, such as db.example.com:3306.",
	"postgres": "Host and port, such as db.example.com:5432.", "oracle": "Host and port, such as db.example.com:1521.",
	"clickhouse":    "Host and native port, such as db.example.com:9000; several with commas.",
	"elasticsearch": "Such as https://search.example.com:9200, several with commas; empty with a cloud ID.",
	"sls":           "The endpoint, such as cn-hangzhou.log.aliyuncs.com.",
}

var (
	tlsModes = []page.Option{
		{Value: "", Text: "As usual"}, {Value: "disable", Text: "Off"}, {Value: "require", Text: "On, with any certificate"},
		{Value: "verify-full", Text: "On, certificate and name are checked"},
	}
	sslModes = []page.Option{
		{Value: "", Text: "As usual"}, {Value: "disable", Text: "Off"}, {Value: "require", Text: "On, with any certificate"},
		{Value: "verify-ca", Text: "On, the certificate is checked"}, {Value: "verify-full", Text: "On, certificate and name are checked"},
	}
	tlsVersions = []page.Option{{Value: "", Text: "As usual"}, {Value: "1.0"}, {Value: "1.1"}, {Value: "1.2"}, {Value: "1.3"}}
)

// blockMembers are the members of the blocks of all types.
var blockMembers = []page.Member{
	{Path: "deployment", Label: "Deployment", Options: []page.Option{
		{Value: "self-managed", Text: "Servers of your own"}, {Value: "cloud", Text: "Elastic Cloud"},
	}},
	{Path: "cloud_id", Label: "Cloud ID"},
	{Path: "api_key", Label: "API key of the cloud", Kind: page.Secret},
	{Path: "database", Label: "Database"},
	{Path: "basic_auth_enabled", Label: "Sign in with user name and password"},
	{Path: "basic_auth_username", Label: "User name"},
	{Path: "basic_auth_password", Label: "Password", Kind: page.Secret},
	{Path: "username", Label: "User name"},
	{Path: "password", Label: "Password", Kind: page.Secret},
	{Path: "service_token", Label: "Service token", Kind: page.Secret, Hint: "Instead of a user name and password."},
	{Path: "access_key_id", Label: "ID of the access key"},
	{Path: "access_key_secret", Label: "Secret of the access key", Kind: page.Secret},
	{Path: "tls_mode", Label: "TLS", Options: tlsModes},
	{Path: "ssl_mode", Label: "TLS", Options: sslModes},
	{Path: "tls_enabled", Label: "Connect with TLS"},
	{Path: "tls_ca", Label: "Trusted authorities, PEM", Kind: page.Long, Seldom: true},
	{Path: "certificate_fingerprint", Label: "SHA-256 of the certificate authority", Seldom: true},
	{Path: "tls_cert", Label: "Client certificate, PEM", Kind: page.Long, Seldom: true},
	{Path: "tls_key", Label: "Key of the client certificate, PEM", Kind: page.LongKey, Seldom: true},
	{Path: "tls_key_pwd", Label: "Password of the key", Kind: page.Secret, Seldom: true},
	{Path: "tls_server_name", Label: "Name in the server's certificate", Seldom: true},
	{Path: "tls_skip_verify", Label: "Accept any server certificate", Seldom: true},
	{Path: "tls_min_version", Label: "Lowest version of TLS", Options: tlsVersions, Seldom: true},
	{Path: "tls_max_version", Label: "Highest version of TLS", Options: tlsVersions, Seldom: true},
	{Path: "headers", Label: "Request headers, one name: value on each line", Seldom: true},
	{Path: "params", Label: "Query parameters, one name=value on each line", Seldom: true},
	{Path: "options", Label: "Options, one name: value on each line", Seldom: true},
	{Path: "open_conns", Label: "Connections at a time", Seldom: true},
	{Path: "idle_conns", Label: "Idle connections", Seldom: true},
	{Path: "lifetime_seconds", Label: "Longest life of a connection, in seconds", Seldom: true},
	{Path: "timeout_mills", Label: "Longest wait for a query, in milliseconds", Seldom: true},
	{Path: "dial_timeout_mills", Label: "Longest wait for a connection, in milliseconds", Seldom: true},
	{Path: "max_execution_seconds", Label: "Longest run of a query, in seconds", Seldom: true},
}
