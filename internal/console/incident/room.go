package incident

import (
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	incidents "tocsin/internal/incident"
	"tocsin/internal/warroom"
)

var roomPages = []page.Page{
	{Path: "/incidents/{id}/room", Template: "incident_room", Tab: "incidents", Show: showRoom, Needs: page.ManageIncidents},
}

var roomActions = []page.Action{
	{Path: "/incidents/{id}/room", Do: openRoom, Show: showRoom, Template: "incident_room", Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/room/add", Do: addToRoom, Show: showRoom, Template: "incident_room", Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/room/end", Do: endRoom, Show: showRoom, Template: "incident_room", Needs: page.ManageIncidents},
}

// roomView is the war rooms of an incident, with the forms to open one, to add persons and to end it.
type roomView struct {
	page.Titled
	Incident incident
	Rooms    []warroom.Record
	Apps     []named // that one can be opened with
	People   page.Offer
	Persons  page.Picker
}

func showRoom(v *page.Visit) (page.View, error) {
	i, err := findIncident(v)
	if err != nil {
		return nil, err
	}
	d := roomView{Titled: page.Titled(v.T("War room")), Incident: i}
	d.Rooms, d.Apps, err = roomsOf(v, i)
	if err != nil {
		return nil, err
	}
	d.People, err = v.PeopleOffer()
	chosen, _ := d.People.Read(v, "person") // a name that is not known stays in its input
	d.Persons = d.People.Picker(v, "person", v.T("Further people"), chosen)
	return d, err
}

// roomsOf returns the war rooms of an incident, and the apps that another one can be opened with.
func roomsOf(v *page.Visit, i incident) (rooms []warroom.Record, free []named, err error) {
	reply, err := page.Call[api.Items[warroom.Record]](v, "/incident/war-room/list", warroom.ListRequest{OneRequest: i.one()})
	if err != nil || !v.ManagesIncidents() || !i.Open() {
		return reply.Items, nil, err
	}
	apps, err := page.Call[api.Paged[warroom.Enabled]](v, "/datasource/im/war-room-enabled/list", api.Empty{})
	if refused := api.RefusalOf(err); refused != nil && refused.Code == "AccessDenied" {
		return reply.Items, nil, nil // the visitor may not see integrations: there is nothing to open one with
	}
	for _, a := range apps.Items {
		if !slices.ContainsFunc(reply.Items, func(r warroom.Record) bool { return r.IntegrationID == a.IntegrationID }) {
			free = append(free, named{strconv.FormatInt(a.IntegrationID, 10), a.IntegrationName})
		}
	}
	return reply.Items, free, err
}

// roomPersons returns the persons that were chosen for a war room.
func roomPersons(v *page.Visit) ([]int64, error) {
	people, err := v.PeopleOffer()
	if err != nil {
		return nil, err
	}
	return people.Read(v, "person")
}

func openRoom(v *page.Visit) (string, error) {
	persons, err := roomPersons(v)
	if err != nil {
		return "", err
	}
	request := warroom.CreateRequest{
		OneRequest: incidents.OneRequest{IncidentID: v.Request.PathValue("id")}, IntegrationID: v.Number("integration_id"),
		MemberIDs: persons, AddObservers: v.Field("observers") != "",
	}
	return incidentPath(v, "room"), page.Do[warroom.Created](v, "/incident/war-room/create", request)
}

func addToRoom(v *page.Visit) (string, error) {
	persons, err := roomPersons(v)
	if err != nil {
		return "", err
	}
	request := warroom.AddRequest{
		ChatRequest: warroom.ChatRequest{IntegrationID: v.Number("integration_id"), ChatID: v.Field("chat_id")}, MemberIDs: persons,
	}
	return incidentPath(v, "room"), page.Do[api.Warnings](v, "/incident/war-room/add-member", request)
}

func endRoom(v *page.Visit) (string, error) {
	request := warroom.DeleteRequest{
		OneRequest: incidents.OneRequest{IncidentID: v.Request.PathValue("id")}, IntegrationID: v.Number("integration_id"),
	}
	return incidentPath(v, "room"), page.Do[api.Removal](v, "/incident/war-room/delete", request)
}
