package console

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/edge"
)

var edgePages = []page{{path: "/edges", template: "edges", tab: "rules", show: showEdges, needs: rights{auth.AlertingEnginesRead}}}

var edgeActions = []action{
	{path: "/edges/keys", do: makeEdgeKey, show: showEdges, page: "edges", needs: manageEdges},
	{path: "/edges/keys/{id}/{to}", do: setEdgeKey, show: showEdges, page: "edges", needs: manageEdges},
	{path: "/edges/clusters", do: saveEdgeCluster, show: showEdges, page: "edges", needs: manageEdges},
	{path: "/edges/{id}/delete", do: deletes[api.Removal]("/monit/edge/delete", "/edges", edgeToDelete), needs: manageEdges},
}

var manageEdges = rights{auth.AlertingEnginesManage}

// edgesView is the clusters of edges with their members, keys and settings.
type edgesView struct {
	titled
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

func showEdges(v *visit) (view, error) {
	d := edgesView{titled: titled(v.T("Edges")), Origin: v.origin(), May: v.who.MayAny(manageEdges)}
	d.Key, _ = v.made.(string)
	clusters, err := call[api.Items[edge.ListedCluster]](v, "/monit/edge/cluster/list", struct{}{})
	if err != nil {
		return nil, err
	}
	edges, err := call[api.Items[edge.Listed]](v, "/monit/edge/list", edge.ListRequest{})
	if err != nil {
		return nil, err
	}
	keys, err := call[api.Items[edge.Key]](v, "/monit/edge/key/list", edge.ListRequest{})
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
		if v.Failure != nil && v.r.PostForm.Has("lost_seconds") && v.field("cluster") == one.ClusterName {
			c.Settings = enteredCluster(v)
		}
		d.Clusters = append(d.Clusters, c)
	}
	if d.May {
		d.Channels, err = v.channelChoices()
	}
	return d, err
}

// makeEdgeKey makes a key and shows it once: an address must not hold it.
func makeEdgeKey(v *visit) (string, error) {
	request := edge.CreateKeyRequest{KeyName: v.field("name"), ClusterName: v.field("cluster")}
	made, err := call[edge.CreatedKey](v, "/monit/edge/key/create", request)
	if err == nil {
		v.made = made.Key
	}
	return "", err
}

// setEdgeKey enables, disables or deletes a key.
func setEdgeKey(v *visit) (string, error) {
	switch to := v.r.PathValue("to"); to {
	case "delete":
		return "/edges", do[api.Removal](v, "/monit/edge/key/delete", edge.DeleteKeyRequest{KeyID: v.number()})
	case "enable", "disable":
		request := edge.UpdateKeyRequest{KeyID: v.number(), Status: new(to + "d")}
		return "/edges", do[api.Empty](v, "/monit/edge/key/update", request)
	}
	return "", v.noSuchForm()
}

// enteredCluster returns the settings of a cluster as they were entered.
func enteredCluster(v *visit) edge.Settings {
	return edge.Settings{
		Enabled: v.field("enabled") != "", Severity: v.field("severity"), LostSeconds: formNumber(v, "lost_seconds"),
		Times: formNumber(v, "times"), Every: formNumber(v, "every"), ChannelID: formNumber(v, "channel"),
		Include: commas(v.field("include")), Exclude: commas(v.field("exclude")),
	}
}

func saveEdgeCluster(v *visit) (string, error) {
	request := edge.UpdateRequest{ClusterName: v.field("cluster"), Settings: enteredCluster(v)}
	return "/edges", do[api.Empty](v, "/monit/edge/cluster/update", request)
}

func edgeToDelete(id string) edge.DeleteRequest { return edge.DeleteRequest{EdgeID: id} }
