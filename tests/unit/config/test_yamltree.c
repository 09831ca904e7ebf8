/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees of YAML: nodes with their lines and paths, found, moved, and texts that make none. */
#include "config/yamltree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct yamltree *read_good(const char *text)
{
	struct yamltree_error error;
	struct yamltree *tree;

	if (yamltree_read(&tree, text, strlen(text), 7, &error))
		fail_msg("%zu: %s: %s", error.line, error.path, error.text);
	return tree;
}

static const char text_of_zones[] = "# a comment\n"
				    "server: {listen: [192.0.2.1, \"::1\"]}\n"
				    "zones:\n"
				    "  - name: a\n"
				    "  - name: b\n"
				    "    groups: [{template: t}]\n";

static const struct {
	const char *path;
	enum yamltree_shape shape;
	uint32_t line;
	const char *text;
} nodes[] = {
	{ "server", YAMLTREE_MAP, 2, NULL },
	{ "server.listen", YAMLTREE_LIST, 2, NULL },
	{ "server.listen[1]", YAMLTREE_SCALAR, 2, "::1" },
	{ "zones", YAMLTREE_LIST, 3, NULL },
	{ "zones[1]", YAMLTREE_MAP, 5, NULL },
	{ "zones[1].groups[0].template", YAMLTREE_SCALAR, 6, "t" },
};

static void test_nodes(void **state)
{
	struct yamltree *tree = read_good(text_of_zones);
	char path[YAMLTREE_PATH_CAP];
	int is_there;

	(void)state;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		const struct yamltree *node = yamltree_find(tree, nodes[i].path, &is_there);

		assert_true(is_there);
		assert_int_equal(node->shape, nodes[i].shape);
		assert_int_equal(node->line, nodes[i].line);
		assert_int_equal(node->file, 7);
		assert_string_equal(yamltree_path(node, path), nodes[i].path);
		if (nodes[i].text)
			assert_string_equal(node->text, nodes[i].text);
		else
			assert_null(node->text);
	}
	assert_string_equal(yamltree_path(tree, path), "");
	assert_int_equal(yamltree_find(tree, "zones", &is_there)->n, 2);
	yamltree_free(tree);
}

/* What is not there ends at what is there on the way to it. */
static void test_nodes_that_are_not_there(void **state)
{
	static const char *const rows[][2] = {
		{ "server.tcp.idle-timeout", "server" },
		{ "server.list", "server" },
		{ "zones[2].name", "zones" },
		{ "zones[0].file", "zones[0]" },
		{ "cache", "" },
	};
	struct yamltree *tree = read_good(text_of_zones);
	char path[YAMLTREE_PATH_CAP];
	int is_there;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct yamltree *node = yamltree_find(tree, rows[i][0], &is_there);

		assert_false(is_there);
		assert_string_equal(yamltree_path(node, path), rows[i][1]);
	}
	assert_null(yamltree_find(NULL, "a", &is_there));
	assert_false(is_there);
	assert_null(yamltree_child(tree, "list"));
	assert_null(yamltree_child(NULL, "list"));
	yamltree_free(tree);
}

static void test_taken_and_added(void **state)
{
	struct yamltree *tree = read_good("a: 1\nb: {c: 2}\nd: 3\n"), *b = yamltree_take(tree, "b");
	struct yamltree *map = yamltree_new_map();
	char path[YAMLTREE_PATH_CAP];

	(void)state;
	assert_int_equal(tree->n, 2);
	assert_string_equal(tree->first->next->name, "d");
	assert_ptr_equal(tree->first->next, tree->last);
	assert_null(yamltree_take(tree, "b"));
	yamltree_add(map, b);
	assert_string_equal(yamltree_path(b->first, path), "b.c");
	yamltree_free(map);
	yamltree_free(tree);
}

static const struct {
	const char *text;
	size_t line;
	const char *path;
	const char *says;
} faults[] = {
	{ "a: 1\nb: [\n", 3, "", "this is not YAML: " },
	{ "a: {b: 1, b: 2}\n", 1, "a.b", "is given twice: keep one of them" },
	{ "a: &x 1\nb: [*x]\n", 2, "b[0]", "is an alias (*): write the value out" },
	{ "a: 1\n---\nb: 2\n", 2, "", "a second document (---) is not allowed" },
	{ "a.b: 1\n", 1, "", "a key here is not a plain word" },
	{ "a: {? [b] : 1}\n", 1, "a", "a key here is not a plain word" },
	{ "a:\n  b: \"c\\0d\"\n", 2, "a.b", "has a zero byte in its value" },
	{ "a: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]\n", 1,
	  "a[0][0][0][0][0][0][0][0][0][0][0][0][0][0]", "is nested too deep" },
	{ "a:\n  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: 1\n", 2, "a",
	  "a key below it is too long to be one: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..." },
};

static void test_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct yamltree_error error;
		struct yamltree *tree;
		int ret = yamltree_read(&tree, faults[i].text, strlen(faults[i].text), 0, &error);

		if (ret != -EINVAL || error.line != faults[i].line ||
		    strncmp(error.path, faults[i].path, strlen(faults[i].path)) != 0 ||
		    strncmp(error.text, faults[i].says, strlen(faults[i].says)) != 0)
			fail_msg("%s: returned %d: %zu: %s: %s", faults[i].text, ret, error.line,
				 error.path, error.text);
		yamltree_free(tree);
	}
}

/* What stands before the fault is there. */
static void test_what_stands_before_a_fault(void **state)
{
	static const char text[] = "a: 1\nb: [2, *c]\n";
	struct yamltree_error error;
	struct yamltree *tree;
	int is_there;

	(void)state;
	assert_int_equal(yamltree_read(&tree, text, strlen(text), 0, &error), -EINVAL);
	assert_string_equal(yamltree_find(tree, "b[0]", &is_there)->text, "2");
	assert_int_equal(yamltree_child(tree, "b")->n, 1);
	yamltree_free(tree);
	assert_int_equal(yamltree_read(&tree, "", 0, 0, &error), 0);
	assert_null(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_nodes_that_are_not_there),
		cmocka_unit_test(test_taken_and_added),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_what_stands_before_a_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
