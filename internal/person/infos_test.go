package person_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/person"
)

const path = "/person/infos"

func TestInfos(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	s.Exec(`UPDATE person SET avatar = '/image/avatar1.png', locale = 'zh-CN', time_zone = 'Asia/Shanghai', phone = '+8613800000000', phone_verified = TRUE, person_name = '王小明'
		WHERE person_id = $1`, apitest.Reader)
	s.Exec(`UPDATE person SET person_name = '', email = '', "as" = '', status = '', email_verified = FALSE WHERE person_id = $1`, apitest.Stranger)
	const (
		a       = `{"account_id": 2451002751131, "person_id": 2476123212131, "person_name": "Olga Owner", "email": "O@example.com", "phone_verified": false, "email_verified": true, "as": "member", "status": "enabled"}`
		bare    = `{"account_id": 2451002751131, "person_id": 3122470302131, "phone_verified": false, "email_verified": false}`
		account = `{"account_id": 2451002751131, "person_id": 2451002751131, "person_name": "Acme", "time_zone": "Asia/Shanghai", "phone_verified": false, "email_verified": false, "as": "account"}`
	)
	s.Scenarios(t, path, []apitest.Scenario{
		{Name: "request order, no phone", Body: `{"person_ids": [2659460982131, 2476123212131]}`, Golden: "person_infos", Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			if strings.Contains(string(r.Body), "13800000000") {
				t.Error("the phone number is in the reply")
			}
		}},
		{Name: "any key may call", Key: apitest.KeyNothing, Body: `{"person_ids": [2476123212131]}`, Data: `{"items": [` + a + `]}`},
		{Name: "no key may not", Key: "tk_unknown", Body: `{"person_ids": [2476123212131]}`, Code: "Unauthorized"},
		{Name: "empty list", Body: `{"person_ids": []}`, Data: `{"items": []}`},
		{Name: "empty members are left out", Body: `{"person_ids": [3122470302131]}`, Data: `{"items": [` + bare + `]}`},
		{Name: "duplicates once, where they first stood", Body: `{"person_ids": [3122470302131, 2476123212131, 3122470302131, 2476123212131]}`, Data: `{"items": [` + bare + `, ` + a + `]}`},
		{Name: "unknown ids are left out", Body: `{"person_ids": [0, 1, 2476123212131, 9223372036854775807, 9223372036854775808, 18446744073709551615]}`, Data: `{"items": [` + a + `]}`},
		{Name: "nobody known", Body: `{"person_ids": [1]}`, Data: `{"items": []}`},
		{Name: "the account among persons", Body: `{"person_ids": [2476123212131, 2451002751131]}`, Data: `{"items": [` + a + `, ` + account + `]}`},
		{Name: "another account's persons and record", Body: `{"person_ids": [9900000000001, 9900000000002]}`, Data: `{"items": []}`},
		{Name: "from the other account", Key: apitest.KeyB, Body: `{"person_ids": [2476123212131, 2451002751131]}`, Data: `{"items": []}`},
		{Name: "unknown members are ignored", Body: `{"person_ids": [], "page": 1}`, Data: `{"items": []}`},
		{Name: "no list", Body: `{}`, Code: "InvalidParameter", Says: []string{"person_ids", "required"}},
		{Name: "null", Body: `{"person_ids": null}`, Code: "InvalidParameter", Says: []string{"person_ids"}},
		{Name: "one id, no list", Body: `{"person_ids": 1}`, Code: "InvalidParameter", Says: []string{"person_ids", "array"}},
		{Name: "text", Body: `{"person_ids": [1, "2"]}`, Code: "InvalidParameter", Says: []string{"person_ids[1]", "integer", `"2"`}},
		{Name: "fraction", Body: `{"person_ids": [1.5]}`, Code: "InvalidParameter", Says: []string{"person_ids[0]", "1.5"}},
		{Name: "negative", Body: `{"person_ids": [-1]}`, Code: "InvalidParameter", Says: []string{"person_ids[0]", "-1"}},
		{Name: "beyond 64 bits", Body: `{"person_ids": [18446744073709551616]}`, Code: "InvalidParameter", Says: []string{"person_ids[0]"}},
		{Name: "malformed", Body: `{"person_ids": [`, Code: "InvalidParameter"},
		{Name: "1,000 ids", Body: ids(1000), Data: `{"items": [` + a + `]}`},
		{Name: "1,001 ids", Body: ids(1001), Code: "InvalidParameter", Says: []string{"person_ids", "1000"}},
	})
}

// ids returns a request with n ids, of which the last is the owner's.
func ids(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i + 1)
	}
	list[n-1] = fmt.Sprint(int64(apitest.OwnerA))
	return `{"person_ids": [` + strings.Join(list, ",") + `]}`
}

// TestInfosOfMany checks that the reply is complete and in order for numbers of ids around the size of a query.
func TestInfosOfMany(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	for i := range int64(120) {
		s.Person(apitest.AccountA, 1000+i, "P")
	}
	for _, n := range []int{1, 49, 50, 51, 99, 100, 101, 120} {
		var want []int64
		for i := range n {
			want = append(want, int64(1000+n-1-i))
		}
		var got struct{ Items []struct{ Person_ID int64 } }
		s.Call(apitest.KeyA, path, map[string]any{"person_ids": want}).Into(&got)
		var have []int64
		for _, p := range got.Items {
			have = append(have, p.Person_ID)
		}
		if !slices.Equal(have, want) {
			t.Errorf("%d ids: got %v", n, have)
		}
	}
}
