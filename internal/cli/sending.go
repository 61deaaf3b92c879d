package cli

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"tocsin/internal/app"
	"tocsin/internal/engine/notify"
	"tocsin/internal/sender/email"
	"tocsin/internal/sender/twilio"
)

// sending holds the flags of the senders. Secrets are read from files.
type sending struct {
	PublicURL        string   `name:"public-url" help:"Address at which people reach this server, for links in messages." placeholder:"URL"`
	SMTP             string   `name:"smtp" help:"Mail server, HOST or HOST:PORT; without it no mail is sent." placeholder:"HOST:PORT"`
	SMTPFrom         string   `name:"smtp-from" help:"Sender of mails, such as 'Tocsin <tocsin@example.com>'." placeholder:"ADDRESS"`
	SMTPTLS          string   `name:"smtp-tls" help:"starttls, implicit, opportunistic or none." enum:"starttls,implicit,opportunistic,none" default:"starttls"`
	SMTPUser         string   `name:"smtp-user" help:"User name at the mail server." placeholder:"NAME"`
	SMTPPasswordFile string   `name:"smtp-password-file" help:"File with the password at the mail server." placeholder:"FILE"`
	SMTPInsecure     bool     `name:"smtp-insecure" help:"Accept any certificate of the mail server."`
	Gateway          string   `name:"gateway" help:"URL that accepts voice calls and text messages; see docs/senders.md." placeholder:"URL"`
	GatewayTokenFile string   `name:"gateway-token-file" help:"File with the bearer token of the gateway." placeholder:"FILE"`
	TwilioAccount    string   `name:"twilio-account" help:"SID of the Twilio account that makes voice calls and sends text messages." placeholder:"SID"`
	TwilioTokenFile  string   `name:"twilio-token-file" help:"File with the auth token of the Twilio account." placeholder:"FILE"`
	TwilioFrom       string   `name:"twilio-from" help:"Number that calls and text messages come from, such as +4915112345678." placeholder:"NUMBER"`
	TwilioService    string   `name:"twilio-messaging-service" help:"SID of the messaging service that text messages come from instead." placeholder:"SID"`
	TwilioMachines   bool     `name:"twilio-machine-detection" help:"Have Twilio detect answering machines, which it charges for."`
	OutboundAllow    []string `help:"Networks that webhooks and chats may reach although they are this machine's own or link-local." placeholder:"CIDR"`
	OutboundPublic   bool     `help:"Webhooks and chats must not reach private networks and reserved addresses."`
	CallsPerMinute   int      `name:"calls-per-minute" help:"Calls, text messages and pushes that a person gets in a minute, of each; further notifications are bundled." default:"5"`
	MailsPerMinute   int      `name:"mails-per-minute" help:"Mails and chat messages that a person or chat gets in a minute, of each; further notifications are bundled." default:"10"`
	AliveURL         string   `name:"alive-url" help:"Called every minute while background work is on time, so that another system notices when it is not." placeholder:"URL"`
}

func (s sending) apply(c *app.Config) (err error) {
	for flag, text := range map[string]string{"--public-url": s.PublicURL, "--gateway": s.Gateway, "--alive-url": s.AliveURL} {
		if u, err := url.Parse(text); text != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			return misuseError{fmt.Errorf("%s %q: want an http or https URL", flag, text)}
		}
	}
	for flag, n := range map[string]int{"--calls-per-minute": s.CallsPerMinute, "--mails-per-minute": s.MailsPerMinute} {
		if n < notify.MinBudget || n > notify.MaxBudget {
			return misuseError{fmt.Errorf("%s %d: want %d to %d", flag, n, notify.MinBudget, notify.MaxBudget)}
		}
	}
	c.Budget = notify.Budget{Urgent: s.CallsPerMinute, Other: s.MailsPerMinute}
	c.PublicURL = strings.TrimRight(s.PublicURL, "/")
	c.Senders.RefusePrivate, c.Senders.AliveURL = s.OutboundPublic, s.AliveURL
	c.Senders.Allow, err = networks("--outbound-allow", s.OutboundAllow)
	if err != nil {
		return err
	}
	c.Senders.Gateway.URL = s.Gateway
	c.Senders.Gateway.Token, err = secretFile(s.GatewayTokenFile)
	if err != nil {
		return err
	}
	c.Senders.Twilio, err = s.twilio()
	if err != nil || s.SMTP == "" {
		return err
	}
	m := email.Server{Host: s.SMTP, From: s.SMTPFrom, TLS: s.SMTPTLS, Username: s.SMTPUser, Insecure: s.SMTPInsecure}
	if host, port, err := net.SplitHostPort(s.SMTP); err == nil {
		m.Host = host
		m.Port, err = strconv.Atoi(port)
		if err != nil || m.Port < 1 || m.Port > 65535 {
			return misuseError{fmt.Errorf("--smtp %q: the port must be from 1 to 65535", s.SMTP)}
		}
	}
	if m.From == "" {
		return misuseError{fmt.Errorf("--smtp needs --smtp-from, the address that mails come from")}
	}
	m.Password, err = secretFile(s.SMTPPasswordFile)
	if err != nil {
		return err
	}
	c.Senders.Mail = m
	return nil
}

// twilio returns the account at Twilio; zero when there is none.
func (s sending) twilio() (a twilio.Account, err error) {
	a = twilio.Account{SID: s.TwilioAccount, From: s.TwilioFrom, Service: s.TwilioService, Machines: s.TwilioMachines}
	if a == (twilio.Account{}) && s.TwilioTokenFile == "" {
		return a, nil
	}
	a.Token, err = secretFile(s.TwilioTokenFile)
	if err != nil {
		return a, err
	}
	switch err := a.Check(); {
	case err != nil:
		return a, misuseError{err}
	case s.Gateway != "":
		return a, misuseError{errors.New("--twilio-account and --gateway exclude each other: calls go one way")}
	case s.PublicURL == "":
		return a, misuseError{errors.New("--twilio-account needs --public-url, where Twilio reports digits and delivery states")}
	}
	return a, nil
}

// secretFile reads a secret, without the line break at its end.
func secretFile(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}
