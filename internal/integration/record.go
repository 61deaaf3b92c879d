package integration

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Integration is one connection.
type Integration struct {
	AccountID       int64     `json:"account_id" doc:"Owning account."`
	IntegrationID   int64     `json:"integration_id" doc:"The integration's identifier."`
	IntegrationName string    `json:"integration_name" maxLength:"59" doc:"1 to 59 characters."`
	IntegrationType string    `json:"integration_type" enum:"standard,prometheus,grafana,pagerduty,zabbix,sentry,heartbeat,change,webhook_incident,webhook_alert,slack_app,feishu_app,dingtalk_app,wecom_app,teams_app,monit.alert" doc:"What it is connected with: a source of alerts, of changes, a webhook, an app of a chat service, or monit.alert: the account's alert rules."`
	Description     string    `json:"description" maxLength:"500" doc:"At most 500 characters."`
	TeamID          int64     `json:"team_id" doc:"Owning team; 0: none."`
	ChannelID       int64     `json:"channel_id" doc:"Of a dedicated source: the channel that all of its alerts go to; 0: its route decides."`
	RefID           string    `json:"ref_id" maxLength:"255" doc:"Its id in the system it comes from; may be empty."`
	IntegrationKey  string    `json:"integration_key" maxLength:"255" doc:"Of a source: the key that its events come with; empty to callers who may only read."`
	PushURL         string    `json:"push_url" maxLength:"4096" doc:"Of a source: the path and query to push events to, after the address of the server; without the key for callers who may only read."`
	Settings        *Settings `json:"settings,omitzero" doc:"Of a webhook, heartbeat or app, and of a source its severity_map and max_bytes_per_day."`
	Status          string    `json:"status" enum:"enabled,disabled" doc:"enabled, or disabled: it receives and sends nothing."`
	CreatorID       int64     `json:"creator_id" doc:"The person who made it; 0: not known."`
	UpdatedBy       int64     `json:"updated_by" doc:"The person who changed it last."`
	CreatedAt       int64     `json:"created_at" doc:"Unix seconds."`
	UpdatedAt       int64     `json:"updated_at" doc:"Unix seconds."`
}

// Settings is the further configuration of webhooks, heartbeats and apps, and of sources whose severities are free words.
type Settings struct {
	Endpoint                    string            `json:"endpoint,omitzero" maxLength:"2048" secret:"url" doc:"Of a webhook: http or https URL without user name and password."`
	EventTypes                  []string          `json:"event_types,omitzero" maxItems:"50" maxLength:"64" doc:"Of a webhook: the events that it receives, such as i_new or a_update; absent or empty: everything."`
	ChannelIDs                  []int64           `json:"channel_ids,omitzero" maxItems:"1000" doc:"Of a webhook: only what happens in these channels; absent or empty: in all but private ones."`
	Headers                     map[string]string `json:"headers,omitzero" maxProperties:"50" maxLength:"8192" secret:"value" doc:"Of a webhook: further headers; their values are secrets."`
	SignSecret                  string            `json:"sign_secret,omitzero" maxLength:"255" secret:"value" doc:"Of a webhook: what requests are signed with; a secret; absent: not signed."`
	PreviousSignSecret          string            `json:"previous_sign_secret,omitzero" maxLength:"255" secret:"value" doc:"Of a webhook whose secret was rotated: the old one, which requests are signed with as well until it expires; never shown."`
	PreviousSignSecretExpiresAt int64             `json:"previous_sign_secret_expires_at,omitzero" minimum:"0" doc:"Of a webhook whose secret was rotated: when the old one ends, Unix seconds."`
	SignSecretRotatedAt         int64             `json:"sign_secret_rotated_at,omitzero" minimum:"0" doc:"When the secret was rotated, Unix seconds; absent: never. A Rotated secret is not shown."`
	InsecureSkipVerify          *bool             `json:"insecure_skip_verify,omitzero" doc:"Of a webhook: accept any certificate."`
	Body                        string            `json:"body,omitzero" maxLength:"65536" doc:"Of an incident webhook: a body of its own with {{path.to.field}} in it; absent: the standard one."`
	IntervalSeconds             int64             `json:"interval_seconds,omitzero" minimum:"10" maximum:"604800" doc:"Of a heartbeat: seconds without a sign of life after which an alert is raised."`
	SeverityMap                 map[string]string `json:"severity_map,omitzero" maxProperties:"100" maxLength:"8" doc:"Of prometheus and grafana: words of severities, each 1 to 64 characters in any case, with what they mean: Critical, Warning or Info; they precede the words that Tocsin knows (docs/sources.md)."`
	MaxBytesPerDay              int64             `json:"max_bytes_per_day,omitzero" minimum:"1048576" maximum:"1099511627776" doc:"Of a source: bytes of its events in a day (UTC); beyond it labels, images and description of an event are cut to 2 KB together, and beyond ten times it events are refused; absent: 268435456."`
	App                         map[string]string `json:"app,omitzero" maxProperties:"50" maxLength:"8192" secret:"value" doc:"Of an app: its credentials by name; the secret ones are shown as secrets are."`
	WarRoomEnabled              bool              `json:"war_room_enabled,omitzero" doc:"Of an app: war rooms are opened with it; only one integration of the account may have it."`
}

// AlertEvents and IncidentEvents are the events that a webhook can subscribe to. A webhook with a_update receives a_close
// too.
var (
	AlertEvents    = []string{"a_new", "a_update", "a_merge", "a_close"}
	IncidentEvents = []string{"i_new", "i_assign", "i_a_rspd", "i_snooze", "i_wake", "i_ack", "i_unack", "i_storm", "i_custom", "i_rslv",
		"i_reopen", "i_merge", "i_comm",
		"i_r_title", "i_r_desc", "i_r_impact", "i_r_rc", "i_r_rsltn", "i_r_severity", "i_r_field"}
)

// Types of integrations.
const (
	Heartbeat       = "heartbeat"
	Change          = "change"
	WebhookIncident = "webhook_incident"
	WebhookAlert    = "webhook_alert"
)

var types = []string{"standard", "prometheus", "grafana", "pagerduty", "zabbix", "sentry", Heartbeat, Change, WebhookIncident, WebhookAlert,
	SlackApp, FeishuApp, DingTalkApp, WeComApp, TeamsApp}

// IsWebhook reports whether the integration is an outbound webhook.
func (i *Integration) IsWebhook() bool {
	return i.IntegrationType == WebhookIncident || i.IntegrationType == WebhookAlert
}

// Kind describes integrations to the configuration store.
var Kind = configstore.Kind[Integration]{
	Name: configstore.Integration, Section: "integrations",
	Head: func(i *Integration) configstore.Head {
		return configstore.Head{ID: strconv.FormatInt(i.IntegrationID, 10), Name: i.IntegrationName, Search: i.Description, Team: i.TeamID,
			Creator: i.CreatorID, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt}
	},
	Refs: func(i *Integration) []configstore.Target {
		refs := []configstore.Target{configstore.RefTo(configstore.Team, i.TeamID), configstore.RefTo(configstore.Channel, i.ChannelID)}
		if i.Settings != nil {
			for _, channel := range i.Settings.ChannelIDs {
				refs = append(refs, configstore.RefTo(configstore.Channel, channel))
			}
		}
		return refs
	},
	Secrets: func(i *Integration, fn func(name, text string) (string, error)) (err error) {
		i.IntegrationKey, err = fn("key", i.IntegrationKey)
		if err != nil || i.Settings == nil {
			return err
		}
		s := *i.Settings
		s.SignSecret, err = fn("sign_secret", s.SignSecret)
		if err != nil {
			return err
		}
		s.PreviousSignSecret, err = fn("previous_sign_secret", s.PreviousSignSecret)
		if err != nil {
			return err
		}
		s.Headers = maps.Clone(s.Headers)
		for name, value := range s.Headers {
			s.Headers[name], err = fn("headers/"+name, value)
			if err != nil {
				return err
			}
		}
		s.App = maps.Clone(s.App)
		for name, value := range s.App {
			if slices.Contains(open, name) {
				continue
			}
			s.App[name], err = fn("app/"+name, value)
			if err != nil {
				return err
			}
		}
		i.Settings = &s
		return nil
	},
	Check: func(tx *db.Tx, at configstore.RecordPath, account int64, i *Integration) error {
		if i.Status == "" {
			i.Status = "enabled"
		}
		i.PushURL = ""
		if err := configstore.FirstError(at.Account(i.AccountID, account), at.AtLeast("integration_id", i.IntegrationID, 1),
			at.OneOf("status", i.Status, "enabled", "disabled"), i.check(at)); err != nil {
			return err
		}
		i.AccountID = account
		return nil
	},
}

// Load is Kind.Load, and registers the keys of sources. A source without a key gets one. At most one integration may have
// war rooms.
func Load(tx *db.Tx, keyring *secret.Keyring, account int64, records []Integration) error {
	for n := range records {
		i := &records[n]
		if i.IsSource() && i.IntegrationKey == "" && slices.Contains(types, i.IntegrationType) {
			i.IntegrationKey = newKey()
		}
		if err := registerKey(tx, account, i, 0); err != nil {
			return err
		}
	}
	if err := Kind.Load(tx, keyring, account, records); err != nil {
		return err
	}
	for n := range records {
		if err := records[n].checkWarRoom(tx, configstore.PathOf(Kind.Section, n), account); err != nil {
			return err
		}
	}
	return nil
}

// Erase deletes an integration and its keys.
func Erase(tx *db.Tx, account int64, id string) error {
	if err := tx.Do(`DELETE FROM integration_key WHERE account_id = $1 AND integration_id = $2`, account, id); err != nil {
		return err
	}
	return Kind.Delete(tx, account, id)
}

// check returns fault.Invalid for members that the type of integration does not allow.
func (i *Integration) check(at configstore.RecordPath) error {
	if err := configstore.FirstError(
		at.Length("integration_name", i.IntegrationName, 1, 59),
		at.OneOf("integration_type", i.IntegrationType, append(types[:len(types):len(types)], Monitors)...),
		at.Length("description", i.Description, 0, 500),
		at.AtLeast("team_id", i.TeamID, 0), at.AtLeast("channel_id", i.ChannelID, 0), at.Length("ref_id", i.RefID, 0, 255),
		at.Length("integration_key", i.IntegrationKey, 0, 255),
	); err != nil {
		return err
	}
	settings := at.Member("settings")
	if err := configstore.FirstError(i.checkSeverityMap(settings), i.checkBytesPerDay(settings)); err != nil {
		return err
	}
	switch {
	case !i.IsApp() && i.Settings != nil && (i.Settings.WarRoomEnabled || i.Settings.App != nil):
		return settings.Invalid("app", "and war_room_enabled are for apps of chat services, not for the type %s", i.IntegrationType)
	case i.IsWebhook() && i.Settings == nil:
		return settings.Invalid("endpoint", "is required for a webhook")
	case i.IsWebhook() && i.ChannelID != 0:
		return at.Invalid("channel_id", "is for sources of alerts; a webhook has settings.channel_ids")
	case i.IsWebhook():
		return i.Settings.checkWebhook(settings, i.IntegrationType)
	case i.IsApp() && i.ChannelID != 0:
		return at.Invalid("channel_id", "is for sources of alerts, not for a %s", i.IntegrationType)
	case i.IsApp() && i.Settings == nil:
		return (&Settings{}).checkApp(settings, i.IntegrationType)
	case i.IsApp():
		return i.Settings.checkApp(settings, i.IntegrationType)
	case i.IntegrationType == Heartbeat && (i.Settings == nil || i.Settings.IntervalSeconds < 10 || i.Settings.IntervalSeconds > 604800):
		return settings.Invalid("interval_seconds", "must be from 10 to 604800 for a heartbeat")
	case i.IntegrationType == Heartbeat && i.ChannelID == 0:
		return at.Invalid("channel_id", "is required for a heartbeat: its alert has to go somewhere")
	}
	return nil
}

// checkWebhook returns fault.Invalid for settings that a webhook of this type cannot have.
func (s *Settings) checkWebhook(at configstore.RecordPath, kind string) error {
	u, err := url.Parse(s.Endpoint)
	switch {
	case s.Endpoint == "":
		return at.Invalid("endpoint", "is required for a webhook")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return at.Invalid("endpoint", "must be an http or https URL")
	case u.User != nil:
		return at.Invalid("endpoint", "must not hold a user name or password; use headers")
	}
	known := IncidentEvents
	if kind == WebhookAlert {
		known = AlertEvents
	}
	for i, event := range s.EventTypes {
		if err := at.Element("event_types", i).OneOf("", event, known...); err != nil {
			return err
		}
	}
	return checkHeaders(at, s.Headers)
}

// Key is the integration of any account that a key belongs to.
type Key struct {
	Integration
	Expired bool // the key was replaced, and is not valid any more
}

// ByKey returns the integration that a key belongs to: the current key, or one that was replaced, which is valid until it
// expires (Unix seconds). Keys are long and random and are looked up by their hashes, so that the time of the lookup
// reveals nothing about them.
func ByKey(tx *db.Tx, key string, now int64) (k Key, found bool, err error) {
	type owner struct {
		account, expires int64
		id               string
	}
	o, found, err := db.One(tx, func(scan db.Scan) (o owner, err error) { return o, scan(&o.account, &o.id, &o.expires) },
		`SELECT account_id, integration_id, expires_at FROM integration_key WHERE key_hash = $1`, hashOf(key))
	if err != nil || !found {
		return k, false, err
	}
	k.Integration, found, err = Kind.Find(tx, o.account, o.id)
	k.AccountID, k.Expired = o.account, o.expires > 0 && o.expires <= now
	return k, found, err
}

// registerKey stores the hash of a source's key until expires (Unix seconds; 0: no expiry).
func registerKey(tx *db.Tx, account int64, i *Integration, expires int64) error {
	if i.IntegrationKey == "" {
		return nil
	}
	return tx.Do(`INSERT INTO integration_key (key_hash, account_id, integration_id, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (key_hash) DO UPDATE SET expires_at = excluded.expires_at, account_id = excluded.account_id,
			integration_id = excluded.integration_id`,
		hashOf(i.IntegrationKey), account, strconv.FormatInt(i.IntegrationID, 10), expires)
}

// hashOf returns the SHA-256 of a key in hexadecimal digits.
func hashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// Heartbeats lists the enabled heartbeats of an account.
func Heartbeats(tx *db.Tx, account int64) (list []Integration, err error) {
	all, err := Kind.All(tx, account)
	for _, i := range all {
		if i.IntegrationType == Heartbeat && i.Status == "enabled" && i.Settings != nil {
			i.AccountID = account
			list = append(list, i)
		}
	}
	return list, err
}
