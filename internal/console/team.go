package console

import (
	"net/url"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/person"
	"tocsin/internal/team"
)

var teamPages = []page{
	{path: "/teams", template: "teams", tab: "people", show: showTeams},
	{path: "/teams/{id}", template: "team", tab: "people", show: showTeam},
}

var teamActions = []action{
	{path: "/teams", do: createTeam, show: showTeams, page: "teams"},
	{path: "/teams/{id}", do: saveTeam, show: showTeam, page: "team"},
	{path: "/teams/{id}/delete", do: deleteTeam, show: showTeam, page: "team"},
}

type teamsView struct {
	titled
	Teams []team.Team
}

func showTeams(v *visit) (view, error) {
	teams, err := v.teamsOf(0)
	return teamsView{titled(v.T("Teams")), teams}, err
}

func createTeam(v *visit) (string, error) {
	request := team.UpsertRequest{TeamName: v.field("name"), PersonIDs: []int64{v.who.PersonID}}
	made, err := call[team.Upserted](v, "/team/upsert", request)
	return "/teams/" + strconv.FormatInt(made.TeamID, 10) + "?done=saved", err
}

type teamView struct {
	titled
	Team   team.Team
	People []person.Member
}

func showTeam(v *visit) (view, error) {
	var d teamView
	var err error
	d.Team, err = call[team.Team](v, "/team/info", team.Named{TeamID: v.pathID()})
	if err != nil {
		return nil, err
	}
	d.titled = titled(d.Team.TeamName)
	if v.Failure != nil && v.r.PostForm.Has("name") {
		d.Team.TeamName = v.field("name")
		d.Team.Description = v.field("about")
		d.Team.PersonIDs = v.numbers("person")
	}
	d.People, err = v.accounts("")
	return d, err
}

func saveTeam(v *visit) (string, error) {
	request := team.UpsertRequest{
		TeamID: v.pathID(), TeamName: v.field("name"), Description: new(v.field("about")), PersonIDs: v.numbers("person"),
	}
	return "/teams/" + url.PathEscape(v.r.PathValue("id")) + "?done=saved", do[team.Upserted](v, "/team/upsert", request)
}

func deleteTeam(v *visit) (string, error) {
	request := team.DeleteRequest{Named: team.Named{TeamID: v.pathID()}}
	return "/teams?done=deleted", do[api.Removal](v, "/team/delete", request)
}
