package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/auth"
	"tocsin/internal/core/sentence"
	"tocsin/internal/querier"
)

// serving holds the flags of the commands that run a server.
type serving struct {
	LimitPerSecond         int           `help:"Calls per second, account and operation; 0: no limit." default:"50"`
	LimitPerMinute         int           `help:"Calls per minute, account and operation; 0: no limit." default:"1000"`
	PushPerSecond          int           `help:"Requests with events per second and integration; 0: no limit." default:"1000"`
	PushPerMinute          int           `help:"Requests with events per minute and integration; 0: no limit." default:"30000"`
	PushAlerts             int           `help:"Alerts that are taken of one request." default:"10000"`
	PushBytes              int64         `help:"Bytes that are read of one request with events." default:"16777216"`
	BrowserErrorsPerSecond int           `help:"Errors of pages per second and address, of which new kinds are issues; 0: no limit." default:"20"`
	BrowserKindsPerHour    int           `help:"New kinds of errors of pages per hour and address that are issues; 0: no limit." default:"20"`
	TLSCert                string        `name:"tls-cert" help:"PEM file with the certificate chain; together with --tls-key." placeholder:"FILE"`
	TLSKey                 string        `name:"tls-key" help:"PEM file with the certificate's key." placeholder:"FILE"`
	TrustedProxies         []string      `help:"Networks whose X-Forwarded-For is believed, such as 10.0.0.0/8." placeholder:"CIDR"`
	AuditDays              int           `help:"Days that audit entries are kept; 0: for ever." default:"400"`
	DeliveryDays           int           `help:"Days that webhook deliveries are kept; 0: for ever." default:"90"`
	EventDays              int           `help:"Days that events, their verdicts and notifications, and changes are kept; 0: for ever." default:"180"`
	DroppedDays            int           `help:"Days that this is kept of events that were dropped or repeated; 0: as the others." default:"30"`
	IncidentDays           int           `help:"Days that closed incidents and ended alerts are kept, with their feeds; 0: for ever." default:"365"`
	DatabaseGiB            int64         `name:"database-gib" help:"GiB that a database on PostgreSQL may take, so that the server warns a day before; 0: not known." default:"0"`
	LimitWait              time.Duration `help:"How long calls above the limits wait for their turn, if their key has no wait, up to 30s; 0s: they are refused at once." default:"0s"`
	DatasourceAllow        []string      `help:"Networks in which datasources may be although they are this machine's own or otherwise refused; link-local ones and metadata services stay refused." placeholder:"CIDR"`
	SecretEnv              []string      `name:"secret-env" help:"Variable that datasources may refer to as ${env:NAME}, with the host that may receive its value; repeatable." placeholder:"NAME=HOST"`
	sending
	openID
	LogFormat string `help:"text or json." enum:"text,json" default:"text"`
}

// maxLimitWait is that of a key.
const maxLimitWait = auth.MaxWait * time.Second

func (s serving) apply(c *app.Config) error {
	if s.LimitPerSecond < 0 || s.LimitPerMinute < 0 || min(s.AuditDays, s.DeliveryDays, s.EventDays, s.DroppedDays, s.IncidentDays) < 0 {
		return misuseError{fmt.Errorf("limits and days must be 0 or more")}
	}
	if s.DatabaseGiB < 0 || s.DatabaseGiB > 1<<30 {
		return misuseError{fmt.Errorf("--database-gib must be from 0 to %d, got %d", 1<<30, s.DatabaseGiB)}
	}
	if s.DatabaseGiB > 0 && strings.HasPrefix(c.DB, "sqlite:") {
		return misuseError{errors.New("--database-gib is for PostgreSQL: the disk of an embedded database is measured")}
	}
	c.DatabaseBytes = s.DatabaseGiB << 30
	if s.LimitWait < 0 || s.LimitWait > maxLimitWait {
		return misuseError{fmt.Errorf("--limit-wait must be from 0s to %s, got %s", maxLimitWait, s.LimitWait)}
	}
	if min(s.BrowserErrorsPerSecond, s.BrowserKindsPerHour) < 0 {
		return misuseError{errors.New("--browser-errors-per-second and --browser-kinds-per-hour must be 0 or more")}
	}
	if min(s.PushPerSecond, s.PushPerMinute) < 0 ||
		s.PushAlerts < 1 || s.PushAlerts > 1_000_000 || s.PushBytes < 1<<20 || s.PushBytes > 1<<30 {
		return misuseError{fmt.Errorf("--push-alerts must be from 1 to 1000000, --push-bytes from 1 MiB to 1 GiB, the other limits 0 or more")}
	}
	c.LimitPerSecond, c.LimitPerMinute = s.LimitPerSecond, s.LimitPerMinute
	c.LimitWait = s.LimitWait
	c.PushPerSecond = s.PushPerSecond
	c.PushPerMinute = s.PushPerMinute
	c.PushAlerts = s.PushAlerts
	c.PushBytes = s.PushBytes
	c.BrowserErrorsPerSecond, c.BrowserKindsPerHour = s.BrowserErrorsPerSecond, s.BrowserKindsPerHour
	c.TLSCert, c.TLSKey = s.TLSCert, s.TLSKey
	c.AuditDays = s.AuditDays
	c.DeliveryDays = s.DeliveryDays
	c.IncidentDays = s.IncidentDays
	c.EventDays, c.DroppedDays = s.EventDays, s.DroppedDays
	var err error
	c.TrustedProxies, err = networks("--trusted-proxies", s.TrustedProxies)
	if err != nil {
		return err
	}
	c.DatasourceAllow, err = networks("--datasource-allow", s.DatasourceAllow)
	if err != nil {
		return err
	}
	c.SecretEnv, err = querier.ParseSecretEnv(s.SecretEnv)
	if err != nil {
		return misuseError{fmt.Errorf("--secret-env %w", err)}
	}
	if err := s.sending.apply(c); err != nil {
		return err
	}
	return s.openID.apply(c)
}

func networks(flag string, texts []string) (list []netip.Prefix, err error) {
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, misuseError{fmt.Errorf("%s %q: want a network such as 10.0.0.0/8", flag, text)}
		}
		list = append(list, p)
	}
	return list, nil
}

type serveCmd struct {
	Listen   string `help:"HOST:PORT; port 0 picks a free one." default:"127.0.0.1:8080"`
	LogLevel string `help:"Least severe line to log: debug, info, warn or error. Calls are logged at info." enum:"debug,info,warn,error" default:"info"`
	TimeZone string `help:"Time zone (IANA name) of the account that the first start creates (default: UTC)." default:"UTC" placeholder:"ZONE"`
	Hold     bool   `help:"Send nothing until tocsin release: take events, decide and record only."`
	Release  bool   `help:"Send although the database is held, as one that was restored or copied is."`
	database
	newSealKey
	serving
}

// Run serves until SIGTERM or SIGINT.
func (cmd *serveCmd) Run(con *console) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	c := cmd.database.config()
	if cmd.Hold && cmd.Release {
		return misuseError{errors.New("give --hold or --release, not both")}
	}
	c.Listen = cmd.Listen
	c.NewSealKey = cmd.NewSealKey
	c.Hold = cmd.Hold
	c.Release = cmd.Release
	c.Log = logger(con.err, cmd.LogFormat, cmd.LogLevel)
	if err := cmd.serving.apply(&c); err != nil {
		return err
	}
	a, err := app.New(ctx, c)
	if err != nil {
		return err
	}
	return run(ctx, a, con, func(url string) error {
		first, err := a.FirstStart(ctx, cmd.TimeZone)
		if first != nil {
			fmt.Fprintf(con.out, "created account %d with owner %d; its app key, shown this once:\n%s\n", first.AccountID, first.OwnerID, first.Key)
			fmt.Fprintf(con.out, "another key: %s\n", keyCreateLine(cmd.DB, first.AccountID))
			fmt.Fprintf(con.out, "the console, where the owner sets a password, once: %s%s\n", cmp.Or(c.PublicURL, url), first.LinkPath)
		}
		if err == nil && a.SendsNothing() {
			c.Log.Warn(sentence.Of("l_sends_nothing"))
		}
		return err
	})
}

// run starts the server, calls prepare, prints the address and serves until ctx ends. The port is opened before
// anything is written, so that a second server on the same database does no harm.
func run(ctx context.Context, a *app.App, con *console, prepare func(url string) error) error {
	ServerPace.Keep()
	addThreads()
	s, err := a.Start()
	if err != nil {
		return errors.Join(err, a.Close())
	}
	if err := prepare(s.URL); err != nil {
		return errors.Join(err, s.Stop())
	}
	if why := a.Gate.Reason(); why != "" {
		fmt.Fprintf(con.out, "HELD, nothing is sent: %s; to send: %s\n", why, releaseLine(a.DB.DSN()))
	}
	limitMemory(a.Log) // after all that may keep the program from starting, whose error is then all that is printed
	fmt.Fprintln(con.out, "listening on", s.URL)
	return errors.Join(s.Wait(ctx), s.Stop())
}

// addThreads runs twice as many threads as a small machine has processors. Go lets a call compute for 10 ms before another
// gets its thread: with two threads, two calls that compute held back all others, and a commit that was on disk, for 8 ms and
// more, dozens of times a second. The system lets a thread that has waited run at once. With more threads, three nodes on
// one machine were in each other's way. Where Go runs fewer threads than there are processors, the process has a limit of
// processor time: more would use it up sooner, and all wait for the next.
func addThreads() {
	const small = 8
	n := runtime.NumCPU()
	if _, set := os.LookupEnv("GOMAXPROCS"); !set && n < small && n == runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(2 * n)
	}
}
