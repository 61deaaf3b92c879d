package console

// chinesePeopleLink holds the texts of links with which persons set a password.
var chinesePeopleLink = map[string]string{
	"Make a link to set a password":                      "生成设置密码的链接",
	"The link to set a password. It is not shown again.": "设置密码的链接。离开此页后不再显示。",
	"Give it to %s. It works once, until":                "请转交给 %s。该链接只能使用一次，有效期至",
	"Whoever has the link can sign in as this person. Setting the password ends their sessions and other links.":                              "持有该链接的人可以此成员的身份登录。设置密码后，该成员的会话和其他链接随即失效。",
	"The person was added, and can be on call now. Make a link for them to set a password and sign in. With a mail server one is mailed too.": "已添加成员，现在即可参与值班。请为其生成设置密码的链接，以便登录；已配置邮件服务器时，系统也会通过邮件发送。",
}
