package people

import (
	"net/url"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/team"
)

var teamPages = []page.Page{
	{Path: "/teams", Template: "teams", Tab: "people", Show: showTeams},
	{Path: "/teams/{id}", Template: "team", Tab: "people", Show: showTeam},
}

var teamActions = []page.Action{
	{Path: "/teams", Do: createTeam, Show: showTeams, Template: "teams"},
	{Path: "/teams/{id}", Do: saveTeam, Show: showTeam, Template: "team"},
	{Path: "/teams/{id}/delete", Do: page.Does[api.Removal]("/team/delete", "/teams?done=deleted", teamToDelete),
		Show: showTeam, Template: "team"},
}

type teamsView struct {
	page.Titled
	Teams []team.Team
}

func showTeams(v *page.Visit) (page.View, error) {
	teams, err := teamsOf(v, 0)
	return teamsView{page.Titled(v.T("Teams")), teams}, err
}

func createTeam(v *page.Visit) (string, error) {
	request := team.UpsertRequest{TeamName: v.Field("name"), PersonIDs: []int64{v.Who.PersonID}}
	made, err := page.Call[team.Upserted](v, "/team/upsert", request)
	return "/teams/" + strconv.FormatInt(made.TeamID, 10) + "?done=saved", err
}

type teamView struct {
	page.Titled
	Team    team.Team
	People  page.Offer
	Members page.Picker
}

func showTeam(v *page.Visit) (page.View, error) {
	var d teamView
	var err error
	d.Team, err = page.Call[team.Team](v, "/team/info", team.Named{TeamID: v.ID()})
	if err != nil {
		return nil, err
	}
	d.Titled = page.Titled(d.Team.TeamName)
	d.People, err = v.PeopleOffer()
	if err != nil {
		return nil, err
	}
	if v.Request.PostForm.Has("name") { // what was entered
		d.Team.TeamName = v.Field("name")
		d.Team.Description = v.Field("about")
		d.Team.RefID = v.Field("ref")
		d.Team.PersonIDs, _ = d.People.Read(v, "person") // a name that is not known stays in its input
	}
	d.Members = d.People.Picker(v, "person", v.T("Who is in it"), d.Team.PersonIDs)
	return d, nil
}

func saveTeam(v *page.Visit) (string, error) {
	people, err := v.PeopleOffer()
	if err != nil {
		return "", err
	}
	members, err := people.Read(v, "person")
	if err != nil {
		return "", err
	}
	request := team.UpsertRequest{
		TeamID: v.ID(), TeamName: v.Field("name"), Description: new(v.Field("about")), PersonIDs: members,
		Emails: addresses(v, "emails"), Phones: addresses(v, "phones"), CountryCode: v.Field("country"), RefID: new(v.Field("ref")),
	}
	return "/teams/" + url.PathEscape(v.Request.PathValue("id")) + "?done=saved", page.Do[team.Upserted](v, "/team/upsert", request)
}

// addresses returns those that were entered one on each line.
func addresses(v *page.Visit, name string) (all []string) {
	for _, one := range page.Values(v.Field(name)) {
		one = strings.TrimSpace(one)
		if one != "" {
			all = append(all, one)
		}
	}
	return all
}

func teamToDelete(v *page.Visit) team.DeleteRequest {
	return team.DeleteRequest{Named: team.Named{TeamID: v.ID()}}
}
