package console

// chineseSentence holds what stands around the sentences of the engine.
var chineseSentence = map[string]string{
	", ":                                "、",
	"day":                               "天",
	"%s the next day":                   "次日 %s",
	"The server refused this:":          "服务器拒绝了此操作：",
	"The server refused this: %s.":      "服务器拒绝了此操作：%s。",
	"The field %s is not accepted: %s.": "字段 %s 未被接受：%s。",
	"The same in sentences, as the API returns it": "与 API 返回一致的逐句说明",

	"Malformed events": "格式错误的事件", "Too many alerts in a request": "单次请求的告警过多", "Requests too large": "请求过大",
	"Too many requests": "请求过多", "Wrong key": "密钥错误", "The integration is disabled": "集成已停用", "The server was busy": "服务器繁忙",
	"Left out by the sender":  "发送方未发送",
	"Too many bytes in a day": "一天内发送的字节过多",
	"MiB of events in a day":  "每天的事件量（MiB）",
	"Beyond it the labels, images and description of an event are cut to 2 KB, and beyond ten times it events are refused.": "超过后，事件的标签、图片和描述会被截短到共 2 KB；超过其十倍后，事件会被拒绝。",
	"Sent today": "今天已发送",
	"%s of %s":   "%s / %s",
	"Labels, images and descriptions of its events are cut to 2 KB until 0:00 UTC.": "在 UTC 0:00 之前，其事件的标签、图片和描述会被截短到共 2 KB。",

	"The database does not answer. Try again in a few seconds.":      "数据库没有响应，请几秒后重试。",
	"Too many pages have not been read. Try again in a few seconds.": "尚未读取的页面过多，请几秒后重试。",
}
