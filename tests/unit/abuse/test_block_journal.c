/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of blocks: what was reported as kept is read again, also after a full disk, and a file
 * that could not be read is never written. */
#include "abuse/block_journal.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/lib/must.h"
#include "tests/lib/tmpfolder.h"

#define HEAD "volley blocks 1\n"

static char path[256];
static char seen[4096]; /* the blocks that were read: "WHAT WHY;" */

static int setup(void **state)
{
	int err = tmpfolder_make(state);

	snprintf(path, sizeof(path), "%s/blocks", tmpfolder);
	return err;
}

static int teardown(void **state)
{
	unlink(path);
	return tmpfolder_remove(state);
}

static bool note(void *user, char sign, uint64_t wall_expires_s, const char *action,
		 const char *what, const char *why)
{
	size_t n = strlen(seen);

	(void)user;
	if (!strcmp(what, "not-understood"))
		return false;
	assert_int_equal(wall_expires_s, sign == '+' ? 7 : 0);
	assert_string_equal(action, sign == '+' ? "drop" : "");
	snprintf(seen + n, sizeof(seen) - n, "%c%s %s;", sign, what, why);
	return true;
}

static int open_journal(struct block_journal *j)
{
	*seen = 0;
	return block_journal_open(j, tmpfolder, note, NULL);
}

static void write_anew(struct block_journal *j, size_t n)
{
	char what[32];
	FILE *f;

	MUST(!block_journal_begin(j, &f));
	for (size_t i = 0; i < n; i++) {
		snprintf(what, sizeof(what), "n%zu", i);
		block_journal_put(f, 7, "drop", what, "w");
	}
	MUST(!block_journal_end(j, f, n));
}

static void assert_reads(const char *want)
{
	struct block_journal j;

	assert_int_equal(open_journal(&j), 0);
	assert_string_equal(seen, want);
	block_journal_close(&j);
}

static void write_bytes(const char *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	MUST(f && fwrite(bytes, 1, n, f) == n && !fclose(f));
}

static void changes_are_read_again(void **state)
{
	struct block_journal j;

	(void)state;
	unlink(path);
	assert_int_equal(open_journal(&j), 0);
	assert_int_equal(j.state, BLOCK_JOURNAL_BEHIND);
	write_anew(&j, 1);
	assert_int_equal(j.state, BLOCK_JOURNAL_WHOLE);
	assert_int_equal(block_journal_add(&j, 7, "drop", "a", "because of it"), 0);
	assert_int_equal(block_journal_remove(&j, "n0"), 0);
	assert_int_equal(j.n_lines, 3);
	block_journal_close(&j);
	assert_reads("+n0 w;+a because of it;-n0 ;");
}

static void limit_files(rlim_t bytes)
{
	const struct rlimit limit = { bytes, RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	MUST(!setrlimit(RLIMIT_FSIZE, &limit));
}

/* A line that was cut in the middle must not take the next one with it. */
static void after_a_line_that_did_not_fit(void **state)
{
	struct block_journal j;

	(void)state;
	unlink(path);
	MUST(!open_journal(&j));
	write_anew(&j, 1);
	limit_files(sizeof(HEAD) - 1 + strlen("+ 7 drop n0 w\n+ 7 dr"));
	assert_int_equal(block_journal_add(&j, 7, "drop", "lost", "w"), -ENOSPC);
	limit_files(RLIM_INFINITY);
	assert_int_equal(j.state, BLOCK_JOURNAL_BEHIND);
	write_anew(&j, 2);
	assert_int_equal(block_journal_add(&j, 7, "drop", "next", "w"), 0);
	block_journal_close(&j);
	assert_reads("+n0 w;+n1 w;+next w;");
}

/* The end fits again, but the middle did not. */
static void a_new_file_that_does_not_fit(void **state)
{
	struct block_journal j;
	FILE *f;

	(void)state;
	unlink(path);
	MUST(!open_journal(&j));
	write_anew(&j, 1);
	MUST(!block_journal_begin(&j, &f));
	limit_files(100);
	for (unsigned int i = 0; i < 10000; i++)
		block_journal_put(f, 7, "drop", "many", "w");
	limit_files(RLIM_INFINITY);
	block_journal_put(f, 7, "drop", "last", "w");
	assert_true(block_journal_end(&j, f, 10001) < 0);
	assert_int_equal(j.state, BLOCK_JOURNAL_BEHIND);
	block_journal_close(&j);
	assert_reads("+n0 w;");
}

#define BYTES(text) text, sizeof(text) - 1

static const struct unread {
	const char *bytes;
	size_t n, line;
} unread[] = {
	{ BYTES("volley blocks 2\n+ 7 drop a w\n"), 1 },
	{ BYTES("volley blocks 1"), 1 },
	{ BYTES("\0\0\0\0\0\0\0\0"), 1 },
	{ BYTES(HEAD "+ 7 drop a w\n+ 7 drop not-understood w\n+ 7 drop b w\n"), 3 },
	{ BYTES(HEAD "+ 7 drop a w\n* 7 drop b w\n"), 3 },
	{ BYTES(HEAD "+ x drop a w\n"), 2 },
	{ BYTES(HEAD "+ 7 drop a\0 w\n"), 2 },
	{ BYTES(HEAD "\n"), 2 },
};

static void a_file_that_is_not_understood(void **state)
{
	char now[256];

	(void)state;
	for (size_t i = 0; i < sizeof(unread) / sizeof(unread[0]); i++) {
		struct block_journal j;
		FILE *f;

		write_bytes(unread[i].bytes, unread[i].n);
		assert_int_equal(open_journal(&j), ERR_FORMAT);
		assert_int_equal(j.state, BLOCK_JOURNAL_UNREAD);
		assert_int_equal(j.wrong_line, unread[i].line);
		block_journal_close(&j);
		f = fopen(path, "r");
		assert_int_equal(fread(now, 1, sizeof(now), f), unread[i].n);
		assert_memory_equal(now, unread[i].bytes, unread[i].n);
		fclose(f);
	}
}

static void what_is_no_file(void **state)
{
	struct block_journal j;

	(void)state;
	unlink(path);
	MUST(!mkfifo(path, 0600));
	assert_int_equal(open_journal(&j), ERR_NOT_REGULAR);
	assert_int_equal(j.state, BLOCK_JOURNAL_UNREAD);
	block_journal_close(&j);
	MUST(!unlink(path) && !mkdir(path, 0700));
	assert_int_equal(open_journal(&j), -EISDIR);
	block_journal_close(&j);
	MUST(!rmdir(path));
	assert_int_equal(block_journal_open(&j, NULL, note, NULL), 0);
	assert_int_equal(j.state, BLOCK_JOURNAL_NONE);
	block_journal_close(&j);
}

/* The rest of a write that a crash has cut, and an empty file. */
static void what_a_crash_leaves(void **state)
{
	(void)state;
	write_bytes(BYTES(HEAD "+ 7 drop a w\n+ 7 drop b"));
	assert_reads("+a w;");
	write_bytes("", 0);
	assert_reads("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_read_again),
		cmocka_unit_test(after_a_line_that_did_not_fit),
		cmocka_unit_test(a_new_file_that_does_not_fit),
		cmocka_unit_test(a_file_that_is_not_understood),
		cmocka_unit_test(what_is_no_file),
		cmocka_unit_test(what_a_crash_leaves),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
