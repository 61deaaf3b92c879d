package console

// chineseSilence holds the texts of the silences that responders make.
var chineseSilence = map[string]string{
	"Count again":       "重新计数",
	"Ended the silence": "结束了静默",
	"Every alert with the labels that are ticked": "具有所选标签的所有告警",
	"For":                          "时长",
	"It holds for every severity.": "对所有严重程度有效。",
	"It holds up to %s: what gets worse is not silenced.":         "最高到“%s”有效：变得更严重时不会被静默。",
	"Its source does not name the labels that identify an alert.": "其来源未说明哪些标签可标识告警。",
	"Open alerts that it covers now":                              "当前涵盖的未结束告警数",
	"Silence %s":                                                  "静默 %s",
	"Silence for a time":                                          "静默一段时间",
	"Silenced for %s, up to %s":                                   "静默 %[1]s，最高到“%[2]s”",
	"Silenced until %s by %s.":                                    "已被 %[2]s 静默至 %[1]s。",
	"Silenced until %s.":                                          "已静默至 %s。",
	"Silences":                                                    "静默",
	"The alerts of this incident":                                 "此故障的告警",
	"The alerts of this incident, when they come again":           "此故障的告警再次出现时",
	"This alert":                                                  "此告警",
	"This alert, when it comes again":                             "此告警再次出现时",
	"Tick at least one label.":                                    "请至少选择一个标签。",
	"What is silenced":                                            "静默的内容",
	"With the labels":                                             "具有这些标签的",
	"at least":                                                    "至少",
}
