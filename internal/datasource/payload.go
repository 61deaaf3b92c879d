package datasource

import (
	"reflect"
	"strings"

	"tocsin/internal/configstore"
)

// Payload holds the block of the datasource's type. Every member of a block may be unset, which is not the same as
// empty: a member that was not sent is not returned. A secret tag marks members that are sealed; see rewrite.
type Payload struct {
	Prometheus    *HTTP          `json:"prometheus,omitzero" doc:"For type_ident prometheus."`
	Loki          *HTTP          `json:"loki,omitzero" doc:"For type_ident loki."`
	MySQL         *MySQL         `json:"mysql,omitzero" doc:"For type_ident mysql."`
	Oracle        *Oracle        `json:"oracle,omitzero" doc:"For type_ident oracle."`
	Postgres      *Postgres      `json:"postgres,omitzero" doc:"For type_ident postgres."`
	ClickHouse    *ClickHouse    `json:"clickhouse,omitzero" doc:"For type_ident clickhouse."`
	Elasticsearch *Elasticsearch `json:"elasticsearch,omitzero" doc:"For type_ident elasticsearch."`
	SLS           *SLS           `json:"sls,omitzero" doc:"For type_ident sls."`
	VictoriaLogs  *HTTP          `json:"victorialogs,omitzero" doc:"For type_ident victorialogs."`
}

// HTTP is the block of prometheus, loki and victorialogs.
type HTTP struct {
	BasicAuthEnabled  *bool    `json:"basic_auth_enabled,omitzero" doc:"Whether to sign in with user name and password."`
	BasicAuthUsername *string  `json:"basic_auth_username,omitzero" maxLength:"1024" doc:"User name."`
	BasicAuthPassword *string  `json:"basic_auth_password,omitzero" maxLength:"8192" secret:"value" doc:"Password."`
	Headers           []string `json:"headers,omitzero" maxItems:"100" maxLength:"8192" secret:":" doc:"Further request headers, each Key: Value."`
	Params            []string `json:"params,omitzero" maxItems:"100" maxLength:"8192" secret:"=" doc:"Further query parameters, each key=value."`
	TLS
}

// MySQL is the block of mysql.
type MySQL struct {
	Login
	Pool
	TLSMode *string `json:"tls_mode,omitzero" maxLength:"255" doc:"disable, require or verify-full; unset or empty: as set by the other TLS members."`
	TLS
}

// Oracle is the block of oracle.
type Oracle struct {
	Login
	Options map[string]string `json:"options,omitzero" maxProperties:"100" maxLength:"4096" doc:"Further connection options."`
	Pool
}

// Postgres is the block of postgres.
type Postgres struct {
	Database *string `json:"database,omitzero" maxLength:"1024" doc:"Database; unset or empty: that of the user's name."`
	Login
	Pool
	SSLMode *string `json:"ssl_mode,omitzero" maxLength:"255" doc:"disable, require, verify-ca or verify-full; unset or empty: verified when tls_ca is set."`
	Certificates
}

// ClickHouse is the block of clickhouse.
type ClickHouse struct {
	Database *string `json:"database,omitzero" maxLength:"1024" doc:"Default database."`
	Login
	Pool
	MaxExecutionSeconds *int64 `json:"max_execution_seconds,omitzero" minimum:"0" doc:"Longest run of a query, in seconds."`
	DialTimeoutMills    *int64 `json:"dial_timeout_mills,omitzero" minimum:"0" doc:"Longest wait for a connection, in milliseconds."`
	TLSEnabled          *bool  `json:"tls_enabled,omitzero" doc:"Whether to connect with TLS."`
	TLS
}

// Elasticsearch is the block of elasticsearch.
type Elasticsearch struct {
	Deployment             string   `json:"deployment" enum:"cloud,self-managed" doc:"Where it runs: Elastic Cloud or servers of one's own."`
	TimeoutMills           *int64   `json:"timeout_mills,omitzero" minimum:"0" doc:"Longest wait for a query, in milliseconds."`
	CloudID                *string  `json:"cloud_id,omitzero" maxLength:"1024" doc:"cloud: id of the deployment."`
	APIKey                 *string  `json:"api_key,omitzero" maxLength:"8192" secret:"value" doc:"cloud: API key."`
	Username               *string  `json:"username,omitzero" maxLength:"1024" doc:"self-managed: user name."`
	Password               *string  `json:"password,omitzero" maxLength:"8192" secret:"value" doc:"self-managed: password."`
	ServiceToken           *string  `json:"service_token,omitzero" maxLength:"8192" secret:"value" doc:"self-managed: service token, used instead of user name and password."`
	TLSCA                  *string  `json:"tls_ca,omitzero" maxLength:"262144" doc:"self-managed: certificates of the authorities to trust, PEM."`
	CertificateFingerprint *string  `json:"certificate_fingerprint,omitzero" maxLength:"1024" doc:"self-managed: SHA-256 of the server's certificate authority, hexadecimal."`
	Headers                []string `json:"headers,omitzero" maxItems:"100" maxLength:"8192" secret:":" doc:"Further request headers, each Key: Value."`
}

// SLS is the block of sls.
type SLS struct {
	AccessKeyID     *string  `json:"access_key_id,omitzero" maxLength:"1024" doc:"Id of the access key."`
	AccessKeySecret *string  `json:"access_key_secret,omitzero" maxLength:"8192" secret:"value" doc:"Secret of the access key."`
	Headers         []string `json:"headers,omitzero" maxItems:"100" maxLength:"8192" secret:":" doc:"Further request headers, each Key: Value."`
}

// Login holds the credentials for a SQL database.
type Login struct {
	Username *string `json:"username,omitzero" maxLength:"1024" doc:"User name."`
	Password *string `json:"password,omitzero" maxLength:"8192" secret:"value" doc:"Password."`
}

// Pool bounds the connections to a SQL database.
type Pool struct {
	OpenConns       *int64 `json:"open_conns,omitzero" minimum:"0" doc:"Most connections at a time."`
	IdleConns       *int64 `json:"idle_conns,omitzero" minimum:"0" doc:"Most idle connections kept."`
	LifetimeSeconds *int64 `json:"lifetime_seconds,omitzero" minimum:"0" doc:"Longest life of a connection, in seconds."`
	TimeoutMills    *int64 `json:"timeout_mills,omitzero" minimum:"0" doc:"Longest wait for a query, in milliseconds."`
}

// Certificates holds the trusted authorities and the client certificate, all PEM.
type Certificates struct {
	TLSCA   *string `json:"tls_ca,omitzero" maxLength:"262144" doc:"Certificates of the authorities to trust, PEM."`
	TLSCert *string `json:"tls_cert,omitzero" maxLength:"262144" doc:"Client certificate, PEM; together with tls_key."`
	TLSKey  *string `json:"tls_key,omitzero" maxLength:"262144" secret:"value" doc:"Key of the client certificate, PEM."`
}

// TLS holds all settings of a TLS connection.
type TLS struct {
	Certificates
	TLSKeyPwd     *string `json:"tls_key_pwd,omitzero" maxLength:"8192" secret:"value" doc:"Password of tls_key."`
	TLSSkipVerify *bool   `json:"tls_skip_verify,omitzero" doc:"Whether to accept any server certificate."`
	TLSServerName *string `json:"tls_server_name,omitzero" maxLength:"1024" doc:"Name that the server's certificate must be for; unset or empty: the address's."`
	TLSMinVersion *string `json:"tls_min_version,omitzero" maxLength:"255" doc:"1.0, 1.1, 1.2 or 1.3."`
	TLSMaxVersion *string `json:"tls_max_version,omitzero" maxLength:"255" doc:"1.0, 1.1, 1.2 or 1.3; not below tls_min_version."`
}

// block is implemented by all blocks.
type block interface {
	// check returns a fault for the first member out of its bounds.
	check(at configstore.RecordPath) error
}

// only returns the payload with only the block of this type; b is nil if it has none.
func (p Payload) only(typeIdent string) (one Payload, b block) {
	from, to := reflect.ValueOf(p), reflect.ValueOf(&one).Elem()
	for i := range from.NumField() {
		if jsonName(from.Type().Field(i)) == typeIdent && !from.Field(i).IsNil() {
			to.Field(i).Set(from.Field(i))
			b = from.Field(i).Interface().(block)
		}
	}
	return one, b
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
