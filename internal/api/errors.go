package api

import (
	"errors"
	"strings"

	"tocsin/internal/platform/fault"
)

// wire maps each kind of failure to its HTTP status, to the code that clients compare (docs/api.md, "Errors"), and to
// the sentence that its message begins with, in the two languages of the documented messages.
var wire = map[fault.Kind]struct {
	status  int
	code    string
	english string
	chinese string
}{
	fault.Internal: {
		500, "InternalError",
		"We encountered an internal error, and it has been reported. Please try again later.", "服务内部错误，请稍后重试。",
	},
	fault.InvalidParameter:   {400, "InvalidParameter", "The specified parameter is not valid", "参数不合法"},
	fault.BadRequest:         {400, "BadRequest", "The request is not valid", "请求不合法"},
	fault.InvalidContentType: {400, "InvalidContentType", "The Content-Type is not valid", "Content-Type 不合法"},
	fault.NotFound:           {404, "ResourceNotFound", "The resource you request is not found", "请求的资源不存在"},
	fault.ReferenceExist:     {400, "ReferenceExist", "The resource is still referenced", "资源仍被引用"},
	fault.Unauthorized:       {401, "Unauthorized", "You are unauthorized", "未授权"},
	fault.AccessDenied:       {403, "AccessDenied", "Access Denied", "没有权限"},
	fault.RouteNotFound:      {404, "RouteNotFound", "There is no such operation", "接口不存在"},
	fault.MethodNotAllowed:   {405, "MethodNotAllowed", "The method is not allowed", "请求方法不允许"},
	fault.TooLarge:           {413, "EntityTooLarge", "The request body is too large", "请求体过大"},
	fault.TooFrequent:        {429, "RequestTooFrequently", "Request too frequently", "请求过于频繁"},
	fault.Unavailable:        {503, "ServiceUnavailable", "The service is not available right now", "服务暂不可用"},
	fault.Conflict:           {400, "BadRequest", "The request does not fit the present state", "请求与当前状态冲突"},
	fault.NoEdge:             {503, "NoActiveEdge", "No edge is active", "没有在线的边缘节点"},
	fault.Timeout:            {504, "RequestTimeout", "The request was not answered in time", "请求超时"},
	fault.Replaced:           {409, "EdgeReplaced", "Another process runs as this edge", "另一个进程已作为此边缘节点运行"},
	fault.Outdated:           {409, "RequestVerifyFailed", "The request was made for an older state", "请求基于较旧的状态"},
}

// errorResponse is the body of every failure: an error with both members. data is present only with ReferenceExist and
// RequestVerifyFailed.
type errorResponse struct {
	RequestID string     `json:"request_id" doc:"Identifies the call; also in the header Service-Request-Id."`
	Error     errorBody  `json:"error" doc:"Why it was not done."`
	Data      *errorData `json:"data,omitzero" doc:"With ReferenceExist and RequestVerifyFailed alone."`
}

// errorData is the data of a refusal to delete, with the objects that still refer to the one to delete, or of a change
// that another one preceded, with the present revision.
type errorData struct {
	Refs     []fault.Ref `json:"refs,omitzero" doc:"With ReferenceExist: what refers to the object, at most 100."`
	Revision int64       `json:"revision,omitzero" doc:"With RequestVerifyFailed: the revision that the object has by now."`
}

type errorBody struct {
	Code    string `json:"code" doc:"Stable; compare this, not the status."`
	Message string `json:"message" doc:"For people; follows Accept-Language (en, zh)."`
}

// failure converts an error into its status and public body. An error that is not a fault becomes InternalError without
// details, because its message may hold secrets.
func failure(err error, acceptLanguage string) (status int, body errorBody, data *errorData) {
	var f *fault.Error
	if !errors.As(err, &f) {
		f = &fault.Error{Kind: fault.Internal}
	}
	w := wire[f.Kind]
	if f.Kind == fault.Internal {
		f = &fault.Error{Kind: fault.Internal} // its message was not meant for callers
	}
	switch f.Kind {
	case fault.ReferenceExist:
		data = &errorData{Refs: f.Refs}
	case fault.Outdated:
		data = &errorData{Revision: f.Newer}
	}
	return w.status, errorBody{Code: w.code, Message: bounded(messageOf(w.english, w.chinese, f, acceptLanguage))}, data
}

// maxMessage is the longest message of an error, in characters.
const maxMessage = 1500

// bounded shortens a message in its middle, because the field is at its beginning and the bound at its end.
func bounded(message string) string {
	letters := []rune(message)
	if len(letters) <= maxMessage {
		return message
	}
	const end = maxMessage/2 - 2
	return string(letters[:end]) + "..." + string(letters[len(letters)-end:])
}

// messageOf returns the message, such as "The specified parameter limit is not valid: must be from 1 to 100, got 0.".
func messageOf(english, chinese string, f *fault.Error, acceptLanguage string) string {
	if prefersChinese(acceptLanguage) {
		if f.Field != "" {
			chinese = "参数 " + f.Field + " 不合法"
		}
		if f.Message == "" {
			return strings.TrimSuffix(chinese, "。") + "。"
		}
		return chinese + "：" + f.Message + "。"
	}
	if f.Field != "" {
		english = "The specified parameter " + f.Field + " is not valid"
	}
	if f.Message == "" {
		return strings.TrimSuffix(english, ".") + "."
	}
	return english + ": " + f.Message + "."
}

// prefersChinese reads only the first language range: clients put the language they want first. All other requests are
// answered in English.
func prefersChinese(acceptLanguage string) bool {
	first, _, _ := strings.Cut(acceptLanguage, ",")
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(first)), "zh")
}
