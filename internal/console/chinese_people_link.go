package console

// chinesePeopleLink holds the texts of links with which persons set a password.
var chinesePeopleLink = map[string]string{
	"Make a link to set a password":       "生成设置密码的链接",
	"Remove the identity at the provider": "移除身份提供方中的身份",
	"Remove the identity of %s":           "移除 %s 的身份",
	"For a person who is another one at the provider now. Sessions that began there end. The next sign-in there finds the person by the e-mail address if that was proved.": "适用于在身份提供方处已换成另一身份的成员。从那里开始的会话会结束。若邮箱地址已证实，下次从那里登录时会按该地址找到此成员。",
	"The link to set a password. It is not shown again.":                                                                                      "设置密码的链接。离开此页后不再显示。",
	"Give it to %s. It works once, until":                                                                                                     "请转交给 %s。该链接只能使用一次，有效期至",
	"Whoever has the link can sign in as this person. Setting the password ends their sessions and other links.":                              "持有该链接的人可以此成员的身份登录。设置密码后，该成员的会话和其他链接随即失效。",
	"The person was added, and can be on call now. Make a link for them to set a password and sign in. With a mail server one is mailed too.": "已添加成员，现在即可参与值班。请为其生成设置密码的链接，以便登录；已配置邮件服务器时，系统也会通过邮件发送。",
}
