"""Mails as programs of many makes and years write them: made here, by families of what varies. No mail is anybody's.

mails() gives pairs of a name and the bytes of a mail. It needs nothing but Python's library, and gives the same at every time.
"""
import base64
import quopri

TEXTS = {  # a charset's label, Python's codec for what is sent under it, a text
    "utf-8": ("utf-8", "Grüße, 日本, 😀"),
    "us-ascii": ("ascii", "plain words"),
    "iso-8859-1": ("latin-1", "Grüße aus Zürich, señor"),
    "iso-8859-1-smart": ("cp1252", "“quoted” – it’s 5 €"),
    "iso-8859-2": ("iso-8859-2", "Zażółć gęślą jaźń"),
    "iso-8859-5": ("iso-8859-5", "Привет"),
    "iso-8859-7": ("iso-8859-7", "Καλημέρα"),
    "iso-8859-9": ("iso-8859-9", "İstanbul ışığı"),
    "iso-8859-15": ("iso-8859-15", "5 € cœur"),
    "windows-1250": ("cp1250", "Zażółć – gęślą"),
    "windows-1251": ("cp1251", "Привет – мир"),
    "windows-1252": ("cp1252", "“Zürich” – 5 €"),
    "windows-1253": ("cp1253", "Καλημέρα"),
    "windows-1254": ("cp1254", "İstanbul – ışığı"),
    "windows-1255": ("cp1255", "שלום"),
    "windows-1256": ("cp1256", "سلام"),
    "windows-1257": ("cp1257", "Ąžuolas"),
    "windows-1258": ("cp1258", "Tôi đây"),
    "koi8-r": ("koi8-r", "Привет, мир"),
    "koi8-u": ("koi8-u", "Привіт, їжак"),
    "shift_jis": ("cp932", "日本語のメール"),
    "shift_jis-nec": ("cp932", "①㈱髙﨑～"),
    "euc-jp": ("euc-jp", "日本語のメール"),
    "iso-2022-jp": ("iso-2022-jp", "日本語のメール"),
    "iso-2022-jp-nec": (None, b"\x1b$B-!-j\x1b(B"),
    "euc-kr": ("euc-kr", "안녕하세요"),
    "euc-kr-949": ("cp949", "똠방각하 펲시콜라"),
    "ks_c_5601-1987": ("cp949", "안녕하세요"),
    "gb2312": ("gb2312", "你好，世界"),
    "gb2312-gbk": ("gbk", "鎔朱镕基"),
    "gbk": ("gbk", "你好，世界"),
    "gb18030": ("gb18030", "你好，㐀"),
    "big5": ("big5", "你好，世界"),
    "big5-hkscs-as-big5": ("big5hkscs", "香港嘅嘢"),
    "utf-7": ("utf-7", "Grüße"),
    "macintosh": ("mac-roman", "Grüße"),
    "tis-620": ("tis-620", "สวัสดี"),
    "ibm866": ("cp866", "Привет"),
}


def label_of(key):
    for end in ("-smart", "-nec", "-949", "-gbk", "-hkscs-as-big5"):
        key = key[: -len(end)] if key.endswith(end) else key
    return key


def encoded(key):
    codec, text = TEXTS[key]
    return text if codec is None else text.encode(codec)


HEAD = (b"From: Amy Lee <amy@example.com>\r\nTo: bob@example.com\r\nDate: Fri, 21 Nov 1997 09:55:06 -0600\r\n"
        b"Message-ID: <m1@example.com>\r\nMIME-Version: 1.0\r\n")


def mail(*fields, body=b"", head=HEAD, subject=b"Subject: plain\r\n"):
    return head + subject + b"".join(f + b"\r\n" for f in fields) + b"\r\n" + body


def part(*fields, body=b""):
    return b"".join(f + b"\r\n" for f in fields) + b"\r\n" + body


def multipart(kind, parts, boundary=b"b", named=None, end=True, before=b"", behind=b""):
    field = b"Content-Type: multipart/" + kind + b"; boundary=" + (named or b'"' + boundary + b'"')
    body = before + b"".join(b"--" + boundary + b"\r\n" + p + b"\r\n" for p in parts)
    return field, body + (b"--" + boundary + b"--\r\n" if end else b"") + behind


PLAIN = part(b"Content-Type: text/plain; charset=utf-8", body="the text, ü".encode())
HTML = part(b"Content-Type: text/html; charset=utf-8", body=b"<p>the <b>HTML</b></p>")
FILE = part(b"Content-Type: application/pdf", b'Content-Disposition: attachment; filename="a.pdf"',
            b"Content-Transfer-Encoding: base64", body=base64.b64encode(b"%PDF-1.4"))


def charset_mails():
    for key in TEXTS:
        label, data = label_of(key).encode(), encoded(key)
        field = b"Content-Type: text/plain; charset=" + label
        yield f"charset_{key}_8bit", mail(field, b"Content-Transfer-Encoding: 8bit", body=data)
        yield f"charset_{key}_qp", mail(field, b"Content-Transfer-Encoding: quoted-printable", body=quopri.encodestring(data))
        yield f"charset_{key}_base64", mail(field, b"Content-Transfer-Encoding: BASE64", body=base64.encodebytes(data))
        word = b"=?" + label.upper() + b"?B?" + base64.b64encode(data) + b"?="
        yield f"subject_{key}", mail(subject=b"Subject: " + word + b"\r\n", body=b"x")
        named = HEAD.replace(b"Amy Lee", word)
        yield f"name_{key}", mail(head=named, body=b"x")


def structure_mails():
    def made(name, kind, parts, **more):
        field, body = multipart(kind, parts, **more)
        return name, mail(field, body=body)

    inner = part(*multipart(b"alternative", [PLAIN, HTML], b"inner")[:1], body=multipart(b"alternative", [PLAIN, HTML], b"inner")[1])
    nested = lambda kind, parts, boundary: part(multipart(kind, parts, boundary)[0], body=multipart(kind, parts, boundary)[1])
    blank = part(b"Content-Type: text/plain", body=b" \r\n")
    yield made("alternative", b"alternative", [PLAIN, HTML])
    yield made("alternative_blank_text", b"alternative", [blank, HTML])
    yield made("alternative_one", b"alternative", [PLAIN])
    yield made("alternative_html_first", b"alternative", [HTML, PLAIN])
    yield made("mixed_file", b"mixed", [PLAIN, FILE])
    yield made("mixed_file_first", b"mixed", [FILE, PLAIN])
    yield made("mixed_nested", b"mixed", [inner, FILE])
    yield made("mixed_two_texts", b"mixed", [PLAIN, PLAIN])
    yield made("mixed_text_file_text", b"mixed", [PLAIN, FILE, PLAIN])
    yield made("mixed_html_footer", b"mixed", [HTML, PLAIN])
    yield made("related", b"related", [HTML, part(b"Content-Type: image/png; name=l.png", b"Content-ID: <l@x>", b"Content-Disposition: inline", b"Content-Transfer-Encoding: base64", body=b"iVBORw0KGgo=")])
    yield made("signed", b"signed", [PLAIN, part(b"Content-Type: application/pgp-signature; name=s.asc", body=b"-----BEGIN-----")])
    yield made("report", b"report", [PLAIN, part(b"Content-Type: message/delivery-status", body=b"Reporting-MTA: dns; x\r\n\r\nAction: failed\r\n")])
    yield made("deep", b"mixed", [nested(b"mixed", [nested(b"mixed", [nested(b"alternative", [PLAIN, HTML], b"b3")], b"b2"), FILE], b"b1")])
    yield made("digest", b"digest", [part(body=mail(body=b"inner text")), part(body=mail(body=b"inner too"))])
    yield made("attached_mail", b"mixed", [PLAIN, part(b"Content-Type: message/rfc822", body=mail(body=b"inner text"))])
    yield made("default_type_of_part", b"mixed", [part(body=b"no type at all")])
    yield made("unknown_kind", b"x-unknown", [PLAIN, FILE])
    yield made("preamble_epilogue", b"mixed", [PLAIN], before=b"This is MIME.\r\n", behind=b"behind\r\n")
    yield made("end_missing", b"mixed", [PLAIN, FILE], end=False)
    yield made("no_parts", b"mixed", [])
    for name, boundary in [("blank", b"a b"), ("equals", b"=_x=="), ("question", b"a?b"), ("slash", b"a/b:c"), ("plus", b"+a+"),
                           ("dashes", b"------------040"), ("long", b"x" * 70), ("dots", b"a.b,c(d)")]:
        yield made(f"boundary_{name}", b"mixed", [PLAIN, FILE], boundary=boundary)
    yield made("boundary_unquoted", b"mixed", [PLAIN, FILE], boundary=b"----=_Part_1", named=b"----=_Part_1")
    yield made("boundary_prefix", b"mixed", [nested(b"alternative", [PLAIN, HTML], b"bb"), FILE], boundary=b"b")
    yield made("boundary_of_outer_in_text", b"mixed", [part(b"Content-Type: text/plain", body=b"-- \r\nsignature\r\n--b b\r\n"), FILE])
    field, body = multipart(b"mixed", [PLAIN, FILE])
    yield "upper_case_names", mail(field.replace(b"multipart/mixed; boundary", b"MULTIPART/Mixed; BOUNDARY"), body=body)
    yield "lines_with_lf", mail(field, body=body).replace(b"\r\n", b"\n")
    yield "folded_type", mail(field.replace(b"; ", b";\r\n\t"), body=body)
    yield "comment_in_type", mail(b"Content-Type: text/plain (a comment); charset=utf-8", body="ü".encode())
    yield "boundary_with_blanks_behind", mail(field, body=body.replace(b"--b\r\n", b"--b  \r\n"))
    yield "boundary_missing", mail(b"Content-Type: multipart/mixed", body=b"just text\r\n")


def encoding_mails():
    text = b"Content-Type: text/plain; charset=utf-8"
    qp, b64 = b"Content-Transfer-Encoding: quoted-printable", b"Content-Transfer-Encoding: base64"
    data = "Grüße, lange Zeile".encode()
    cases = {
        "qp_soft": (qp, b"soft=\r\n break=3D=C3=BC"), "qp_lower": (qp, b"=c3=bc"), "qp_blank_before_end": (qp, b"a=  \r\nb"),
        "qp_bad_digits": (qp, b"a=ZZb=C3=BC"), "qp_open_end": (qp, b"abc="), "qp_raw_8bit": (qp, "ü=C3=BC".encode()),
        "qp_blank_at_line_end": (qp, b"a=20\r\nb=20"), "qp_underscore": (qp, b"a_b"), "qp_long": (qp, b"a" * 2000),
        "b64_one_line": (b64, base64.b64encode(data * 20)), "b64_no_padding": (b64, base64.b64encode(data).rstrip(b"=")),
        "b64_blanks": (b64, b" " + base64.b64encode(data).replace(b"w", b"w ")), "b64_short_lines": (b64, b"\r\n".join(base64.b64encode(data)[i:i + 4] for i in range(0, 28, 4))),
        "b64_two_ends": (b64, base64.b64encode(b"first") + b"\r\n" + base64.b64encode(b"second")), "b64_empty": (b64, b""),
        "b64_footer": (b64, base64.encodebytes(data * 3) + b"\r\n"), "8bit_unsaid": (b"X-None: x", data),
        "7bit_said": (b"Content-Transfer-Encoding: 7bit", data), "binary": (b"Content-Transfer-Encoding: binary", data),
        "unknown": (b"Content-Transfer-Encoding: x-unknown", data), "quoted_name": (b'Content-Transfer-Encoding: "base64"', base64.b64encode(data)),
        "comment": (b"Content-Transfer-Encoding: base64 (yes)", base64.b64encode(data)), "blanks": (b"Content-Transfer-Encoding:   quoted-printable  ", b"=C3=BC"),
        "trailing_semicolon": (b"Content-Transfer-Encoding: quoted-printable;", b"=C3=BC"),
        "uuencode": (b"Content-Transfer-Encoding: x-uuencode", b"begin 644 a.txt\r\n#0V%T\r\n`\r\nend\r\n"),
    }
    for name, (field, body) in cases.items():
        yield "encoding_" + name, mail(text, field, body=body)


def name_mails():
    def named(disposition, kind=b"application/octet-stream"):
        return mail(b"Content-Type: " + kind, b"Content-Disposition: " + disposition, body=b"content")

    word = b"=?utf-8?B?" + base64.b64encode("Grüße.pdf".encode()) + b"?="
    cases = {
        "plain": b"attachment; filename=a.pdf", "quoted": b'attachment; filename="a b.pdf"', "escaped": b'attachment; filename="a\\"b.pdf"',
        "rfc2231": b"attachment; filename*=utf-8''Gr%C3%BC%C3%9Fe.pdf", "rfc2231_language": b"attachment; filename*=utf-8'de'Gr%C3%BC%C3%9Fe.pdf",
        "rfc2231_latin": b"attachment; filename*=iso-8859-1''Gr%FC%DFe.pdf", "rfc2231_pieces": b"attachment; filename*0=\"long \"; filename*1=\"name.pdf\"",
        "rfc2231_coded_pieces": b"attachment; filename*0*=utf-8''Gr%C3%BC; filename*1*=%C3%9Fe.pdf",
        "rfc2231_mixed_pieces": b"attachment; filename*0*=utf-8''Gr%C3%BC; filename*1=\"sse.pdf\"",
        "word": b'attachment; filename="' + word + b'"', "word_unquoted": b"attachment; filename=" + word,
        "both": b"attachment; filename=\"old.pdf\"; filename*=utf-8''Gr%C3%BC%C3%9Fe.pdf", "semicolon": b'attachment; filename="a;b.pdf"',
        "blanks_unquoted": b"attachment; filename=a b.pdf", "empty": b'attachment; filename=""', "upper": b"ATTACHMENT; FILENAME=A.PDF",
        "folded": b"attachment;\r\n filename=\"a.pdf\"", "path": b'attachment; filename="../../etc/passwd"', "no_value": b"attachment; filename",
        "long": b'attachment; filename="' + b"a" * 300 + b'.pdf"', "utf8": 'attachment; filename="Grüße.pdf"'.encode(),
        "trailing_semicolon": b"attachment; filename=a.pdf;", "equals_blank": b"attachment; filename = a.pdf",
    }
    for name, disposition in cases.items():
        yield "filename_" + name, named(disposition)
    yield "filename_of_type", mail(b'Content-Type: application/pdf; name="a.pdf"', body=b"x")
    yield "filename_of_type_word", mail(b'Content-Type: application/pdf; name="' + word + b'"', body=b"x")
    yield "text_attached", mail(b"Content-Type: text/plain", b"Content-Disposition: attachment; filename=a.txt", body=b"x")
    yield "text_inline_named", mail(b"Content-Type: text/plain; name=a.txt", b"Content-Disposition: inline; filename=a.txt", body=b"x")
    for kind in (b"text", b"text/", b"", b"garbage", b"text/plain/more", b"application", b"text/markdown", b"text/calendar; method=REQUEST", b"text/x-diff", b"TEXT/PLAIN", b"text / plain"):
        yield "type_" + (kind.decode().replace("/", "_").split(";")[0].replace(" ", "+") or "none"), mail(b"Content-Type: " + kind, body=b"content")
    yield "type_twice", mail(b"Content-Type: text/plain", b"Content-Type: text/html", body=b"a <b> c")


def header_mails():
    subjects = {
        "plain": b"Hello", "folded": b"one\r\n two\r\n\tthree", "q": b"=?utf-8?Q?Gr=C3=BC=C3=9Fe_aus?= here", "b": b"=?utf-8?B?R3LDvMOfZQ==?=",
        "two_words": b"=?utf-8?Q?a?= =?utf-8?Q?b?=", "two_words_folded": b"=?utf-8?Q?a?=\r\n =?iso-8859-1?Q?=FC?=", "word_text_word": b"=?utf-8?Q?a?= b =?utf-8?Q?c?=",
        "split_character": b"=?utf-8?B?w7w=?= =?utf-8?B?w58=?=", "split_within_character": b"=?utf-8?Q?=C3?= =?utf-8?Q?=BC?=",
        "language": b"=?utf-8*de?Q?Gr=C3=BC=C3=9Fe?=", "unclosed": b"=?utf-8?Q?abc", "unknown_encoding": b"=?utf-8?X?abc?=", "unknown_charset": b"=?x-none?Q?abc?=",
        "lower": b"=?UTF-8?q?a=c3=bc?=", "blank_within": b"=?utf-8?Q?a b?=", "adjacent": b"=?utf-8?Q?a?==?utf-8?Q?b?=", "within_text": b"a=?utf-8?Q?b?=c",
        "raw_utf8": "Grüße".encode(), "raw_latin": "Grüße".encode("latin-1"), "empty_word": b"=?utf-8?Q??=", "empty": b"", "tabs": b"a\tb",
        "quoted": b'"=?utf-8?Q?=C3=BC?="', "question": b"what?= now", "long": b"word " * 300, "nul": b"a\0b", "bad_b64": b"=?utf-8?B?R3LDvMOfZQ?=",
        "underscore": b"=?utf-8?Q?a_b?= c_d", "japanese": b"=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=",
    }
    for name, value in subjects.items():
        yield "subject_is_" + name, mail(subject=b"Subject: " + value + b"\r\n", body=b"x")
    senders = {
        "bare": b"amy@example.com", "angled": b"<amy@example.com>", "name": b"Amy Lee <amy@example.com>", "quoted": b'"Lee, Amy" <amy@example.com>',
        "comment": b"amy@example.com (Amy Lee)", "escaped": b'"Amy \\"A\\" Lee" <amy@example.com>', "word": b"=?utf-8?Q?J=C3=BCrgen?= <j@example.com>",
        "word_with_address": b"=?utf-8?Q?boss=40example.com,?= <evil@attacker.test>", "word_quoted": b'"=?utf-8?Q?J=C3=BCrgen?=" <j@example.com>',
        "two_words": b"=?utf-8?Q?J=C3=BCrgen?= =?utf-8?Q?_Klein?= <j@example.com>", "list": b"a@example.com, B <b@example.com>", "group": b"friends: a@example.com, b@example.com;",
        "empty_group": b"undisclosed-recipients:;", "quoted_local": b'"a b"@example.com', "domain_literal": b"amy@[192.0.2.1]", "trailing_comma": b"a@example.com,",
        "semicolons": b"a@example.com; b@example.com", "no_address": b"Amy Lee", "two_angles": b"Amy <a@example.com> <b@example.com>", "dots": b"J. R. Lee <j@example.com>",
        "apostrophe": b"'Amy' <amy@example.com>", "route": b"<@a.example:amy@example.com>", "blanks": b"Amy   Lee  < amy@example.com >", "utf8": "Jürgen <j@example.com>".encode(),
        "folded": b"Amy\r\n Lee\r\n <amy@example.com>", "upper": b"Amy <AMY@EXAMPLE.COM>", "nested_comment": b"amy@example.com (a (b) c)", "idn": "a@exämple.com".encode(),
    }
    for name, value in senders.items():
        yield "from_" + name, mail(head=HEAD.replace(b"Amy Lee <amy@example.com>", value), body=b"x")
    dates = {"named_zone": b"Fri, 21 Nov 1997 09:55:06 EST", "no_day": b"21 Nov 1997 09:55:06 -0600", "no_seconds": b"Fri, 21 Nov 1997 09:55 -0600", "two_digits": b"Fri, 21 Nov 97 09:55:06 -0600",
             "comment": b"Fri, 21 Nov 1997 09:55:06 -0600 (CST)", "none": b"yesterday", "iso": b"1997-11-21T09:55:06Z", "gmt": b"Fri, 21 Nov 1997 09:55:06 GMT", "minus_zero": b"Fri, 21 Nov 1997 09:55:06 -0000"}
    for name, value in dates.items():
        yield "date_" + name, mail(head=HEAD.replace(b"Fri, 21 Nov 1997 09:55:06 -0600", value), body=b"x")
    ids = {"blanks": b" < a@b > ", "bare": b"a@b", "two": b"<a@b> <c@d>", "folded": b"\r\n <a@b>"}
    for name, value in ids.items():
        yield "id_" + name, mail(head=HEAD.replace(b" <m1@example.com>", value), body=b"x")
    yield "header_only", HEAD
    yield "no_blank_line", HEAD + b"Content-Type: text/plain\r\nthe text begins here\r\n"
    yield "junk_in_header", HEAD.replace(b"MIME", b"junk without colon\r\nMIME") + b"Subject: s\r\n\r\ntext"
    yield "upper_case_fields", mail(body=b"x").replace(b"Subject", b"SUBJECT").replace(b"From", b"FROM")
    yield "blank_before_colon", mail(body=b"x").replace(b"Subject:", b"Subject :")
    yield "subject_twice", mail(b"Subject: second", body=b"x")
    yield "empty_lines_first_of_body", mail(body=b"\r\n\r\nx")
    yield "body_from_line", mail(body=b">From me\r\nFrom you\r\n")
    yield "cr_alone", mail(body=b"x").replace(b"\r\n", b"\r")


def html_mails():
    texts = {
        "entities": "<p>&Eacute;t&eacute; &oelig;uvre &ne; &dagger; &#8364; &#x20ac;</p>", "table": "<table><tr><td>a</td><td>b</td></tr></table>",
        "comment": "a<!-- no -->b", "conditional": "<!--[if mso]>no<![endif]-->a<!--[if !mso]><!-->b<!--<![endif]-->", "style": "<style>p{color:red}</style>a",
        "script": "<script>if (a<b) {}</script>a", "list": "<ul><li>one<li>two</ul>", "unclosed": "<p>one<p>two<b>three", "attributes": "<p title='a>b'>c</p>",
        "upper": "<P>A<BR>B</P>", "self_closed": "a<br/>b<hr/>c", "cdata": "a<![CDATA[b]]>c", "pre": "<pre>a\n b</pre>", "nbsp": "a&nbsp;b", "lone": "a < b & c",
    }
    for name, text in texts.items():
        yield "html_" + name, mail(b"Content-Type: text/html; charset=utf-8", body=text.encode())
    for charset in ("windows-1251", "koi8-r", "iso-8859-5"):
        body = f"<html><head><meta charset={charset}></head><p>Привет</p>".encode(charset)
        yield f"html_meta_{charset}", mail(b"Content-Type: text/html", body=body)
    hidden = {
        "display": "<div style='display:none'>HIDDEN</div>", "attribute": "<div hidden>HIDDEN</div>", "size": "<span style='font-size:0'>HIDDEN</span>",
        "white": "<font color=white>HIDDEN</font>", "sheet": "<style>.p{display:none}</style><p class=p>HIDDEN</p>", "far": "<p style='position:absolute;left:-9999px'>HIDDEN</p>",
        "preheader": "<div style='display:none;max-height:0;overflow:hidden;mso-hide:all'>HIDDEN&zwnj;&nbsp;</div>",
    }
    for name, text in hidden.items():
        yield "hidden_" + name, mail(b"Content-Type: text/html; charset=utf-8", body=(text + "<p>seen</p>").encode())


def mails():
    """Names are unique."""
    made = {}
    for family in (charset_mails, structure_mails, encoding_mails, name_mails, header_mails, html_mails):
        for name, raw in family():
            assert name not in made, name
            made[name] = raw
    return made
