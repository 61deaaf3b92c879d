package querier

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// cloudAddress returns the address of a datasource, of an Elasticsearch in Elastic Cloud the address in its cloud_id.
func cloudAddress(d Datasource) string {
	var block struct {
		Deployment string `json:"deployment"`
		CloudID    string `json:"cloud_id"`
	}
	if d.Type != "elasticsearch" || json.Unmarshal(d.Payload, &block) != nil || block.Deployment != "cloud" {
		return d.Address
	}
	_, text, _ := strings.Cut(block.CloudID, ":")
	raw, err := base64.StdEncoding.DecodeString(text)
	domain, rest, two := strings.Cut(string(raw), "$")
	if err != nil || !two {
		return ""
	}
	server, _, _ := strings.Cut(rest, "$")
	host, port, hasPort := strings.Cut(domain, ":")
	if hasPort {
		port = ":" + port
	}
	return "https://" + server + "." + host + port
}
