package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// This file has the members of forms that are seldom needed.

func TestMergeNamesLeadAndTitle(t *testing.T) {
	t.Parallel()
	w := begin(t)
	ids := w.objects()
	owner := w.signIn(ownerKey)
	alert, _, _ := strings.Cut(ids["alerts"], "?")
	from := owner.get("/alerts/" + alert).shows("Move to another incident").link("/incidents/")
	choice := owner.get("/alerts/"+alert+"/merge").shows("Move the alert", "!"+strings.TrimPrefix(from, "/incidents/")+`"`)
	_, target, _ := strings.Cut(choice.body, `name="target" value="`)
	target, _, _ = strings.Cut(target, `"`)
	owner.post("/alerts/"+alert+"/merge", "comment", "same fault").showsWith(http.StatusBadRequest, "Choose the incident", "same fault")
	owner.post("/alerts/"+alert+"/merge", "target", target, "owner.add", "Unknown").showsWith(http.StatusBadRequest, "named “Unknown”")
	owner.post("/alerts/"+alert+"/merge", "target", target, "title", "Shop and till", "comment", "same fault", "owner", "7000000000013").shows(
		"Shop and till", "same fault")
}

func TestResolveStoresCause(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(`{"title_rule": "Shop is down", "event_status": "Critical", "alert_key": "shop"}`)
	owner := w.signIn(ownerKey)
	path := owner.get("/incidents").link("/incidents/")
	owner.get(path).shows("Root cause and resolution")
	owner.post(path+"/resolve", "root_cause", "full disk", "resolution", "larger disk").shows("full disk", "larger disk")
	owner.post(path+"/reopen", "comment", "It is back").shows("It is back")
	owner.get(path+"/room").shows("War room", "No chat app opens war rooms")
	owner.post(path+"/room", "integration_id", "5", "person.add", "Unknown").showsWith(http.StatusBadRequest, "named “Unknown”")
	owner.post(path+"/room/add", "integration_id", "5", "chat_id", "x", "person", "7000000000012").showsWith(http.StatusNotFound)
	owner.post(path+"/room/end", "integration_id", "5").showsWith(http.StatusNotFound)
}

func TestCalendarFollowsAnother(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	holidays := owner.post("/calendars/new", "name", "Holidays", "zone", "UTC", "day.1", "1").path
	works := owner.post("/calendars/new", "name", "Works", "zone", "UTC", "extra."+strings.TrimPrefix(holidays, "/calendars/"), "1")
	works.shows("The days of Holidays count here too", " checked>")
	owner.post(works.path+"/days", "summary", "Feast", "start", "2026-12-24", "end", "2026-12-25", "description", "half a day").shows("Feast", "half a day")
	_, day, _ := strings.Cut(owner.get(works.path).body, `href="`+works.path+"?day=")
	day, _, _ = strings.Cut(day, "\"")
	form := owner.get(works.path+"?day="+day).shows(`value="Feast"`, `value="half a day"`)
	_, event, _ := strings.Cut(form.body, `name="event" value="`)
	event, _, _ = strings.Cut(event, `"`)
	owner.post(works.path+"/days", "event", event, "summary", "Feasts", "start", "2026-12-24", "end", "2026-12-26", "off", "1").shows("Feasts", "!half a day", "2026-12-26")
}

func TestFieldHasDefault(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.post("/fields/663a1b2c3d4e5f6789abcf01", "display", "Region", "options", "eu\nus", "default", "mars").showsWith(http.StatusBadRequest, "default_value", "mars")
	owner.post("/fields/663a1b2c3d4e5f6789abcf01", "display", "Region", "options", "eu\nus", "default", "us")
	owner.get("/fields/663a1b2c3d4e5f6789abcf01").shows(`value="us"`)
	owner.post("/fields/663a1b2c3d4e5f6789abcf02", "display", "Parts", "options", "web\nmail", "default", "web, mail")
	owner.get("/fields/663a1b2c3d4e5f6789abcf02").shows(`value="web, mail"`)
	owner.post("/fields/663a1b2c3d4e5f6789abcf03", "display", "Known", "default", "yes")
	owner.get("/fields/663a1b2c3d4e5f6789abcf03").shows(`value="true"`)
}

func TestTeamTakesAddresses(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	team, _, _ := strings.Cut(owner.post("/teams", "name", "Search").path, "?")
	owner.post(team, "name", "Search", "emails", "ann@example.com\nfresh@example.com", "ref", "hr-1").shows("Ann Day", "fresh", `value="hr-1"`)
	owner.post(team, "name", "Search", "phones", "12345", "country", "DE").showsWith(http.StatusBadRequest, "12345", `value="DE"`)
}

func TestAbsenceIsChanged(t *testing.T) {
	t.Parallel()
	w := begin(t)
	b := w.signIn(annKey)
	b.post(ann+"/absence", "do", "save", "start", "2026-12-01 08:00", "end", "2026-12-05 08:00", "note", "holiday").shows("holiday")
	_, id, _ := strings.Cut(b.get(ann+"/shifts").body, ann+"/shifts?absence=")
	id, _, _ = strings.Cut(id, "#")
	b.get(ann+"/shifts?absence="+id).shows("Change of the absence", `value="2026-12-05 08:00"`, `value="holiday"`)
	b.post(ann+"/absence", "do", "review", "absence", id, "start", "2026-12-01 08:00", "end", "2026-12-07 08:00", "note", "longer").shows("Change of the absence")
	b.post(ann+"/absence", "do", "save", "absence", id, "start", "2026-12-01 08:00", "end", "2026-12-07 08:00", "note", "longer").shows("longer", "!holiday")
}

func TestPersonLeavesSchedules(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.post(ann+"/delete", "do", "review").shows("Still used by", "Day")
	owner.post(ann+"/delete", "do", "review", "force", "1").shows("alone in a role of turn 1")
	owner.get(ann).shows("Ann Day")
}
