package audit_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/audit"
	"tocsin/internal/auth"
)

func TestOperationList(t *testing.T) {
	s := start(t)
	s.Grant(auth.AuditRead)
	s.Scenarios(t, "/audit/operation/list", []apitest.Scenario{
		{Name: "golden", Body: `{}`, Golden: "audit_operation_list"},
		{Name: "reader", Key: apitest.KeyReader, Body: `{}`},
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied", Says: []string{"Audit Read (org)"}},
		{Name: "unknown fields", Body: `{"p":1}`},
		{Name: "no object", Body: `[]`, Code: "InvalidParameter"},
	})
	none := apitest.Start(t, audit.New(nil, nil, hidden, private).Ops())
	none.Scenarios(t, "/audit/operation/list", []apitest.Scenario{{Name: "none", Body: `{}`, Data: `{"items":[]}`}})
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"schedule:write:create":       "创建值班表",
		"alert_pipeline:write:upsert": "设置告警处理流程",
		"incident:write:acknowledge":  "认领故障",
		"monit_thing:write:create":    "monit_thing:write:create",
		"schedule:write:frob":         "schedule:write:frob",
		"schedule:read:create":        "schedule:read:create",
		"something":                   "something",
		"":                            "",
	} {
		if got := audit.Named(name); got != (audit.Operation{Name: name, NameCN: want}) {
			t.Errorf("%s: %+v, want %s", name, got, want)
		}
	}
}
