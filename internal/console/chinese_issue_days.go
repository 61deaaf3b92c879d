package console

// chineseIssueDays holds the texts of the days of an error of users.
var chineseIssueDays = map[string]string{
	"The last 30 days":   "最近 30 天",
	"Errors of a day":    "每日错误数",
	"Sessions of a day":  "每日会话数",
	"Number of errors":   "错误数",
	"Number of sessions": "会话数",
	"Number of users":    "用户数",
	"users":              "受影响用户",
	"about %d":           "约 %d",
	"in the last 30 days, as far as pages name them":                                                                 "最近 30 天，仅统计页面上报了身份的用户",
	"Some errors of these days are in the total alone: they came with an account file, or before days were counted.": "这些天的部分错误只计入总数：它们随账户文件导入，或早于按天统计的启用。",
	"Days begin at midnight in %s. An error counts on the day on which it arrived.":                                  "每天按 %s 的零点划分，错误计入其到达的日期。",
}
