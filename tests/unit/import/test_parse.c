/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Three syntaxes: the tree of each text, and the file and line of each error. */
#include "import/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/tmpfolder.h"

typedef int parser(struct import_tree *tree, const char *path);

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* Writes "name:LINE word word {children}". */
static void put_node(FILE *out, const struct import_node *node)
{
	fprintf(out, "%s:%u", node->name, node->line);
	for (unsigned int i = 0; i < node->n_words; i++)
		fprintf(out, " <%s>", node->words[i]);
	if (node->is_block) {
		fputs(" {", out);
		for (const struct import_node *child = node->child; child; child = child->next)
			put_node(out, child);
		fputc('}', out);
	}
	fputc(';', out);
}

static void check(parser *parse, const char *text, const char *wanted)
{
	struct import_tree tree = { 0 };
	char *shown = NULL;
	size_t n;
	FILE *out;

	write_file(tmpfolder_file, text);
	if (parse(&tree, tmpfolder_file)) {
		print_error("%s\n", tree.error);
		fail();
	}
	out = open_memstream(&shown, &n);
	assert_non_null(out);
	for (const struct import_node *node = tree.top.child; node; node = node->next)
		put_node(out, node);
	fclose(out);
	assert_string_equal(shown, wanted);
	free(shown);
	import_tree_free(&tree);
}

static void check_fault(parser *parse, const char *text, unsigned int line, const char *words)
{
	struct import_tree tree = { 0 };
	char where[512];

	write_file(tmpfolder_file, text);
	assert_int_not_equal(parse(&tree, tmpfolder_file), 0);
	snprintf(where, sizeof(where), "%s:%u: ", tmpfolder_file, line);
	if (strncmp(tree.error, where, strlen(where)) || !strstr(tree.error, words)) {
		print_error("\"%s\" has not \"%s\" and \"%s\"\n", tree.error, where, words);
		fail();
	}
	import_tree_free(&tree);
}

struct row {
	const char *text, *wanted;
};

struct fault {
	const char *text;
	unsigned int line;
	const char *words;
};

static const struct row flat_rows[] = {
	{ "", "" },
	{ "# nothing\n\n", "" },
	{ "server:\n\tport: 53 # here\n", "server:1 {port:2 <53>;};" },
	{ "server: port: 53 do-ip6: no\n", "server:1 {port:1 <53>;do-ip6:1 <no>;};" },
	{ "server:\n interface: ::1@53\n interface: fe80::\n",
	  "server:1 {interface:2 <::1@53>;interface:3 <fe80::>;};" },
	{ "server:\n port:53\n", "server:1 {port:2 <53>;};" },
	{ "server:\n local-data: 'a.test. TXT \"two words: here # there\"'\n",
	  "server:1 {local-data:2 <a.test. TXT \"two words: here # there\">;};" },
	{ "zone:\r\n name: \"a.test\"\r\n provide-xfr: 192.0.2.0/24 k\r\nzone:\n name: b.test",
	  "zone:1 {name:2 <a.test>;provide-xfr:3 <192.0.2.0/24> <k>;};zone:4 {name:5 <b.test>;};" },
	{ "server:\n identity: \"\"\n version:\n", "server:1 {identity:2 <>;version:3;};" },
};

static const struct fault flat_faults[] = {
	{ "server:\n port 53\n", 2, "\"port\" is no option" },
	{ "port: 53\n", 1, "port is in no section" },
	{ "server:\n identity: \"open\n", 2, "quote" },
	{ "server:\n\n include: /nowhere/at.all\n", 3, "/nowhere/at.all" },
	{ "server:\n include:\n", 2, "include needs" },
};

static void test_flat(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(flat_rows) / sizeof(flat_rows[0]); i++)
		check(import_parse_flat, flat_rows[i].text, flat_rows[i].wanted);
	for (size_t i = 0; i < sizeof(flat_faults) / sizeof(flat_faults[0]); i++)
		check_fault(import_parse_flat, flat_faults[i].text, flat_faults[i].line,
			    flat_faults[i].words);
}

static const struct row knot_rows[] = {
	{ "# nothing\n", "" },
	{ "server:\n    listen: [ 127.0.0.1@53, ::1@53 ]\n    identity: \"a b\" # c\n",
	  "server:1 {listen:2 <127.0.0.1@53> <::1@53>;identity:3 <a b>;};" },
	{ "server:\n  listen: ::@53\n", "server:1 {listen:2 <::@53>;};" },
	{ "zone:\n  - domain: a.test\n    file: %s.zone\n  - domain: b.test\n"
	  "zone:\n  - domain: c.test\n",
	  "zone:1 {item:2 {domain:2 <a.test>;file:3 <%s.zone>;};item:4 {domain:4 <b.test>;};};"
	  "zone:5 {item:6 {domain:6 <c.test>;};};" },
	{ "acl:\n  - id: x\n    address: [192.0.2.1,\n      192.0.2.2] # end\n    deny: on\n",
	  "acl:1 {item:2 {id:2 <x>;address:3 <192.0.2.1> <192.0.2.2>;deny:5 <on>;};};" },
	{ "mod-rrl:\n  - id: x\n    whitelist: []\n    slip:\n",
	  "mod-rrl:1 {item:2 {id:2 <x>;whitelist:3;slip:4;};};" },
	{ "server:\n  version: \"say \\\"no\\\"\"\n", "server:1 {version:2 <say \"no\">;};" },
};

static const struct fault knot_faults[] = {
	{ "server:\n  listen 53\n", 2, "a name and a colon" },
	{ "  listen: 53\n", 1, "is in no section" },
	{ "\nserver:\n  listen: [192.0.2.1,\n", 3, "the list is not closed" },
	{ "server:\n  identity: \"open\n", 2, "quote" },
	{ "server:\n  listen: a b\n", 2, "more than one value" },
	{ "server:\n\ninclude: /nowhere/at.all\n", 3, "/nowhere/at.all" },
};

static void test_knot(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(knot_rows) / sizeof(knot_rows[0]); i++)
		check(import_parse_knot, knot_rows[i].text, knot_rows[i].wanted);
	for (size_t i = 0; i < sizeof(knot_faults) / sizeof(knot_faults[0]); i++)
		check_fault(import_parse_knot, knot_faults[i].text, knot_faults[i].line,
			    knot_faults[i].words);
}

static const struct row named_rows[] = {
	{ "// a\n# b\n/* c\n d */\n", "" },
	{ "options { directory \"/var/x\"; };", "options:1 {directory:1 </var/x>;};" },
	{ "zone \"a.test\" IN {\n\ttype primary; // its kind\n\tfile \"a b\";\n};\n",
	  "zone:1 <a.test> <IN> {type:2 <primary>;file:3 <a b>;};" },
	{ "options { listen-on port 5353 { 192.0.2.1; !192.0.2.2; { any; }; }; };",
	  "options:1 {listen-on:1 <port> <5353> {192.0.2.1:1;!:1 <192.0.2.2>;:1 {any:1;};};};" },
	{ "acl x { key k.test; ! key other; };", "acl:1 <x> {key:1 <k.test>;!:1 <key> <other>;};" },
	{ "response-policy { zone r; } qname-wait-recurse no;",
	  "response-policy:1 <qname-wait-recurse> <no> {zone:1 <r>;};" },
	{ "a/*x*/b;c \"\";", "a:1 <b>;c:1 <>;" },
	{ "catalog-zones { zone c default-primaries { 192.0.2.1; } in-memory yes; };",
	  "catalog-zones:1 {zone:1 <c> <default-primaries> <in-memory> <yes> {192.0.2.1:1;};};" },
};

static const struct fault named_faults[] = {
	{ "options {\n directory \"/x\"\n};\n", 3, "a semicolon is expected before the brace" },
	{ "\nzone \"a\" {\n type primary;\n", 2, "the brace of \"zone\" is not closed" },
	{ "a;\n}\n", 2, "none is open" },
	{ "\n/* open\n", 2, "the comment is not closed" },
	{ "\na \"open\n\";\n", 2, "quote" },
	{ "a;\nb", 2, "a semicolon is expected after \"b\"" },
	{ "zone \"a\" { type primary; }\nzone \"b\" { type primary; };\n", 2,
	  "a semicolon is expected after the brace of \"zone\"" },
	{ "view v {\n zone \"a\" { file \"a\"; }\n zone \"b\" { file \"b\"; };\n};\n", 3,
	  "a semicolon is expected after the brace of \"zone\"" },
	{ "options { port 53; }\n{ port 54; };\n", 2,
	  "a semicolon is expected after the brace of \"options\"" },
	{ "\ninclude \"/nowhere/at.all\";\n", 2, "/nowhere/at.all" },
};

static void test_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(named_rows) / sizeof(named_rows[0]); i++)
		check(import_parse_named, named_rows[i].text, named_rows[i].wanted);
	for (size_t i = 0; i < sizeof(named_faults) / sizeof(named_faults[0]); i++)
		check_fault(import_parse_named, named_faults[i].text, named_faults[i].line,
			    named_faults[i].words);
}

/* --- Files that include others ---------------------------------------------------------------- */

static const struct {
	parser *parse;
	const char *outer, *part, *wanted;
} includes[] = {
	{ import_parse_flat, "server:\n include: \"part*.conf\"\n do-ip6: no\n", "port: 53\n",
	  "server:1 {port:1 <53>;do-ip6:3 <no>;};" },
	{ import_parse_flat, "include-toplevel: part.conf\nserver:\n do-ip6: no\n",
	  "server:\n port: 53\n", "server:1 {port:2 <53>;};server:2 {do-ip6:3 <no>;};" },
	{ import_parse_knot, "server:\n  version: x\ninclude: part.conf\nzone:\n  - domain: b\n",
	  "zone:\n  - domain: a\n",
	  "server:1 {version:2 <x>;};zone:1 {item:2 {domain:2 <a>;};};zone:4 {"
	  "item:5 {domain:5 <b>;};};" },
	{ import_parse_named, "view x {\n include \"part.conf\";\n b;\n};", "a;\n",
	  "view:1 <x> {include:2 <part.conf>;a:1;b:3;};" },
	{ import_parse_named, "include \"none*.conf\";\na;\n", "", "include:1 <none*.conf>;a:2;" },
};

static void test_includes(void **state)
{
	char part[512];

	(void)state;
	snprintf(part, sizeof(part), "%s/part.conf", tmpfolder);
	for (size_t i = 0; i < sizeof(includes) / sizeof(includes[0]); i++) {
		write_file(part, includes[i].part);
		check(includes[i].parse, includes[i].outer, includes[i].wanted);
	}
	unlink(part);
}

/* An error names the included file, and a file that includes itself is an error. */
static void test_faults_of_includes(void **state)
{
	char part[512], text[600];
	struct import_tree tree = { 0 };

	(void)state;
	snprintf(part, sizeof(part), "%s/part.conf", tmpfolder);
	write_file(part, "\n\nbroken\n");
	write_file(tmpfolder_file, "server:\n include: part.conf\n");
	assert_int_not_equal(import_parse_flat(&tree, tmpfolder_file), 0);
	assert_non_null(strstr(tree.error, "part.conf:3: \"broken\" is no option"));
	import_tree_free(&tree);
	snprintf(text, sizeof(text), "include \"%s\";\n", part);
	write_file(part, text);
	assert_int_not_equal(import_parse_named(&tree, part), 0);
	assert_non_null(strstr(tree.error, "more than 16 files include each other"));
	import_tree_free(&tree);
	unlink(part);
}

/* A thousand open braces are refused, and the nodes that were made are freed. */
static void test_depth(void **state)
{
	struct import_tree tree = { 0 };
	char text[1001];

	(void)state;
	memset(text, '{', 1000);
	text[1000] = 0;
	write_file(tmpfolder_file, text);
	assert_int_not_equal(import_parse_named(&tree, tmpfolder_file), 0);
	assert_non_null(strstr(tree.error, ":1: more than 32 braces are open"));
	import_tree_free(&tree);
}

static int end(void **state)
{
	unlink(tmpfolder_file);
	return tmpfolder_remove(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flat),
		cmocka_unit_test(test_knot),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_includes),
		cmocka_unit_test(test_faults_of_includes),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, end);
}
