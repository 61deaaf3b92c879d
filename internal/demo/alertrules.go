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

// alertRules returns two rules. They are off, because the datasources of the demo do not exist.
func alertRules(m moments) []alertrule.Rule {
	counts := evaluate.Counts{Enabled: true, AlertingCheckTimes: 3, RecoveryCheckTimes: 2}
	disk := alertrule.Rule{ID: 1, FolderID: rulefolder.First, Name: "Disk is filling up", DSType: "prometheus", Enabled: ptr(false)}
	disk.CronPattern = "@every 30s"
	disk.Labels = map[string]string{"team": "platform"}
	disk.DSList = []string{"Prometheus*"}
	disk.RuleConfigs = evaluate.Config{
		Queries:        []evaluate.Query{{Name: "A", Expr: "max by (instance, mountpoint) (disk_used_percent)"}},
		CheckThreshold: &evaluate.Threshold{Counts: counts, Critical: "$A > 95", Warning: "$A > 85"},
	}
	disk.ChannelIDs = []int64{databases}

	refused := alertrule.Rule{ID: 2, FolderID: checkoutRules, Name: "Cards are refused", DSType: "loki", Enabled: ptr(false)}
	refused.CronPattern = "*/2 * * * *"
	refused.Timezone = timeZone
	refused.DSIDs = []uint64{2}
	refused.EnabledTimes = []evaluate.Window{{Days: []int64{1, 2, 3, 4, 5, 6}, Stime: "07:00", Etime: "23:00"}}
	refused.RuleConfigs = evaluate.Config{
		Queries:      []evaluate.Query{{Name: "A", Expr: `sum by (acquirer) (count_over_time({app="checkout"} |= "card refused" [5m])) > 20`}},
		CheckAnydata: &evaluate.Anydata{Counts: counts, Severity: "Critical"},
	}
	refused.ChannelIDs = []int64{payments}

	rules := []alertrule.Rule{disk, refused}
	for i := range rules {
		rules[i].Stamps = alertrule.Stamps{
			AccountID: accountID, CreatorID: anna, UpdaterID: anna, CreatedAt: m.ago(60 * day).Unix(), UpdatedAt: m.ago(20 * day).Unix(),
		}
	}
	return rules
}
