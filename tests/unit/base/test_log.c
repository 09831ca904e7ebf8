/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what the log writes from a pipe that replaces stderr. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "tests/unit/base/capture.h"

static void test_terminal_line(void **state)
{
	char got[256], want[256];

	(void)state;
	log_open("tester", LOG_LEVEL_INFO);
	errno = ENOENT;
	log_warn("zone %s: %m", "example");
	assert_int_equal(errno, ENOENT);
	taken(got, sizeof(got));
	snprintf(want, sizeof(want),
		 "tester[%d]: warning: zone example: No such file or directory\n", (int)getpid());
	assert_string_equal(got, want);
}

static void test_levels(void **state)
{
	char got[1024];

	(void)state;
	log_open("tester", LOG_LEVEL_WARN);
	log_error("one");
	log_warn("two");
	log_notice("three");
	log_info("four");
	log_debug("five");
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("six");
	taken(got, sizeof(got));
	assert_non_null(strstr(got, ": error: one\n"));
	assert_non_null(strstr(got, ": warning: two\n"));
	assert_null(strstr(got, "three"));
	assert_null(strstr(got, "four"));
	assert_null(strstr(got, "five"));
	assert_non_null(strstr(got, ": debug: six\n"));
}

static void set_journal_stream(int more)
{
	char stream[64];
	struct stat st;

	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino + (unsigned long long)more);
	setenv("JOURNAL_STREAM", stream, 1);
}

static void test_journal_line(void **state)
{
	char got[256];

	(void)state;
	set_journal_stream(0);
	log_open("tester", LOG_LEVEL_INFO);
	log_error("gone");
	log_info("come");
	taken(got, sizeof(got));
	assert_string_equal(got, "<3>gone\n<6>come\n");
}

/* JOURNAL_STREAM is inherited, but stderr goes elsewhere now. */
static void test_journal_of_another(void **state)
{
	char got[256];

	(void)state;
	set_journal_stream(1);
	log_open("tester", LOG_LEVEL_INFO);
	log_info("come");
	taken(got, sizeof(got));
	assert_int_equal(strncmp(got, "tester[", 7), 0);
}

static void test_long_line_is_cut(void **state)
{
	char text[2 * LOG_LINE_BYTES], got[3 * LOG_LINE_BYTES];
	size_t n;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_open("tester", LOG_LEVEL_INFO);
	log_info("%s", text);
	log_info("%s", "next");
	n = taken(got, sizeof(got));
	assert_true(n > LOG_LINE_BYTES && n < LOG_LINE_BYTES + 64);
	assert_int_equal(got[LOG_LINE_BYTES - 2], 'x');
	assert_int_equal(got[LOG_LINE_BYTES - 1], '\n');
}

static void test_control_characters_make_no_line(void **state)
{
	char got[256];

	(void)state;
	log_open("tester", LOG_LEVEL_INFO);
	log_info("a\nb\033[1mc\177");
	taken(got, sizeof(got));
	assert_non_null(strstr(got, "info: a?b?[1mc?\n"));
}

#define N_THREADS 4
#define N_LINES   50

/*
 * DEL, U+009B (CSI, as ESC [ is) and octets of no character are commands for some terminals; other
 * characters stay. Messages and events, as text and as JSON.
 */
static void test_no_commands_for_terminals(void **state)
{
	static const char bad[] = "\177\xc2\x9b"
				  "2J\x9b\xc2\x80|\xc2\x9f",
			  good[] = "\xc2\xa0\xc3\x9b\xe2\x82\xac\xf0\x9f\x98\x80";
	const struct log_field fields[] = { { "bad", bad }, { "good", good } };
	char text[2048], *at = text;

	(void)state;
	log_open("tester", LOG_LEVEL_INFO);
	for (int format = LOG_TEXT; format <= LOG_JSON; format++) {
		log_set_format(format);
		log_info("%s %s", bad, good);
		log_event(LOG_LEVEL_INFO, "done", fields, 2);
	}
	log_set_format(LOG_TEXT);
	taken(text, sizeof(text));
	assert_null(strstr(text, "\177"));
	assert_null(strstr(text, "\xc2\x9b"));
	assert_null(strstr(text, "\xc2\x80"));
	assert_null(strstr(text, "\xc2\x9f"));
	assert_null(strstr(text, "\x9b\xc2"));
	for (int i = 0; i < 4; i++) {
		at = strstr(at, "???2J???|??");
		assert_non_null(at);
		at = strstr(at, good);
		assert_non_null(at);
	}
}

/* Each octet of a character that was cut becomes '?': a journal shows no line that is not UTF-8. */
static void test_cut_characters(void **state)
{
	static const char *const cut[] = { "\xc3", "\xc2", "\xe2\x82", "\xe2", "\xf0\x9f\x98" };
	char text[2048], *at = text;

	(void)state;
	log_open("tester", LOG_LEVEL_INFO);
	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
		log_info("\xc3\xbc%s:%s", cut[i], cut[i]);
	taken(text, sizeof(text));
	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		char expected[32];
		const int n = (int)strlen(cut[i]);

		snprintf(expected, sizeof(expected), " \xc3\xbc%.*s:%.*s\n", n, "???", n, "???");
		at = strstr(at, expected);
		assert_non_null(at);
		at++;
	}
}

/* Characters that change the order of a line or begin another one: each octet becomes '?'. */
static void test_the_order_of_text_stays(void **state)
{
	static const char *const others[] = { "\xd8\x9b",     "\xe2\x80\x8d", "\xe2\x80\x90",
					      "\xe2\x80\xa7", "\xe2\x80\xaf", "\xe2\x81\xa5",
					      "\xe2\x81\xaa" };
	static const char *const bad[] = { "\xd8\x9c",     "\xe2\x80\x8e", "\xe2\x80\x8f",
					   "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaa",
					   "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9" };
	char text[2048], *at = text;

	(void)state;
	log_open("tester", LOG_LEVEL_INFO);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		log_info("a%sb%s", bad[i], bad[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		log_info("a%sb", others[i]);
	taken(text, sizeof(text));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		at = strstr(at, strlen(bad[i]) == 2 ? " a??b??\n" : " a???b???\n");
		assert_non_null(at);
		at++;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_non_null(strstr(text, others[i]));
}

static void *write_lines(void *arg)
{
	for (int i = 0; i < N_LINES; i++)
		log_info("%s", (const char *)arg);
	return NULL;
}

static void test_lines_of_threads_do_not_mix(void **state)
{
	static const char word[] = "abcdefghijklmnopqrstuvwxyz";
	char got[65536], *line, *rest = got;
	pthread_t thread[N_THREADS];
	int n = 0;

	(void)state;
	log_open("tester", LOG_LEVEL_INFO);
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, write_lines, (void *)word), 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(thread[i], NULL);
	taken(got, sizeof(got));
	for (; (line = strsep(&rest, "\n")) && *line; n++)
		assert_string_equal(strstr(line, "info: ") + 6, word);
	assert_int_equal(n, N_THREADS * N_LINES);
}

/* --- When stderr takes nothing ---------------------------------------------------------------- */

#define N_MANY 20000

/* Reads all that is there now. */
static size_t take_some(char *dst, size_t cap)
{
	size_t n = 0;
	ssize_t got;

	assert_int_equal(fcntl(pipe_fd[0], F_SETFL, O_NONBLOCK), 0);
	while ((got = read(pipe_fd[0], dst + n, cap - 1 - n)) > 0)
		n += (size_t)got;
	dst[n] = '\0';
	return n;
}

static void log_many(int n)
{
	alarm(60); /* ends the test if it waits forever */
	for (int i = 0; i < n; i++)
		log_info(
			"line %d of many, which is some eighty octets long, as others of a log are",
			i);
	alarm(0);
}

/* As strstr(), with a known end of the text: AddressSanitizer's strstr() looks for the end each
 * time. */
static const char *find(const char *text, const char *end, const char *word)
{
	return memmem(text, (size_t)(end - text), word, strlen(word));
}

/* If the pipe is full because no process reads it, lines are kept in order until one reads. */
static void test_nobody_reads_for_a_while(void **state)
{
	static char got[LOG_OUT_BYTES], want[32];
	const char *at = got;
	size_t n = 0;

	(void)state;
	log_open("tester", LOG_LEVEL_INFO);
	log_many(5000);
	assert_int_equal(log_n_dropped(), 0);
	for (int i = 0; i < 100; i++) {
		log_flush();
		n += take_some(got + n, sizeof(got) - n);
	}
	for (int i = 0; i < 5000; i++) {
		snprintf(want, sizeof(want), "info: line %d of", i);
		at = find(at, got + n, want);
		assert_non_null(at);
	}
	taken(got, sizeof(got));
	assert_string_equal(got, "");
}

static unsigned count(const char *text, const char *word)
{
	const char *end = text + strlen(text);
	unsigned n = 0;

	for (; (text = find(text, end, word)); text++)
		n++;
	return n;
}

/* If there are too many lines to keep, whole lines are dropped and counted, and a line in their
 * place says so. */
static void test_what_is_dropped_is_told(void **state)
{
	static char got[4 * LOG_OUT_BYTES];
	uint64_t before = log_n_dropped();
	unsigned n_dropped, n_told;
	size_t n = 0;
	char *at;

	(void)state;
	log_open("tester", LOG_LEVEL_INFO);
	log_many(N_MANY);
	n_dropped = (unsigned)(log_n_dropped() - before);
	assert_in_range(n_dropped, 1, N_MANY - 1);
	for (int i = 0; i < 100; i++) {
		n += take_some(got + n, sizeof(got) - n);
		log_flush();
	}
	log_info("behind it");
	(void)take_some(got + n, sizeof(got) - n);
	assert_int_equal(count(got, " of many, which"), N_MANY - n_dropped);
	at = strstr(got, " lines of the log were dropped");
	assert_non_null(at);
	assert_int_equal(count(got, "were dropped"), 1);
	while (at[-1] != ' ')
		at--;
	assert_int_equal(sscanf(at, "%u", &n_told), 1);
	assert_int_equal(n_told, n_dropped);
	assert_non_null(strstr(at, "info: behind it\n"));
	taken(got, sizeof(got));
}

/* Other processes with the same stderr do not get O_NONBLOCK. */
static void test_others_may_wait(void **state)
{
	char got[256];

	(void)state;
	log_open("tester", LOG_LEVEL_INFO);
	assert_false(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK);
	log_info("come");
	taken(got, sizeof(got));
	assert_non_null(strstr(got, "info: come\n"));
}

static void send_to(const char *path, int flags)
{
	int fd = open(path, flags);

	assert_true(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	close(fd);
}

/* If the disk is full, lines are kept, up to a limit. */
static void test_full_disk(void **state)
{
	uint64_t before = log_n_dropped();

	(void)state;
	send_to("/dev/full", O_WRONLY);
	log_open("tester", LOG_LEVEL_INFO);
	log_many(100);
	assert_int_equal(log_n_dropped(), before);
	log_many(N_MANY);
	assert_true(log_n_dropped() > before);
	log_close();
	close(pipe_fd[1]);
}

/* A socket, as systemd gives. */
static void test_socket_that_nobody_reads(void **state)
{
	int pair[2], n = 0;
	char got[4096];
	ssize_t more;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_true(dup2(pair[0], STDERR_FILENO) >= 0);
	log_open("tester", LOG_LEVEL_INFO);
	log_many(5000);
	while ((more = recv(pair[1], got, sizeof(got), MSG_DONTWAIT)) > 0 && n < 10000000) {
		n += (int)more;
		log_flush();
	}
	assert_true(n > 5000 * 80);
	log_close();
	close(pair[0]);
	close(pair[1]);
	close(pipe_fd[1]);
}

static void test_reader_that_has_gone(void **state)
{
	uint64_t before = log_n_dropped();

	(void)state;
	assert_true(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
	log_open("tester", LOG_LEVEL_INFO);
	close(pipe_fd[0]);
	log_many(100);
	assert_int_equal(log_n_dropped(), before + 100);
	log_close();
	close(pipe_fd[1]);
}

/* The reader of a FIFO is restarted and then gets lines again. */
static void test_reader_that_returns(void **state)
{
	char path[] = "/tmp/volley-log-XXXXXX", got[1000] = "";
	uint64_t before = log_n_dropped();
	int reader, writer;

	(void)state;
	assert_true(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
	close(mkstemp(path));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	writer = open(path, O_WRONLY | O_NONBLOCK);
	assert_true(reader >= 0 && writer >= 0 && dup2(writer, STDERR_FILENO) >= 0);
	log_open("tester", LOG_LEVEL_INFO);
	close(reader);
	log_many(3);
	assert_int_equal(log_n_dropped(), before + 3);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	log_info("again");
	log_info("and again");
	log_flush();
	assert_true(read(reader, got, sizeof(got) - 1) > 0);
	assert_non_null(strstr(got, "again"));
	assert_non_null(strstr(got, "and again"));
	assert_int_equal(log_n_dropped(), before + 3);
	log_close();
	close(reader);
	close(writer);
	unlink(path);
}

static void test_level_from_text(void **state)
{
	(void)state;
	assert_int_equal(log_level_from_text("error"), LOG_LEVEL_ERROR);
	assert_int_equal(log_level_from_text("debug"), LOG_LEVEL_DEBUG);
	assert_int_equal(log_level_from_text("loud"), ERR_CONFIG);
}

#define captured(test) cmocka_unit_test_setup_teardown(test, capture, release)

int main(void)
{
	const struct CMUnitTest tests[] = {
		captured(test_terminal_line),
		captured(test_levels),
		captured(test_journal_line),
		captured(test_journal_of_another),
		captured(test_long_line_is_cut),
		captured(test_control_characters_make_no_line),
		captured(test_no_commands_for_terminals),
		captured(test_cut_characters),
		captured(test_the_order_of_text_stays),
		captured(test_lines_of_threads_do_not_mix),
		captured(test_nobody_reads_for_a_while),
		captured(test_what_is_dropped_is_told),
		captured(test_others_may_wait),
		captured(test_full_disk),
		captured(test_socket_that_nobody_reads),
		captured(test_reader_that_has_gone),
		captured(test_reader_that_returns),
		cmocka_unit_test(test_level_from_text),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
