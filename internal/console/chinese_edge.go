package console

// chineseEdge holds the texts about edges.
var chineseEdge = map[string]string{
	"Edges": "边缘节点", "This server": "本服务器", "in touch": "在线", "not in touch since": "离线,自", "New edge": "新建边缘节点", "Cluster": "集群",
	"An edge runs beside the data, asks the datasources of its cluster, and calls this server. The server itself is the cluster default.":                     "边缘节点运行在数据旁边,查询其集群的数据源,并连接本服务器。服务器自身是集群 default。",
	"The command for the new edge. The key in it is not shown again.":                                                                                         "新边缘节点的启动命令。其中的密钥不会再次显示。",
	"Run it with the same version of the program on any machine that reaches the datasources and this server. More members share the work: use the same key.": "在任何能访问数据源和本服务器的机器上,用相同版本的程序运行。多个成员分担工作:使用同一个密钥。",
	"%d edges are in touch": "%d 个边缘节点在线", "No edge is in touch": "没有在线的边缘节点", "Evaluations of rules on datasources: %d": "规则与数据源的评估任务:%d",
	"Version %s": "版本 %s", "%d of 64 parts": "64 份中的 %d 份", "late by %d ms": "延迟 %d 毫秒", "clock off by %d ms": "时钟偏差 %d 毫秒",
	"waiting on its disk: %s": "磁盘待发:%s", "configuration read %s ago": "%s前读取配置",
	"Edges that use it delete their configuration and stop.": "使用它的边缘节点会删除其配置并停止。",
	"When no edge is in touch":                               "没有边缘节点在线时", "Send an alert": "发送告警", "After so many seconds": "经过多少秒后", "None: the owner is notified": "无:通知账户所有者",
	"The name that its datasources have as their edge cluster, such as fra.": "其数据源所填的边缘集群名称,例如 fra。",
	"How often at most": "最多发送次数", "Again after so many seconds": "间隔多少秒后再次发送", "Edges that count": "计入的边缘节点", "Edges that do not count": "不计入的边缘节点",
	"Names with commas between them; * stands for any characters. Empty: all.": "名称以逗号分隔;* 代表任意字符。留空:全部。",
	"Name of the key": "密钥名称", "Make a key and show the command": "创建密钥并显示命令",
}
