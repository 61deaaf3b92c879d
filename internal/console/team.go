package console

import (
	"net/url"
	"strconv"
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
	Teams []teamRow
}

func showTeams(v *visit) (view, error) {
	teams, err := v.teamsOf(0)
	return teamsView{titled(v.T("Teams")), teams}, err
}

func createTeam(v *visit) (string, error) {
	var made teamRow
	err := v.call("/team/upsert", map[string]any{"team_name": v.field("name"), "person_ids": []int64{v.who.PersonID}}, &made)
	return "/teams/" + strconv.FormatInt(made.ID, 10) + "?done=saved", err
}

type teamView struct {
	titled
	Team   teamRow
	People []account
}

func showTeam(v *visit) (view, error) {
	var d teamView
	if err := v.call("/team/info", map[string]any{"team_id": v.pathID()}, &d.Team); err != nil {
		return nil, err
	}
	d.titled = titled(d.Team.Name)
	if v.Failure != nil && v.r.PostForm.Has("name") {
		d.Team.Name = v.field("name")
		d.Team.About = v.field("about")
		d.Team.Persons = v.numbers("person")
	}
	var err error
	d.People, err = v.accounts("")
	return d, err
}

func saveTeam(v *visit) (string, error) {
	return "/teams/" + url.PathEscape(v.r.PathValue("id")) + "?done=saved", v.call("/team/upsert", map[string]any{
		"team_id": v.pathID(), "team_name": v.field("name"), "description": v.field("about"), "person_ids": v.numbers("person")}, nil)
}

func deleteTeam(v *visit) (string, error) {
	return "/teams?done=deleted", v.call("/team/delete", map[string]any{"team_id": v.pathID()}, nil)
}
