package demo

import (
	"strings"

	"tocsin/internal/auth"
	"tocsin/internal/person"
	"tocsin/internal/role"
	"tocsin/internal/team"
)

// The persons of the account; their IDs are the same in every run.
const (
	anna int64 = accountID + 50_000 + iota*1000
	jonas
	zoe
	lukasz
	siobhan
	eleni
	olena
	lina
	sato
	minjun
	priya
	beatriz
	maya
	layla
)

const (
	platform int64 = accountID + 100_000 + iota*1000
	checkout
	storefront
)

const (
	operator int64 = 1 + iota
	responder
	monitoring
	reader
)

// persons returns the persons of the account. Phone numbers are from the range that the German regulator reserves for
// films and books, mail addresses from a domain that cannot exist.
func persons() []person.Record {
	all := []person.Record{
		someone(anna, "Anna Schäfer", "de-DE", "Europe/Berlin", "anna", "23125 101"),
		someone(jonas, "Jonas Köhler", "de-DE", "Europe/Berlin", "jonas", "23125 102", operator, monitoring),
		someone(zoe, "Zoë Lefèvre", "fr-FR", "Europe/Paris", "zoe", "23125 103", operator),
		someone(lukasz, "Łukasz Wiśniewski", "pl-PL", "Europe/Warsaw", "lukasz", "23125 104", responder),
		someone(siobhan, "Siobhán Ní Bhriain", "en-IE", "Europe/Dublin", "siobhan", "23125 105", responder, monitoring),
		someone(eleni, "Ελένη Παπαδοπούλου", "el-GR", "Europe/Athens", "eleni", "23125 106", responder),
		someone(olena, "Олена Шевченко", "uk-UA", "Europe/Kyiv", "olena", "23125 107", responder),
		someone(lina, "李娜", "zh-CN", "Asia/Shanghai", "lina", "23125 108", responder, monitoring),
		someone(sato, "佐藤 健", "ja-JP", "Asia/Tokyo", "sato", "23125 109", operator),
		someone(minjun, "김민준", "ko-KR", "Asia/Seoul", "minjun", "23125 110", responder),
		someone(priya, "प्रिया शर्मा", "hi-IN", "Asia/Kolkata", "priya", "23125 111", responder),
		someone(beatriz, "Beatriz Gonçalves", "pt-BR", "America/Sao_Paulo", "beatriz", "23125 112", responder),
		someone(maya, "Maya Thompson", "en-US", "America/Los_Angeles", "maya", "23125 113", operator),
		someone(layla, "ليلى حداد", "ar-AE", "Asia/Dubai", "layla", "", reader),
	}
	for i := range all[:3] {
		all[i].Avatar = "https://people." + domain + "/" + all[i].Email[:strings.IndexByte(all[i].Email, '@')] + ".png"
	}
	return all
}

func someone(id int64, name, locale, zone, mailbox, phone string, roles ...int64) person.Record {
	p := person.Record{RoleIDs: roles, Item: person.Item{
		AccountID: accountID, PersonID: id, PersonName: name, Locale: locale, TimeZone: zone,
		Email: mailbox + "@" + domain, EmailVerified: true, As: "member", Status: "enabled",
	}}
	if phone != "" {
		p.Phone, p.PhoneVerified = "+49 30 "+phone, true
	}
	return p
}

// appKeys returns a key of the owner that no one has, because only its hash is stored.
func appKeys(m moments) []auth.KeyRecord {
	permissions := names(auth.IntegrationsManage, auth.ChannelsRead)
	return []auth.KeyRecord{{
		KeyID: accountID + 330_000, Name: "Deployments", PersonID: anna, KeyHash: strings.Repeat("67a1c0de", 8), Permissions: &permissions,
		CreatedAt: m.ago(60 * day).Unix(),
	}}
}

func byID(id int64) person.Item {
	for _, p := range persons() {
		if p.PersonID == id {
			return p.Item
		}
	}
	return person.Item{}
}

func teams() []team.Record {
	return []team.Record{
		{TeamID: platform, TeamName: "Plattform", PersonIDs: []int64{anna, jonas, lukasz, siobhan, minjun}},
		{TeamID: checkout, TeamName: "Checkout & Zahlung", PersonIDs: []int64{zoe, eleni, olena, sato, beatriz}},
		{TeamID: storefront, TeamName: "Storefront", PersonIDs: []int64{maya, lina, priya, sato, layla}},
	}
}

func roles() []role.Record {
	return []role.Record{
		{
			RoleID:   operator,
			RoleName: "On-call operator",
			Permissions: names(auth.IncidentsManage, auth.ChannelsManage, auth.IntegrationsManage, auth.SchedulesManage, auth.CalendarsManage,
				auth.TemplatesManage),
		},
		{
			RoleID:      responder,
			RoleName:    "Responder",
			Permissions: names(auth.IncidentsManage, auth.ChannelsRead, auth.IntegrationsRead, auth.SchedulesRead),
		},
		{
			RoleID:      monitoring,
			RoleName:    "Monitoring",
			Permissions: names(auth.DatasourcesManage, auth.AlertingRulesManage, auth.ApplicationsManage),
		},
		{RoleID: reader, RoleName: "Reader", Permissions: everyRead()},
	}
}

func names(list ...auth.Permission) []string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.String()
	}
	return names
}

// everyRead returns the permissions that only read.
func everyRead() (names []string) {
	for _, name := range auth.Names(auth.All) {
		if strings.Contains(name, " Read (") {
			names = append(names, name)
		}
	}
	return names
}
