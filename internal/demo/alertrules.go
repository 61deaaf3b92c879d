package demo

import (
	"tocsin/internal/alertrule"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/rulefolder"
)

// checkoutRules is the folder of alert rules about the checkout.
const checkoutRules = 2

func ruleFolders(m moments) []rulefolder.Folder {
	return []rulefolder.Folder{{
		FolderID: checkoutRules, FolderName: "Checkout", Note: "What customers notice.", TeamID: checkout,
		CreatedAt: m.ago(90 * day).UnixMilli(), CreatedBy: anna, UpdatedAt: m.ago(90 * day).UnixMilli(), UpdatedBy: anna,
	}}
}

// alertRules returns the rules. They are off until Watch connects their datasources, which do not answer without the demo.
func alertRules(m moments) []alertrule.Rule {
	counts := evaluate.Counts{Enabled: true, AlertingCheckTimes: 2, RecoveryCheckTimes: 2}
	disk := alertrule.Rule{ID: 1, FolderID: rulefolder.First, Name: "Disk is filling up", DSType: "prometheus", Enabled: ptr(false)}
	disk.CronPattern = "@every 30s"
	disk.Labels = map[string]string{"team": "platform"}
	disk.DSList = []string{"Prometheus*"}
	disk.RuleConfigs = evaluate.Config{
		Queries:        []evaluate.Query{{Name: "A", Expr: diskQuery}},
		CheckThreshold: &evaluate.Threshold{Counts: counts, Critical: "$A > 95", Warning: "$A > 85"},
	}
	disk.Description = "{{$labels.mountpoint}} of {{$labels.instance}} is {{$value}} % full."
	disk.ChannelIDs = []int64{databases}

	refused := alertrule.Rule{ID: 2, FolderID: checkoutRules, Name: "Cards are refused", DSType: "loki", Enabled: ptr(false)}
	refused.CronPattern = "*/2 * * * *"
	refused.Timezone = timeZone
	refused.DSIDs = []uint64{2}
	refused.EnabledTimes = []evaluate.Window{{Days: []int64{1, 2, 3, 4, 5, 6}, Stime: "07:00", Etime: "23:00"}}
	refused.RuleConfigs = evaluate.Config{
		Queries: []evaluate.Query{{Name: "A", Expr: cardsQuery}},
		CheckAnydata: &evaluate.Anydata{
			Counts: evaluate.Counts{Enabled: true, AlertingCheckTimes: 1, RecoveryCheckTimes: 1}, Severity: "Critical",
		},
	}
	refused.ChannelIDs = []int64{payments}

	slow := alertrule.Rule{ID: 3, FolderID: checkoutRules, Name: "Checkout is slow", DSType: "prometheus", Enabled: ptr(false)}
	slow.CronPattern = "@every 30s"
	slow.DSList = []string{"Prometheus*"}
	slow.RuleConfigs = evaluate.Config{
		Queries:        []evaluate.Query{{Name: "A", Expr: latencyQuery}},
		CheckThreshold: &evaluate.Threshold{Counts: counts, Critical: "$A > 1.5", Warning: "$A > 0.8"},
	}
	slow.Description = "The slowest hundredth of requests to {{$labels.instance}} takes {{$value}} s."
	slow.ChannelIDs = []int64{basket}

	missing := alertrule.Rule{ID: 4, FolderID: rulefolder.First, Name: "Backup is missing", DSType: "prometheus", Enabled: ptr(false)}
	missing.CronPattern = "@every 30s"
	missing.DSList = []string{"Prometheus*"}
	missing.RuleConfigs = evaluate.Config{
		Queries:     []evaluate.Query{{Name: "A", Expr: backupQuery}},
		CheckNodata: &evaluate.Nodata{Counts: counts, Severity: "Warning"},
	}
	missing.ChannelIDs = []int64{nightly}

	rules := []alertrule.Rule{disk, refused, slow, missing}
	for i := range rules {
		rules[i].Stamps = alertrule.Stamps{
			AccountID: accountID, CreatorID: anna, UpdaterID: anna, CreatedAt: m.ago(60 * day).Unix(), UpdatedAt: m.ago(20 * day).Unix(),
		}
	}
	return rules
}
