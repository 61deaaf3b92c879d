package monitor

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	"tocsin/internal/edge"
)

var edgePages = []page.Page{{Path: "/edges", Template: "edges", Tab: "rules", Show: showEdges,
	Needs: page.Rights{auth.AlertingEnginesRead}}}

var edgeActions = []page.Action{
	{Path: "/edges/keys", Do: makeEdgeKey, Show: showEdges, Template: "edges", Needs: manageEdges},
	{Path: "/edges/keys/{id}/{to}", Do: setEdgeKey, Show: showEdges, Template: "edges", Needs: manageEdges},
	{Path: "/edges/clusters", Do: saveEdgeCluster, Show: showEdges, Template: "edges", Needs: manageEdges},
	{Path: "/edges/{id}/delete", Do: page.Does[api.Removal]("/monit/edge/delete", "/edges", edgeToDelete), Needs: manageEdges},
}

var manageEdges = page.Rights{auth.AlertingEnginesManage}

// edgesView is the clusters of edges with their members, keys and settings.
type edgesView struct {
	page.Titled
	Clusters []edgeCluster
	Channels []channel.Shown
	Origin   string // of this server
	Key      string // that was made now; empty: none
	May      bool
}

type edgeCluster struct {
	edge.ListedCluster
	Edges []edge.Listed
	Keys  []edge.Key
}

// Own reports whether the cluster is the server itself.
func (c edgeCluster) Own() bool { return c.ClusterName == "default" }

// IncludeText returns the patterns of the edges that count as they are entered.
func (c edgeCluster) IncludeText() string { return strings.Join(c.Settings.Include, ", ") }

// ExcludeText is IncludeText of those that do not count.
func (c edgeCluster) ExcludeText() string { return strings.Join(c.Settings.Exclude, ", ") }

func showEdges(v *page.Visit) (page.View, error) {
	d := edgesView{Titled: page.Titled(v.T("Edges")), Origin: v.Origin(), May: v.Who.MayAny(manageEdges)}
	d.Key, _ = v.Made.(string)
	clusters, err := page.Call[api.Items[edge.ListedCluster]](v, "/monit/edge/cluster/list", struct{}{})
	if err != nil {
		return nil, err
	}
	edges, err := page.Call[api.Items[edge.Listed]](v, "/monit/edge/list", edge.ListRequest{})
	if err != nil {
		return nil, err
	}
	keys, err := page.Call[api.Items[edge.Key]](v, "/monit/edge/key/list", edge.ListRequest{})
	if err != nil {
		return nil, err
	}
	for _, one := range clusters.Items {
		c := edgeCluster{ListedCluster: one}
		for _, e := range edges.Items {
			if e.ClusterName == one.ClusterName {
				c.Edges = append(c.Edges, e)
			}
		}
		for _, k := range keys.Items {
			if k.ClusterName == one.ClusterName {
				c.Keys = append(c.Keys, k)
			}
		}
		if v.Failure != nil && v.Request.PostForm.Has("lost_seconds") && v.Field("cluster") == one.ClusterName {
			c.Settings = enteredCluster(v)
		}
		d.Clusters = append(d.Clusters, c)
	}
	if d.May {
		d.Channels, err = v.ChannelChoices()
	}
	return d, err
}

// makeEdgeKey makes a key and shows it once: an address must not hold it.
func makeEdgeKey(v *page.Visit) (string, error) {
	request := edge.CreateKeyRequest{KeyName: v.Field("name"), ClusterName: v.Field("cluster")}
	made, err := page.Call[edge.CreatedKey](v, "/monit/edge/key/create", request)
	if err == nil {
		v.Made = made.Key
	}
	return "", err
}

// setEdgeKey renames, enables, disables or deletes a key.
func setEdgeKey(v *page.Visit) (string, error) {
	switch to := v.Request.PathValue("to"); to {
	case "delete":
		return "/edges", page.Do[api.Removal](v, "/monit/edge/key/delete", edge.DeleteKeyRequest{KeyID: v.ID()})
	case "rename":
		return "/edges", page.Do[api.Empty](v, "/monit/edge/key/update", edge.UpdateKeyRequest{KeyID: v.ID(), KeyName: new(v.Field("name"))})
	case "enable", "disable":
		request := edge.UpdateKeyRequest{KeyID: v.ID(), Status: new(to + "d")}
		return "/edges", page.Do[api.Empty](v, "/monit/edge/key/update", request)
	}
	return "", v.NoSuchForm()
}

// enteredCluster returns the settings of a cluster as they were entered.
func enteredCluster(v *page.Visit) edge.Settings {
	return edge.Settings{
		Enabled: v.Field("enabled") != "", Severity: v.Field("severity"), LostSeconds: v.Number("lost_seconds"),
		Times: v.Number("times"), Every: v.Number("every"), ChannelID: v.Number("channel"),
		Include: page.Commas(v.Field("include")), Exclude: page.Commas(v.Field("exclude")),
	}
}

func saveEdgeCluster(v *page.Visit) (string, error) {
	request := edge.UpdateRequest{ClusterName: v.Field("cluster"), Settings: enteredCluster(v)}
	return "/edges", page.Do[api.Empty](v, "/monit/edge/cluster/update", request)
}

func edgeToDelete(v *page.Visit) edge.DeleteRequest {
	return edge.DeleteRequest{EdgeID: v.Request.PathValue("id")}
}
