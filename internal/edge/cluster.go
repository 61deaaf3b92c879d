package edge

import (
	"cmp"
	"maps"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Settings are the settings of a cluster: how it alerts that none of its members is live.
type Settings struct {
	Enabled     bool   `json:"enabled" doc:"Whether it alerts."`
	Severity    string `json:"severity" enum:"Critical,Warning,Info" doc:"The severity of the alert."`
	LostSeconds int64  `json:"lost_seconds" minimum:"30" maximum:"86400" doc:"How long no member has been in touch."`
	Times       int64  `json:"times" required:"false" minimum:"0" maximum:"100" doc:"How often the alert is sent at most while it goes on; 0: 3 times. In a channel it stays the same alert, which notifies no person again; the owner is notified each time."`
	Every       int64  `json:"every" required:"false" minimum:"0" maximum:"86400" doc:"How many seconds later it is sent again; 0: 300."`
	ChannelID   int64  `json:"channel_id,omitzero" minimum:"0" doc:"The channel of the alert; absent or 0: the account's owner is notified."`

	Include []string `json:"include,omitempty" maxItems:"100" maxLength:"255" doc:"Names of the edges that count, in which * stands for any characters; absent or empty: all."`
	Exclude []string `json:"exclude,omitempty" maxItems:"100" maxLength:"255" doc:"Names of edges that do not count, likewise, such as one for trials: it is live, and the others are lost."`
}

// whole returns the settings with the defaults of what is not set.
func (s Settings) whole() Settings {
	s.Times, s.Every = cmp.Or(s.Times, Unset.Times), cmp.Or(s.Every, Unset.Every)
	return s
}

// Counts reports whether an edge counts for whether its cluster is lost.
func (s Settings) Counts(name string) bool {
	matches := func(pattern string) bool { return datasource.Wildcard(pattern, name) }
	return (len(s.Include) == 0 || slices.ContainsFunc(s.Include, matches)) && !slices.ContainsFunc(s.Exclude, matches)
}

// Cluster is a cluster with its settings.
type Cluster struct {
	ClusterName string   `json:"cluster_name" minLength:"1" maxLength:"255" doc:"The cluster, as datasources name it."`
	Settings    Settings `json:"settings" doc:"How it alerts that no member of it is live."`
	UpdatedAt   int64    `json:"updated_at,omitzero" doc:"Unix seconds; absent: the settings were never changed."`
}

// Unset are the settings of a cluster that has none.
var Unset = Settings{Enabled: true, Severity: "Critical", LostSeconds: 120, Times: 3, Every: 300}

// Kind describes clusters with settings to the configuration store.
var Kind = configstore.Kind[Cluster]{
	Name: configstore.EdgeCluster, Section: "edge_clusters",
	Head: func(c *Cluster) configstore.Head {
		return configstore.Head{ID: c.ClusterName, Name: c.ClusterName, UpdatedAt: c.UpdatedAt}
	},
	Refs: func(c *Cluster) []configstore.Target {
		return []configstore.Target{configstore.RefTo(configstore.Channel, c.Settings.ChannelID)}
	},
	Check: func(_ *db.Tx, at configstore.RecordPath, _ int64, c *Cluster) error {
		inner := at.Member("settings")
		return configstore.FirstError(at.Length("cluster_name", c.ClusterName, 1, maxName),
			inner.OneOf("severity", c.Settings.Severity, "Critical", "Warning", "Info"),
			inner.AtLeast("lost_seconds", c.Settings.LostSeconds, 30), inner.AtLeast("channel_id", c.Settings.ChannelID, 0),
			inner.AtLeast("times", c.Settings.Times, 0), inner.AtLeast("every", c.Settings.Every, 0))
	},
}

// SettingsOf returns the settings of a cluster.
func SettingsOf(tx *db.Tx, account int64, cluster string) (Settings, error) {
	c, found, err := Kind.Find(tx, account, cluster)
	if !found {
		return Unset, err
	}
	return c.Settings.whole(), err
}

// ListedCluster is a cluster in a list.
type ListedCluster struct {
	Cluster
	Members int64 `json:"members" doc:"How many edges of it are in touch; default has none."`
	Watches int64 `json:"watches" doc:"Its watches: enabled rules on enabled datasources of the cluster."`
}

func (s *Service) clusters(c *api.Call, _ struct{}) (list api.Items[ListedCluster], err error) {
	list.Items = []ListedCluster{}
	account := c.Who.AccountID
	names, err := namesOf(c.Tx, account)
	if err != nil {
		return list, err
	}
	members, err := Members(c.Tx, account)
	if err != nil {
		return list, err
	}
	watches := map[string]int64{}
	if s.Watches != nil {
		watches, err = s.Watches(c.Tx, account)
		if err != nil {
			return list, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		one := ListedCluster{Cluster: names[name], Watches: watches[name]}
		for _, m := range members {
			if m.Cluster == name && m.Live(c.Now) {
				one.Members++
			}
		}
		list.Items = append(list.Items, one)
	}
	return list, nil
}

// namesOf returns the clusters of an account by name: default, and those with settings, keys, edges or datasources.
func namesOf(tx *db.Tx, account int64) (map[string]Cluster, error) {
	all := map[string]Cluster{datasource.DefaultCluster: {ClusterName: datasource.DefaultCluster, Settings: Unset}}
	used, err := db.All(tx, db.Column[string], `SELECT cluster_name FROM edge_key WHERE account_id = $1
		UNION SELECT cluster_name FROM edge WHERE account_id = $1`, account)
	if err != nil {
		return nil, err
	}
	sources, err := datasource.All(tx, account)
	if err != nil {
		return nil, err
	}
	for i := range sources {
		used = append(used, sources[i].Cluster())
	}
	for _, name := range used {
		all[name] = Cluster{ClusterName: name, Settings: Unset}
	}
	set, err := Kind.All(tx, account)
	for _, one := range set {
		one.Settings = one.Settings.whole()
		all[one.ClusterName] = one
	}
	return all, err
}

// within refuses a new cluster beyond the bound.
func within(tx *db.Tx, account int64, name string) error {
	all, err := namesOf(tx, account)
	if err != nil {
		return err
	}
	if _, has := all[name]; !has && len(all) >= maxClusters {
		return fault.New(fault.Conflict, "an account has at most %d clusters of edges", maxClusters)
	}
	return nil
}

// UpdateRequest replaces the settings of a cluster.
type UpdateRequest struct {
	ClusterName string   `json:"cluster_name" minLength:"1" maxLength:"255" doc:"The cluster; not default: the server itself is watched by others."`
	Settings    Settings `json:"settings" doc:"How it alerts that no member of it is live."`
}

func updateCluster(c *api.Call, in UpdateRequest) (api.Empty, error) {
	if in.ClusterName == datasource.DefaultCluster {
		return api.Empty{}, fault.Invalid("cluster_name", "must not be %s: it cannot alert that the server itself is gone", in.ClusterName)
	}
	if err := within(c.Tx, c.Who.AccountID, in.ClusterName); err != nil {
		return api.Empty{}, err
	}
	if in.Settings.ChannelID != 0 {
		if err := channel.Table.Need(c.Tx, c.Who.AccountID, "settings.channel_id", in.Settings.ChannelID); err != nil {
			return api.Empty{}, err
		}
	}
	c.Touched(configstore.EdgeCluster, in.ClusterName, in.ClusterName)
	return api.Empty{}, Kind.Put(c.Tx, c.Who.AccountID, &Cluster{ClusterName: in.ClusterName, Settings: in.Settings, UpdatedAt: c.Unix()})
}
