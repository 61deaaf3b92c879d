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
}
