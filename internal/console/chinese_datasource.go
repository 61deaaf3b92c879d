package console

// chineseDatasource holds the texts of the form of datasources.
var chineseDatasource = map[string]string{
	"Sign in with user name and password": "使用用户名和密码登录", "User name": "用户名", "Query parameters, one name=value on each line": "查询参数，每行一个 名称=值",
	"Request headers, one name: value on each line": "请求头，每行一个 名称: 值", "Options, one name=value on each line": "选项，每行一个 名称=值",
	"Connect with TLS": "使用 TLS 连接", "Trusted authorities, PEM": "受信任的证书颁发机构（PEM）", "Client certificate, PEM": "客户端证书（PEM）",
	"Key of the client certificate, PEM": "客户端证书的私钥（PEM）", "Password of the key": "私钥的密码", "Accept any server certificate": "接受任何服务器证书",
	"Name in the server's certificate": "服务器证书中的名称", "Lowest version of TLS": "TLS 最低版本", "Highest version of TLS": "TLS 最高版本",
	"Connections at a time": "最大连接数", "Idle connections": "空闲连接数", "Longest life of a connection, in seconds": "连接的最长存活时间（秒）",
	"Longest wait for a query, in milliseconds": "查询的最长等待时间（毫秒）", "Longest wait for a connection, in milliseconds": "连接的最长等待时间（毫秒）",
	"Longest run of a query, in seconds": "查询的最长运行时间（秒）", "Deployment": "部署方式", "Cloud ID": "Cloud ID", "API key of the cloud": "云端的 API 密钥",
	"Service token": "服务令牌", "SHA-256 of the certificate authority": "证书颁发机构的 SHA-256", "ID of the access key": "访问密钥的 ID",
	"Secret of the access key": "访问密钥的密文", "As usual": "默认", "Empty: it stays as it is.": "留空：保持不变。", "TLS": "TLS",
	"Such as https://prometheus.example.com.":                                              "例如 https://prometheus.example.com。",
	"Such as https://loki.example.com.":                                                    "例如 https://loki.example.com。",
	"Such as https://logs.example.com.":                                                    "例如 https://logs.example.com。",
	"Host and port, such as db.example.com:3306.":                                          "主机和端口，例如 db.example.com:3306。",
	"Host and port, such as db.example.com:5432.":                                          "主机和端口，例如 db.example.com:5432。",
	"Host and port, such as db.example.com:1521.":                                          "主机和端口，例如 db.example.com:1521。",
	"Host and native port, such as db.example.com:9000; several with commas.":              "主机和原生协议端口，例如 db.example.com:9000；多个用逗号分隔。",
	"Such as https://search.example.com:9200, several with commas; empty with a cloud ID.": "例如 https://search.example.com:9200，多个用逗号分隔；使用 Cloud ID 时留空。",
	"The endpoint, such as cn-hangzhou.log.aliyuncs.com.":                                  "接入点，例如 cn-hangzhou.log.aliyuncs.com。",
	"When its series is missing":                                                           "当序列缺失时",
	"the alert ends as gone":                                                               "告警以消失结束",
	"the alert goes on":                                                                    "告警继续",
	"Send the end of its alerts":                                                           "发送其告警的恢复",
}
