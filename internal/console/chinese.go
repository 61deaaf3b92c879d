package console

import (
	"maps"
	"sync"
)

// chinese returns the texts of the console in Chinese, by their English text.
var chinese = sync.OnceValue(func() map[string]string {
	return merged(chineseFrame, chineseSignIn, chineseFront, chineseSchedule, chineseConfigure, chineseWebhook,
		chinesePeople, chineseLint, chineseLintRules, chineseInsight, chineseSentence, chineseDecide, chineseNotify, chineseExplain,
		chineseMonitor, chineseWatch, chineseFinding, chineseTester, chineseLooks, chineseShift, chinesePermissions, chinesePush,
		chineseSilence, chineseIssue, chineseIssueDays, chinesePeopleLink, chineseFirstDay, chineseDense, chineseRule, chineseRuleForm,
		chineseEdge, chineseDatasource)
})

// merged returns one catalog of several.
func merged(parts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// chineseFrame holds what stands on every page, and the words that several parts use: a text has one translation.
var chineseFrame = map[string]string{
	"Datasource": "数据源", "Silence rule": "静默规则", "Inhibit rule": "抑制规则", "Drop rule": "丢弃规则", "not known": "未知",
	"Now":                    "当前",
	"Incidents":              "故障",
	"Alerts":                 "告警",
	"Schedules":              "值班表",
	"Critical":               "严重",
	"Warning":                "警告",
	"Info":                   "提醒",
	"Ok":                     "正常",
	"Triggered":              "待处理",
	"Processing":             "处理中",
	"Closed":                 "已关闭",
	"Acknowledge":            "认领",
	"Resolve":                "关闭",
	"Sign in":                "登录",
	"Sign out":               "退出登录",
	"App key":                "App key",
	"Skip to content":        "跳到正文",
	"Main":                   "主菜单",
	"Shortcuts":              "快捷菜单",
	"Light":                  "浅色",
	"Dark":                   "深色",
	"Request":                "请求编号",
	"%d s":                   "%d 秒",
	"%d min":                 "%d 分钟",
	"%d h":                   "%d 小时",
	"%d h %d min":            "%d 小时 %d 分钟",
	"%d d":                   "%d 天",
	"%d d %d h":              "%d 天 %d 小时",
	"%d messages wait":       "%d 条消息等待发送",
	"About":                  "相关信息",
	"Acknowledged":           "已认领",
	"All":                    "全部",
	"Calendars":              "日历",
	"Cancel":                 "取消",
	"Channel":                "协作空间",
	"Days":                   "天数",
	"Delete":                 "删除",
	"Description":            "描述",
	"Disable":                "停用",
	"Disabled":               "已停用",
	"E-mail":                 "邮箱",
	"Edit":                   "编辑",
	"Enable":                 "启用",
	"Events":                 "事件",
	"Failed":                 "失败",
	"Fields":                 "字段",
	"Fill the gap":           "补上空档",
	"First day":              "起始日期",
	"Fri":                    "周五",
	"From":                   "开始",
	"Grouping":               "聚合",
	"Integrations":           "集成",
	"Kind":                   "类型",
	"Look again":             "刷新查看",
	"Mon":                    "周一",
	"Name or e-mail address": "姓名或邮箱",
	"Name":                   "名称",
	"Next page":              "下一页",
	"No channel":             "无协作空间",
	"None":                   "无",
	"Note":                   "备注",
	"Older":                  "更早",
	"Pages":                  "分页",
	"People":                 "成员",
	"Person":                 "成员",
	"Preview":                "预览",
	"Reason":                 "原因",
	"Remove":                 "移除",
	"Resolved":               "已解决",
	"Sat":                    "周六",
	"Save":                   "保存",
	"Search":                 "搜索",
	"Severity":               "严重程度",
	"Share":                  "占比",
	"Shifts":                 "班次",
	"Show":                   "查看",
	"State":                  "状态",
	"Sun":                    "周日",
	"Team":                   "团队",
	"Teams":                  "团队",
	"This browser":           "此浏览器",
	"Thu":                    "周四",
	"Time zone":              "时区",
	"Time":                   "时间",
	"Tue":                    "周二",
	"Until":                  "结束",
	"Wed":                    "周三",
	"What happened":          "发生了什么",
	"Why":                    "原因",
	"or":                     "或",
	"until":                  "至",
	"Single keys are shortcuts on this browser: ? lists them.": "此浏览器已启用单键快捷键：按 ? 查看列表。",
	"Single keys do nothing on this browser.":                  "此浏览器已关闭单键快捷键。",
}
