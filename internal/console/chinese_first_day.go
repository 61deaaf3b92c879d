package console

// chineseFirstDay holds the texts that a person meets before much is set up.
var chineseFirstDay = map[string]string{
	"There is no schedule yet: no person is on call.":         "还没有值班表：无人值班。",
	"There is no webhook: nothing is sent to other programs.": "还没有 Webhook：不会向其他程序推送。",
	"Empty: that of the browser in which they first sign in.": "留空：使用其首次登录时浏览器的时区。",
	"Times: %s":          "时区：%s",
	"%d attempts failed": "%d 次尝试失败",
	"is being sent":      "正在发送",
	"Waits":              "等待中",

	"Beginning at (%s; empty: now)":     "开始时间（%s；留空：现在）",
	"Days are those of %s.":             "日期以 %s 为准。",
	"Day (%s)":                          "日（%s）",
	"First day (%s)":                    "起始日期（%s）",
	"Expires on (%s)":                   "到期日（%s）",
	"Quiet from (%s)":                   "免打扰开始（%s）",
	"Quiet until (%s)":                  "免打扰结束（%s）",
	"Handover of weekly turns (%s)":     "每周交接时间（%s）",
	"Starts (%s)":                       "开始（%s）",
	"Ends (%s)":                         "结束（%s）",
	"Hours of the day (%s; empty: all)": "每日时段（%s；留空为全天）",
	"%s to %s (%s)":                     "%s 至 %s（%s）",
	"Quiet from %s to %s (%s)":          "%s 至 %s 免打扰（%s）",
}
