package console

// chineseLooks holds texts of the frame and of files to download.
var chineseLooks = map[string]string{
	"%d alerts fire":   "%d 条告警触发中",
	"Incidents as CSV": "导出故障 CSV",
	"Table as CSV":     "导出表格 CSV",
}
