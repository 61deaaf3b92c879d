package audit

import "strings"

// Operation is a kind of write as the audit log names it.
type Operation struct {
	Name   string `json:"name" doc:"The name under which it is recorded and found, such as schedule:write:create."`
	NameCN string `json:"name_cn" doc:"What it is, in Chinese."`
}

// Named returns the operation of a name such as schedule:write:create: a resource, the word write and a verb.
func Named(name string) Operation { return Operation{name, label(name, true)} }

// words are the English and Chinese words for a resource or verb.
type words struct{ english, chinese string }

var resources = map[string]words{
	"account": {"account", "账户"}, "alert": {"alert", "告警"}, "alert_pipeline": {"alert pipeline", "告警处理流程"},
	"app_key": {"app key", "应用密钥"}, "application": {"application", "应用"},
	"calendar": {"calendar", "日历"}, "calendar_event": {"calendar event", "日历事件"},
	"channel": {"channel", "协作空间"}, "datasource": {"datasource", "数据源"}, "drop_rule": {"drop rule", "丢弃规则"},
	"enrichment": {"enrichment", "标签增强"}, "escalate_rule": {"escalation rule", "分派策略"}, "field": {"custom field", "自定义字段"},
	"incident": {"incident", "故障"}, "inhibit_rule": {"inhibition rule", "抑制规则"}, "integration": {"integration", "集成"},
	"issue": {"issue", "异常问题"}, "member": {"member", "成员"}, "monitor_rule": {"alerting rule", "监控规则"},
	"absence": {"absence", "缺勤"}, "cover_request": {"request for cover", "替班请求"},
	"password": {"password", "密码"}, "person": {"person", "人员"}, "role": {"role", "角色"},
	"route": {"route", "路由"}, "rule_folder": {"rule folder", "规则文件夹"}, "schedule": {"schedule", "值班表"},
	"schedule_override": {"schedule override", "值班替班"}, "shift": {"shift", "班次"},
	"second_factor": {"second factor", "两步验证"}, "session": {"session", "登录会话"}, "sign_in_link": {"sign-in link", "登录链接"},
	"silence_rule": {"silence rule", "静默规则"}, "team": {"team", "团队"},
	"template": {"template", "模板"}, "war_room": {"war room", "作战室"}, "webhook": {"webhook", "Webhook"},
}

var verbs = map[string]words{
	"accept": {"Accept", "接受"}, "cancel": {"Cancel", "取消"}, "decline": {"Decline", "谢绝"},
	"hand-over": {"Hand over", "移交"}, "take": {"Take", "接替"},
	"add-member": {"Add persons to", "添加成员："}, "acknowledge": {"Acknowledge", "认领"}, "assign": {"Assign", "分派"},
	"close": {"Close", "关闭"}, "comment": {"Comment on", "评论"}, "create": {"Create", "创建"},
	"delete": {"Delete", "删除"}, "disable": {"Disable", "停用"}, "enable": {"Enable", "启用"},
	"end":    {"End", "结束"},
	"import": {"Import", "导入"}, "invite": {"Invite", "邀请"},
	"fields": {"Change fields of", "修改字段："}, "move": {"Move", "移动"},
	"merge": {"Merge", "合并"}, "refuse": {"Refuse", "拒绝"}, "reopen": {"Reopen", "重新打开"},
	"resolve": {"Resolve", "解决"}, "snooze": {"Snooze", "暂缓"},
	"unacknowledge": {"Take back the acknowledgement of", "取消认领"}, "grant": {"Grant", "授予"}, "revoke": {"Revoke", "撤销"},
	"replay": {"Send again messages of", "重新推送："}, "test": {"Test", "测试"}, "cancel-replay": {"End a replay of", "终止重新推送："},
	"roles": {"Set the roles of", "设置角色："}, "rotate": {"Rotate the key of", "轮换密钥："},
	"rotate-secret": {"Rotate the signing secret of", "轮换签名密钥："}, "expire-secret": {"End the old signing secret of", "停用旧签名密钥："},
	"star": {"Star", "收藏"}, "unstar": {"Unstar", "取消收藏"},
	"update": {"Update", "更新"}, "upsert": {"Set", "设置"}, "wake": {"Wake", "唤醒"},
}

// label returns an operation in words, such as Create schedule. For a name that is not in the tables it returns the
// name itself.
func label(name string, chinese bool) string {
	resource, rest, _ := strings.Cut(name, ":")
	verb, isWrite := strings.CutPrefix(rest, "write:")
	what, known := resources[resource]
	does, also := verbs[verb]
	switch {
	case !isWrite || !known || !also:
		return name
	case chinese:
		return does.chinese + what.chinese
	}
	return does.english + " " + what.english
}
