// Package zabbix holds the media type that Zabbix imports, so that the console can offer it for download. It must never hold more
// than the files beside it.
package zabbix

import _ "embed"

// MediaType is the text of tocsin.yaml.
//
//go:embed tocsin.yaml
var MediaType string

// Address is the address in the media type that stands for that of the server.
const Address = "https://tocsin.example.com"
