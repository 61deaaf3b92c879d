package field_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/field"
)

func TestConversationField(t *testing.T) {
	s := apitest.Start(t, field.Ops())
	s.Grant(auth.CustomFieldsRead)
	whole := `{"field_id":"$id","account_id":2451002751131,"field_name":"area","display_name":"Bereich","description":"","field_type":"multi_select","value_type":"string","options":["US","EU"],
		"default_value":["EU"],"status":"enabled","creator_id":2476123212131,"updated_by":2476123212131,"created_at":1776052801,"updated_at":1776052801}`
	refused := func(body string, says ...string) apitest.Turn {
		return apitest.Turn{Path: "/field/create", Body: body, Code: "InvalidParameter", Says: says}
	}
	s.Converse(t, []apitest.Turn{
		refused(`{"field_name":"1st","display_name":"x","field_type":"text","value_type":"string"}`, "field_name", "1st"),
		refused(`{"field_name":"a","display_name":"x","field_type":"text","value_type":"bool"}`, "value_type"),
		refused(`{"field_name":"a","display_name":"x","field_type":"single_select","value_type":"string"}`, "options"),
		refused(`{"field_name":"a","display_name":"x","field_type":"text","value_type":"string","options":["a"]}`, "options"),
		refused(`{"field_name":"a","display_name":"x","field_type":"single_select","value_type":"string","options":["a","a"]}`, "options[1]"),
		refused(`{"field_name":"a","display_name":"x","field_type":"single_select","value_type":"string","options":[1]}`, "options[0]"),
		refused(`{"field_name":"a","display_name":"x","field_type":"single_select","value_type":"string","options":["a"],"default_value":"b"}`, "default_value"),
		refused(`{"field_name":"a","display_name":"x","field_type":"checkbox","value_type":"bool","default_value":"yes"}`, "default_value"),
		{Path: "/field/create", Body: `{"field_name":"area","display_name":"Area","field_type":"multi_select","value_type":"string","options":["US","EU"],"default_value":["EU"]}`, Keep: map[string]string{"id": "field_id"}, Golden: "field_create"},
		refused(`{"field_name":"area","display_name":"x","field_type":"text","value_type":"string"}`, "field_name", "area"),
		{Path: "/field/update", Body: `{"field_id":"$id","display_name":"Bereich","default_value":null}`, Data: `{}`, Golden: "field_update"},
		{Path: "/field/update", Body: `{"field_id":"$id","options":["US"]}`, Code: "InvalidParameter", Says: []string{"default_value"}},
		{Path: "/field/info", Body: `{"field_id":"$id"}`, Data: whole, Golden: "field_info"},
		{Path: "/field/list", Key: apitest.KeyNothing, Body: `{}`, Data: `{"items":[` + whole + `]}`, Golden: "field_list"},
		{Path: "/field/info", Key: apitest.KeyB, Body: `{"field_id":"$id"}`, Code: "ResourceNotFound"},
		{Path: "/field/create", Key: apitest.KeyReader, Body: `{"field_name":"b","display_name":"x","field_type":"text","value_type":"string"}`, Code: "AccessDenied"},
		{Path: "/field/delete", Body: `{"field_id":"$id","dry_run":true}`, Has: `{"allowed":true}`},
		{Path: "/field/delete", Body: `{"field_id":"$id"}`, Data: `{}`, Golden: "field_delete"},
		{Path: "/field/info", Body: `{"field_id":"$id"}`, Code: "ResourceNotFound"},
		{Path: "/field/delete", Body: `{"field_id":"$id"}`, Code: "ResourceNotFound"},
	})
}

func TestFieldsOfFile(t *testing.T) {
	apitest.RoundTrip(t, field.Kind, []field.Field{
		{FieldID: "69db2f72a0fe7db6448b1501", AccountID: apitest.AccountA, FieldName: "a", DisplayName: "A", FieldType: "checkbox", ValueType: "bool", DefaultValue: jsontext.Value("true"), Status: "enabled"},
		{FieldID: "69db2f72a0fe7db6448b1502", AccountID: apitest.AccountA, FieldName: "b", DisplayName: "B", FieldType: "text", ValueType: "string", Status: "enabled", CreatedAt: 7},
	}, map[string]func(*field.Field){
		"field_id":      func(f *field.Field) { f.FieldID = "x" },
		"field_name":    func(f *field.Field) { f.FieldName = "" },
		"value_type":    func(f *field.Field) { f.ValueType = "string" },
		"default_value": func(f *field.Field) { f.DefaultValue = jsontext.Value("1") },
	})
}
