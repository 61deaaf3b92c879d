package page

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/console/locale"
	"tocsin/internal/platform/fault"
)

var checked = regexp.MustCompile(`\.wants\(\w+, ("(?:[^"\\]|\\.)*")`)

// TestRefusalsAreTranslated reads the program: what the checks of all requests refuse has a Chinese text, each Chinese text of a
// message is of a message that there is, and it takes the same arguments.
func TestRefusalsAreTranslated(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	err := filepath.WalkDir("../..", func(path string, file fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../locale/zh/fault.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts map[string]string
	if err := json.Unmarshal(text, &texts); err != nil {
		t.Fatal(err)
	}
	verb := regexp.MustCompile(`%[.0-9]*[a-z]`)
	for format, chinese := range texts {
		if !strings.Contains(source.String(), strconv.Quote(format)) {
			t.Errorf("no message is %q", format)
		}
		if got, want := verb.FindAllString(chinese, -1), verb.FindAllString(format, -1); !slices.Equal(got, want) {
			t.Errorf("%q has the arguments %q in Chinese", format, got)
		}
	}
	found := 0
	for _, m := range checked.FindAllStringSubmatch(source.String(), -1) {
		format, err := strconv.Unquote(m[1])
		if _, ok := locale.Lookup("zh", format); err != nil || !ok && !slices.Contains(untranslated, format) {
			t.Errorf("%q has no Chinese text (%v)", format, err)
		}
		found++
	}
	if found < 20 {
		t.Errorf("%d messages were found", found)
	}
}

// untranslated lists what no page can send, or what ends in an English description.
var untranslated = []string{"must be a number of at most 1.8e308", "must be %s"}

func TestRefusalsAreShownInChinese(t *testing.T) {
	t.Parallel()
	zh := &Visit{Setting: locale.Setting{Lang: "zh"}}
	for _, x := range []struct {
		err  error
		want RefusalWords
	}{
		{fault.Invalid("limit", "must be from %d to %d, got %d", 1, 100, 0), RefusalWords{Text: "字段 limit 未被接受：必须在 1 到 100 之间，收到的是 0。"}},
		{fault.Invalid("by", "%s, got %s", fault.NewClause("must be one of %s", fault.Words{"sms", "x"}), "y"),
			RefusalWords{Text: "字段 by 未被接受：必须为以下之一：短信、x，收到的是 y。"}},
		{fault.Missing("channel", 7), RefusalWords{Text: "服务器拒绝了此操作：协作空间 7 不存在。"}},
		{fault.New(fault.Conflict, "another field is called %q", "is required"), RefusalWords{Text: `服务器拒绝了此操作：另一个字段已名为 "is required"。`}},
		{fault.Invalid("x", "%s", "is required"), RefusalWords{"服务器拒绝了此操作：", "x: is required"}}, // of a stranger
		{fault.Invalid("x", "%s", fault.Invalid("y", "is required")), RefusalWords{Text: "字段 x 未被接受：必填。"}},
		{fault.New(fault.Conflict, "the dog ate %s", "it"), RefusalWords{"服务器拒绝了此操作：", "the dog ate it"}},
		{&fault.Error{Kind: fault.Conflict, Message: "is required"}, RefusalWords{"服务器拒绝了此操作：", "is required"}},
	} {
		var f *fault.Error
		if !errors.As(x.err, &f) {
			t.Fatal(x.err)
		}
		if got := zh.refusedBy(f); got != x.want {
			t.Errorf("%v is %+v, want %+v", x.err, got, x.want)
		}
	}
}
