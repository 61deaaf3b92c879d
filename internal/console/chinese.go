package console

import "maps"

// chinese holds the texts of the console in Chinese, by their English text.
var chinese = merged(chineseFrame, chineseSignIn, chineseFront, chineseSchedule, chineseConfigure, chineseWebhook, chinesePeople,
	chineseLint, chineseInsight, chineseIssue)

// merged returns one catalog of several.
func merged(parts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// chineseFrame holds what stands on every page, and the words that many pages use.
var chineseFrame = map[string]string{
	"Now":             "当前",
	"Incidents":       "故障",
	"Alerts":          "告警",
	"Schedules":       "值班表",
	"Critical":        "严重",
	"Warning":         "警告",
	"Info":            "提醒",
	"Ok":              "正常",
	"Triggered":       "待处理",
	"Processing":      "处理中",
	"Closed":          "已关闭",
	"Acknowledge":     "认领",
	"Resolve":         "关闭",
	"Sign in":         "登录",
	"Sign out":        "退出登录",
	"App key":         "App key",
	"Skip to content": "跳到正文",
	"Main":            "主菜单",
	"Shortcuts":       "快捷菜单",
	"Light":           "浅色",
	"Dark":            "深色",
	"Request":         "请求编号",
	"%d s":            "%d 秒",
	"%d min":          "%d 分钟",
	"%d h":            "%d 小时",
	"%d h %d min":     "%d 小时 %d 分钟",
	"%d d":            "%d 天",
	"%d d %d h":       "%d 天 %d 小时",
}
