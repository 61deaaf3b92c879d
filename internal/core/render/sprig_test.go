package render

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	text "text/template"

	sprig "github.com/go-task/slim-sprig/v3"
)

// asSprig are the functions whose results are those of the sprig library, with uses that random values are put into.
var asSprig = []string{
	`{{add %v %v}}`, `{{sub %v %v}}`, `{{mul %v %v}}`, `{{max %v %v}}`, `{{min %v %v}}`, `{{toInt64 %v}} {{int64 %v}}`, `{{int %v}}{{/* %v */}}`,
	`{{float64 %v}}{{/* %v */}}`, `{{floor %v}} {{ceil %v}}`, `{{round %v 2}}{{/* %v */}}`, `{{empty %v}} {{empty %v}}`, `{{default %v %v}}`,
	`{{coalesce %v %v}}`, `{{ternary %v %v true}}`, `{{toString %v}}{{toString %v}}`, `{{list %v %v}}`, `{{first (list %v %v)}}`, `{{last (list %v %v)}}`,
	`{{join "-" (list %v %v)}}`, `{{has %v (list %v)}}`, `{{hasKey (dict "a" %v) "a"}}{{hasKey (dict "b" %v) "a"}}`, `{{get (dict "a" %v) "a"}}{{/* %v */}}`,
	`{{dict "a" %v "b" %v}}`, `{{toJson (list %v %v)}}`, `{{toString %v | quote}}{{/* %v */}}`,
}

var asSprigText = []string{
	`{{trim %q}}`, `{{upper %q}}`, `{{lower %q}}`, `{{title %q}}`, `{{trunc 3 %q}}`, `{{trunc -3 %q}}`, `{{contains "a" %q}}`, `{{hasPrefix "a" %q}}`,
	`{{hasSuffix "a" %q}}`, `{{replace "a" "b" %q}}`, `{{trimPrefix "a" %q}}`, `{{trimSuffix "a" %q}}`, `{{splitList "a" %q}}`, `{{quote %q 1}}`,
	`{{indent 3 %q}}`, `{{nindent 3 %q}}`, `{{b64enc %q}}`, `{{keys (dict "a" %q)}}`, `{{values (dict "a" %q)}}`, `{{toInt64 %q}} `, `{{empty %q}}`,
}

// The general functions return what those of the sprig library return, which templates of the public language are written
// for.
func TestGeneralFunctionsAgreeWithSprig(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	values := []string{`""`, `"a"`, `"12"`, `"-3"`, `"x y"`, `0`, `1`, `-7`, `2.5`, `-0.125`, `true`, `false`, `100`}
	letters := []string{"a", "b", "A", " ", "\n", "-", "é", "1", "."}
	compared := 0
	for range 3000 {
		source := asSprig[r.IntN(len(asSprig))]
		source = fmt.Sprintf(source, values[r.IntN(len(values))], values[r.IntN(len(values))])
		if r.IntN(2) == 0 {
			var word strings.Builder
			for range r.IntN(8) {
				word.WriteString(letters[r.IntN(len(letters))])
			}
			source = fmt.Sprintf(asSprigText[r.IntN(len(asSprigText))], word.String())
		}
		want, wantErr := executed(source, sprig.TxtFuncMap())
		got, err := executed(source, Plain.all(newBudget(Incident{}, maxMade)))
		if wantErr != nil || strings.Contains(source, "trunc") && strings.Contains(source, "é") { // the library cuts bytes, ours characters
			continue
		}
		if compared++; err != nil || got != want {
			t.Errorf("%s is %q %v, want %q", source, got, err, want)
		}
	}
	if compared < 2500 {
		t.Errorf("only %d of 3000 calls are compared", compared)
	}
}

func executed(source string, functions text.FuncMap) (string, error) {
	t, err := text.New("").Funcs(functions).Parse(source)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, nil)
	return b.String(), err
}

// jsonGet finds what walking the decoded JSON finds.
func TestJSONGetAgreesWithNaiveWalk(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		value := randomJSON(r, 3)
		encoded, _ := json.Marshal(value)
		at, path := value, []string{}
		for at != nil && len(path) < 4 {
			switch v := at.(type) {
			case map[string]any:
				key := string("abc"[r.IntN(3)])
				path, at = append(path, key), v[key]
			case []any:
				n := r.IntN(3)
				path = append(path, fmt.Sprint(n))
				at = nil
				if n < len(v) {
					at = v[n]
				}
			default:
				goto found
			}
		}
	found:
		if len(path) == 0 {
			continue
		}
		got, err := newBudget(Incident{}, maxMade).jsonGet(string(encoded), strings.Join(path, "."))
		want := ""
		switch v := at.(type) {
		case nil:
		case string:
			want = v
		case map[string]any, []any:
			var decoded any
			if json.Unmarshal([]byte(got), &decoded) != nil || !reflect.DeepEqual(decoded, v) {
				t.Errorf("%s at %q is %s", encoded, path, got)
			}
			continue
		default:
			want = fmt.Sprint(v)
		}
		if err != nil || got != want {
			t.Errorf("%s at %q is %q %v, want %q", encoded, path, got, err, want)
		}
	}
}

func randomJSON(r *rand.Rand, deep int) any {
	switch n := r.IntN(6); {
	case n < 2 && deep > 0:
		m := map[string]any{}
		for _, key := range "abc"[:r.IntN(4)] {
			m[string(key)] = randomJSON(r, deep-1)
		}
		return m
	case n < 4 && deep > 0:
		list := make([]any, r.IntN(3))
		for i := range list {
			list[i] = randomJSON(r, deep-1)
		}
		return list
	case n == 4:
		return float64(r.IntN(100))
	}
	return []any{"text", "", true, false}[r.IntN(4)]
}
