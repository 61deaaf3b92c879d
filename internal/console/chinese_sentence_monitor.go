package console

// chineseMonitor holds the reasons of alert rules.
var chineseMonitor = map[string]string{
	"%q holds: %t %t %t":                                                                 "%q 成立：%t %t %t",
	"%q does not hold: %t %t %t":                                                         "%q 不成立：%t %t %t",
	"the query returned a row":                                                           "查询返回了一行",
	"the series is missing in the answer":                                                "结果中缺少该序列",
	"%g or worse in the last %d answers":                                                 "严重程度%g或更高，已连续 %d 次",
	"below %g in the last %d answers":                                                    "低于%g，已连续 %d 次",
	"missing in the last %d answers":                                                     "已连续 %d 次缺失",
	"recovered in the last %d answers":                                                   "已连续 %d 次恢复",
	"the recovery query returned a row":                                                  "恢复查询返回了一行",
	"the query returned no row for it":                                                   "查询没有返回它的行",
	"the series is back":                                                                 "该序列已恢复上报",
	"it is still open":                                                                   "仍未恢复",
	"the rule was changed, and its query no longer returns the series":                   "规则已修改，其查询不再返回该序列",
	"the rule was changed by %s, and its query no longer returns the series":             "规则已由 %s 修改，其查询不再返回该序列",
	"the rule was changed, and no longer has this check":                                 "规则已修改，不再包含此检查",
	"the rule was changed by %s, and no longer has this check":                           "规则已由 %s 修改，不再包含此检查",
	"the series was not seen for %d days":                                                "该序列已 %d 天未出现",
	"the series was not seen for %d minutes":                                             "该序列已 %d 分钟未出现",
	"the series was not seen for %d seconds":                                             "该序列已 %d 秒未出现",
	"the rule matches %d series, more than %d, so no alert of it begins":                 "规则匹配 %d 个序列，超过 %d 个，因此不会产生新告警",
	"the rule matches no more than %d series":                                            "规则匹配的序列不超过 %d 个",
	"the recovery condition holds":                                                       "恢复条件成立",
	"the edge found it while the server could not be reached, or the server had lost it": "边缘节点在无法连接服务器时发现，或服务器曾丢失它",
	"no severity holds":                                                                  "没有任何严重程度的条件成立",
}
