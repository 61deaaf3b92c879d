package console

// chineseWatch holds the sentences about what alert rules found.
var chineseWatch = map[string]string{
	"the rule was disabled by %s":                       "规则已被 %s 停用",
	"the rule was deleted by %s":                        "规则已被 %s 删除",
	"the datasource %s was disabled by %s":              "数据源 %s 已被 %s 停用",
	"the datasource %s was deleted by %s":               "数据源 %s 已被 %s 删除",
	"the channel %s was disabled by %s":                 "频道 %s 已被 %s 停用",
	"the channel %s was enabled by %s":                  "频道 %s 已被 %s 启用",
	"the rule is no longer evaluated on the datasource": "规则不再在该数据源上执行",
	"the alert rule asked the datasource %s about %c":   "告警规则就 %[2]c 查询了数据源 %[1]s",
	"query %t is %q and returned %s":                    "查询 %t 为 %q，返回 %s",
	"the rule has found nothing on this datasource yet": "规则在该数据源上尚未发现任何异常",
}
