package postgres

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// clientOptions are options of other clients of PostgreSQL, with the values that ask for what this program does anyway, and why
// no other value is accepted. The driver would send them to the server as settings, which refuses them without a reason.
var clientOptions = map[string]struct {
	same []string
	why  string
}{
	"keepalives":          {[]string{"1"}, "the program sends keepalives every 5 seconds"},
	"keepalives_idle":     {nil, "the program sends keepalives every 5 seconds, and statement_timeout bounds its wait"},
	"keepalives_interval": {nil, "the program sends keepalives every 5 seconds, and statement_timeout bounds its wait"},
	"keepalives_count":    {nil, "the program sends keepalives every 5 seconds, and statement_timeout bounds its wait"},
	"load_balance_hosts":  {[]string{"disable"}, "the program reads and writes on the primary alone"},
	"gssencmode":          {[]string{"disable", "prefer"}, "the program encrypts with TLS alone: use sslmode"},
	"gsslib":              {nil, "the program encrypts with TLS alone: use sslmode"},
	"gssdelegation":       {[]string{"0"}, "the program delegates no credentials"},
	"hostaddr":            {nil, "write the address as the host"},
	"requirepeer":         {nil, "the program does not check the user of a socket"},
	"sslcompression":      {[]string{"0"}, "the program does not compress TLS"},
	"sslcrl":              {nil, "the program reads no revocation list"},
	"sslcrldir":           {nil, "the program reads no revocation list"},
	"replication":         {nil, "the program is no standby"},
}

// maxConnectTimeout bounds connect_timeout: callers wait meanwhile.
const maxConnectTimeout = 10 * time.Second

// acceptOptions accepts or refuses the options of an address that are not the server's.
func acceptOptions(c *pgconn.Config) error {
	for _, name := range slices.Sorted(maps.Keys(clientOptions)) {
		value, given := c.RuntimeParams[name]
		if !given {
			continue
		}
		if !slices.Contains(clientOptions[name].same, value) {
			return fmt.Errorf("option %s=%s cannot be set: %s; leave it out", name, value, clientOptions[name].why)
		}
		delete(c.RuntimeParams, name)
	}
	switch {
	case c.ConnectTimeout == 0: // not given
		c.ConnectTimeout = dialTimeout
	case c.ConnectTimeout > maxConnectTimeout:
		return fmt.Errorf("option connect_timeout=%.0f is more than %.0f seconds: callers wait meanwhile",
			c.ConnectTimeout.Seconds(), maxConnectTimeout.Seconds())
	}
	return nil
}
