/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket, with clients that behave and clients that do not; time is ours to set. */
#include "control/ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/lib/tmpfolder.h"

#define N_BIG 400000 /* more than any socket buffer holds */

static const char *const path = tmpfolder_file;
static uint64_t now_ns = 1;
static int n_runs;

static int run_status(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)args;
	(void)err;
	(void)err_cap;
	n_runs++;
	*result = json_pack("{s:s}", "user", (const char *)user);
	return 0;
}

static int run_zone_status(void *user, const json_t *args, json_t **result, char *err,
			   size_t err_cap)
{
	(void)user;
	(void)result;
	snprintf(err, err_cap, "no zone %s", json_string_value(json_array_get(args, 0)));
	return ERR_NOT_FOUND;
}

static int run_attach(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)user;
	(void)args;
	(void)err;
	(void)err_cap;
	*result = json_object();
	return -ENODEV;
}

static int run_detach(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)user;
	(void)result;
	snprintf(err, err_cap, "%s",
		 strcmp(ctl_arg(args, 0), "cut") ? "bad byte \xff here" : "\xe2\x82\xac \xe2\x82");
	return -EINVAL;
}

static int run_stats(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	char *big = malloc(N_BIG + 1);

	(void)user;
	(void)args;
	(void)err;
	(void)err_cap;
	assert_non_null(big);
	memset(big, 'b', N_BIG);
	big[N_BIG] = '\0';
	*result = json_pack("{s:s}", "big", big);
	free(big);
	return 0;
}

static int run_flush(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)user;
	(void)args;
	(void)result;
	(void)err;
	(void)err_cap;
	return 0;
}

static struct ctl *the_ctl;
static uint64_t ticket;

static int run_reload(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)user;
	(void)args;
	(void)result;
	(void)err;
	(void)err_cap;
	ticket = ctl_defer(the_ctl);
	return ticket ? CTL_LATER : -EBUSY;
}

static const struct ctl_command commands[] = {
	{ "status", run_status, CTL_CHANGES, NULL },
	{ "zone status", run_zone_status, CTL_CHANGES, NULL },
	{ "attach", run_attach, CTL_CHANGES, NULL },
	{ "detach", run_detach, CTL_CHANGES, NULL },
	{ "stats", run_stats, CTL_CHANGES, NULL },
	{ "cache flush", run_flush, CTL_READS, NULL },
	{ "zone reload", run_reload, CTL_CHANGES, NULL },
	{ NULL, NULL, CTL_READS, NULL },
};

static struct ctl *open_ctl(mode_t mode)
{
	static char user[] = "its user";
	struct ctl *ctl;
	char err[256];

	if (ctl_open(&ctl, path, mode, commands, user, err, sizeof(err)))
		fail_msg("%s", err);
	return ctl;
}

/* The first call accepts, the second sees what those who were accepted have sent. */
static void turn(struct ctl *ctl)
{
	ctl_poll(ctl, now_ns);
	ctl_poll(ctl, now_ns);
}

static int connect_client(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void send_text(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* What is there to be read; -1: nothing yet, 0: the end. */
static ssize_t receive(int fd, char *buf, size_t cap)
{
	ssize_t got = recv(fd, buf, cap - 1, 0);

	buf[got > 0 ? got : 0] = '\0';
	return got;
}

struct exchange {
	const char *name;
	const char *request;
	const char *reply;
};

#define REQUEST_SHAPE                                                                        \
	"{\"ok\":false,\"error\":\"a request has a \\\"command\\\", a string, and may have " \
	"\\\"args\\\", an array of strings\",\"code\":\"request\"}\n"
#define REQUEST_LINE                                                     \
	"{\"ok\":false,\"error\":\"a request is one JSON object on one " \
	"line\",\"code\":\"request\"}\n"
#define VERSION_1                                                                                  \
	"{\"ok\":false,\"error\":\"this daemon speaks version 1 (\\\"v\\\":1): use the volleyctl " \
	"that came with it\",\"code\":\"version\"}\n"

static const struct exchange exchanges[] = {
	{ "a result", "{\"v\":1,\"command\":\"status\",\"args\":[]}\n",
	  "{\"ok\":true,\"result\":{\"user\":\"its user\"}}\n" },
	{ "without args", "{\"v\":1,\"command\":\"status\"}\n",
	  "{\"ok\":true,\"result\":{\"user\":\"its user\"}}\n" },
	{ "an unknown member", "{\"v\":1,\"command\":\"status\",\"since\":3}\n",
	  "{\"ok\":true,\"result\":{\"user\":\"its user\"}}\n" },
	{ "an empty result", "{\"v\":1,\"command\":\"cache flush\"}\n",
	  "{\"ok\":true,\"result\":{}}\n" },
	{ "a failure with its sentence",
	  "{\"v\":1,\"command\":\"zone status\",\"args\":[\"x.\"]}\n",
	  "{\"ok\":false,\"error\":\"no zone x.\",\"code\":\"ERR_NOT_FOUND\"}\n" },
	{ "a failure without", "{\"v\":1,\"command\":\"attach\",\"args\":[\"eth0\"]}\n",
	  "{\"ok\":false,\"error\":\"No such device\",\"code\":\"ENODEV\"}\n" },
	{ "a sentence that is not UTF-8", "{\"v\":1,\"command\":\"detach\",\"args\":[\"eth0\"]}\n",
	  "{\"ok\":false,\"error\":\"it failed, with words that are not "
	  "UTF-8\",\"code\":\"EINVAL\"}\n" },
	{ "a sentence that is cut", "{\"v\":1,\"command\":\"detach\",\"args\":[\"cut\"]}\n",
	  "{\"ok\":false,\"error\":\"\xe2\x82\xac \",\"code\":\"EINVAL\"}\n" },
	{ "too few arguments", "{\"v\":1,\"command\":\"attach\",\"args\":[]}\n",
	  "{\"ok\":false,\"error\":\"usage: attach IF\",\"code\":\"usage\"}\n" },
	{ "too many arguments", "{\"v\":1,\"command\":\"status\",\"args\":[\"a\"]}\n",
	  "{\"ok\":false,\"error\":\"usage: status\",\"code\":\"usage\"}\n" },
	{ "unknown command", "{\"v\":1,\"command\":\"zone\"}\n",
	  "{\"ok\":false,\"error\":\"this daemon does not know that "
	  "command\",\"code\":\"command\"}\n" },
	{ "no command", "{\"v\":1}\n", REQUEST_SHAPE },
	{ "command not a string", "{\"v\":1,\"command\":7}\n", REQUEST_SHAPE },
	{ "args not an array", "{\"v\":1,\"command\":\"status\",\"args\":\"a\"}\n", REQUEST_SHAPE },
	{ "args not strings", "{\"v\":1,\"command\":\"attach\",\"args\":[1]}\n", REQUEST_SHAPE },
	{ "no version", "{\"command\":\"status\"}\n", VERSION_1 },
	{ "another version", "{\"v\":2,\"command\":\"status\"}\n", VERSION_1 },
	{ "version not a number", "{\"v\":\"1\",\"command\":\"status\"}\n", VERSION_1 },
	{ "an empty line", "\n", REQUEST_LINE },
	{ "not JSON", "status\n", REQUEST_LINE },
	{ "an array", "[1]\n", REQUEST_LINE },
	{ "half an object", "{\"v\":1\n", REQUEST_LINE },
	{ "two objects", "{} {}\n", REQUEST_LINE },
	{ "a member twice", "{\"v\":1,\"v\":1,\"command\":\"status\"}\n", REQUEST_LINE },
	{ "not UTF-8", "{\"v\":1,\"command\":\"\xff\"}\n", REQUEST_LINE },
	{ "two requests at once",
	  "{\"v\":1,\"command\":\"cache flush\"}\n{\"v\":1,\"command\":\"status\"}\n",
	  "{\"ok\":true,\"result\":{}}\n{\"ok\":true,\"result\":{\"user\":\"its user\"}}\n" },
};

static void test_exchanges(void **state)
{
	struct ctl *ctl = open_ctl(0660);
	int fd = connect_client();

	(void)state;
	for (size_t i = 0; i < sizeof(exchanges) / sizeof(exchanges[0]); i++) {
		char buf[1024];

		send_text(fd, exchanges[i].request);
		turn(ctl);
		receive(fd, buf, sizeof(buf));
		if (strcmp(buf, exchanges[i].reply))
			fail_msg("%s: %s", exchanges[i].name, buf);
	}
	close(fd);
	ctl_close(ctl);
}

/* A request may come a byte at a time, and its sender may close his side before the reply. */
static void test_bytes(void **state)
{
	static const char request[] = "{\"v\":1,\"command\":\"cache flush\"}\n";
	struct ctl *ctl = open_ctl(0660);
	int fd = connect_client();
	char buf[256];

	(void)state;
	for (size_t i = 0; request[i]; i++) {
		assert_int_equal(receive(fd, buf, sizeof(buf)), -1);
		assert_int_equal(send(fd, request + i, 1, 0), 1);
		if (!request[i + 1])
			shutdown(fd, SHUT_WR);
		turn(ctl);
	}
	assert_true(receive(fd, buf, sizeof(buf)) > 0);
	assert_string_equal(buf, "{\"ok\":true,\"result\":{}}\n");
	assert_int_equal(receive(fd, buf, sizeof(buf)), 0);
	close(fd);
	ctl_close(ctl);
}

/* A line without an end is refused when it is as long as any may be, and its sender let go. */
static void test_long_line(void **state)
{
	struct ctl *ctl = open_ctl(0660);
	int fd = connect_client();
	char block[4096], buf[256];

	(void)state;
	memset(block, ' ', sizeof(block));
	for (size_t i = 0; i < CTL_LINE_BYTES / sizeof(block); i++) {
		assert_int_equal(receive(fd, buf, sizeof(buf)), -1);
		assert_int_equal(send(fd, block, sizeof(block), 0), sizeof(block));
		turn(ctl);
	}
	assert_true(receive(fd, buf, sizeof(buf)) > 0);
	assert_string_equal(
		buf, "{\"ok\":false,\"error\":\"the line is too long\",\"code\":\"request\"}\n");
	assert_int_equal(receive(fd, buf, sizeof(buf)), 0);
	close(fd);
	ctl_close(ctl);
}

/* One who does not read gets no second command run, and holds up nobody; reading, he gets all. */
static void test_slow_reader(void **state)
{
	struct ctl *ctl = open_ctl(0660);
	int slow = connect_client(), other = connect_client();
	size_t got = 0;
	char buf[8192];

	(void)state;
	n_runs = 0;
	send_text(slow, "{\"v\":1,\"command\":\"stats\"}\n{\"v\":1,\"command\":\"status\"}\n");
	turn(ctl);
	assert_int_equal(n_runs, 0);
	send_text(other, "{\"v\":1,\"command\":\"status\"}\n");
	turn(ctl);
	assert_true(receive(other, buf, sizeof(buf)) > 0);
	assert_int_equal(n_runs, 1);
	for (int i = 0; i < 1000; i++) {
		ssize_t n = receive(slow, buf, sizeof(buf));

		got += n > 0 ? (size_t)n : 0;
		turn(ctl);
	}
	assert_int_equal(n_runs, 2);
	assert_int_equal(got, strlen("{'ok':true,'result':{'big':''}}\n") + N_BIG +
				      strlen("{'ok':true,'result':{'user':'its user'}}\n"));
	close(slow);
	close(other);
	ctl_close(ctl);
}

/* Idle are: one who says nothing, one in the middle of a line, one who does not read. */
static void test_idle(void **state)
{
	static const char *const sent[] = { "", "{\"v\":1", "{\"v\":1,\"command\":\"stats\"}\n" };
	struct ctl *ctl = open_ctl(0660);
	char buf[8192];
	int fds[3], busy;

	(void)state;
	busy = connect_client();
	for (int i = 0; i < 3; i++) {
		fds[i] = connect_client();
		send_text(fds[i], sent[i]);
	}
	turn(ctl);
	now_ns += CTL_IDLE_NS - 1;
	send_text(busy, "\n");
	turn(ctl);
	for (int i = 0; i < 2; i++)
		assert_int_equal(receive(fds[i], buf, sizeof(buf)), -1);
	now_ns += 1;
	turn(ctl);
	for (int i = 0; i < 3; i++) {
		while (receive(fds[i], buf, sizeof(buf)) > 0)
			;
		assert_int_equal(receive(fds[i], buf, sizeof(buf)), 0);
		close(fds[i]);
	}
	assert_true(receive(busy, buf, sizeof(buf)) > 0);
	assert_int_equal(receive(busy, buf, sizeof(buf)), -1);
	close(busy);
	ctl_close(ctl);
}

/* Each octet in time, but the request as a whole not; so a reply that is read so. */
static void test_octets_now_and_then(void **state)
{
	static const char line[] = "{\"v\":1,\"command\":\"status\"";
	struct ctl *ctl = open_ctl(0660);
	int sender = connect_client(), reader = connect_client();
	char buf[8192];

	(void)state;
	turn(ctl);
	send_text(reader, "{\"v\":1,\"command\":\"stats\"}\n");
	turn(ctl);
	for (size_t i = 0; i < 20; i++) {
		now_ns += CTL_IDLE_NS / 20;
		if (i < 19)
			assert_int_equal(send(sender, line + i, 1, MSG_NOSIGNAL), 1);
		(void)!recv(reader, buf, 100, 0);
		turn(ctl);
	}
	assert_int_equal(receive(sender, buf, sizeof(buf)), 0);
	while (receive(reader, buf, sizeof(buf)) > 0)
		;
	assert_int_equal(receive(reader, buf, sizeof(buf)), 0);
	close(sender);
	close(reader);
	ctl_close(ctl);
}

/* Root's places are taken by root's own: the one that has taken longest gives way. */
static void test_too_many(void **state)
{
	struct ctl *ctl = open_ctl(0660);
	int fds[CTL_CLIENTS_CAP], more;
	char buf[256];

	(void)state;
	for (int i = 0; i < CTL_CLIENTS_CAP; i++) {
		fds[i] = connect_client();
		turn(ctl);
		now_ns++;
	}
	more = connect_client();
	send_text(more, "\n");
	turn(ctl);
	assert_true(receive(more, buf, sizeof(buf)) > 0);
	assert_int_equal(receive(fds[0], buf, sizeof(buf)), 0);
	send_text(fds[1], "\n");
	turn(ctl);
	assert_true(receive(fds[1], buf, sizeof(buf)) > 0);
	close(more);
	for (int i = 0; i < CTL_CLIENTS_CAP; i++)
		close(fds[i]);
	ctl_close(ctl);
}

static int connect_other(void)
{
	int fd;

	assert_int_equal(seteuid(65534), 0);
	fd = connect_client();
	assert_int_equal(seteuid(0), 0);
	return fd;
}

/* Others that hold half a request take neither root's places nor, for long, those of other
 * users. */
static void test_others_leave_room_for_root(void **state)
{
	struct ctl *ctl;
	int fds[CTL_OTHERS_CAP], more, root;
	char buf[256];

	(void)state;
	if (geteuid()) {
		skip();
		return;
	}
	assert_int_equal(chmod(tmpfolder, 0755), 0);
	ctl = open_ctl(0666);
	for (int i = 0; i < CTL_OTHERS_CAP; i++) {
		fds[i] = connect_other();
		send_text(fds[i], "{");
		turn(ctl);
	}
	more = connect_other();
	turn(ctl);
	assert_true(receive(more, buf, sizeof(buf)) > 0);
	assert_non_null(strstr(buf, "\"code\":\"busy\""));
	close(more);
	root = connect_client();
	send_text(root, "\n");
	turn(ctl);
	assert_true(receive(root, buf, sizeof(buf)) > 0);
	now_ns += CTL_TURN_NS;
	more = connect_other();
	send_text(more, "\n");
	turn(ctl);
	assert_true(receive(more, buf, sizeof(buf)) > 0);
	assert_null(strstr(buf, "\"code\":\"busy\""));
	assert_int_equal(receive(fds[0], buf, sizeof(buf)), 0);
	assert_int_equal(receive(fds[1], buf, sizeof(buf)), -1);
	for (int i = 0; i < CTL_OTHERS_CAP; i++)
		close(fds[i]);
	close(more);
	close(root);
	ctl_close(ctl);
}

/* Without descriptors the daemon rests, not spins, and takes the client when there are some
 * again. */
static void test_no_descriptors(void **state)
{
	struct ctl *ctl = open_ctl(0660);
	int fd = connect_client();
	struct rlimit limit, none;
	char buf[256];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ .rlim_cur = 3, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	turn(ctl);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	send_text(fd, "\n");
	turn(ctl);
	assert_int_equal(receive(fd, buf, sizeof(buf)), -1);
	now_ns += 1000000000;
	turn(ctl);
	turn(ctl);
	assert_true(receive(fd, buf, sizeof(buf)) > 0);
	close(fd);
	ctl_close(ctl);
}

static void test_mode_and_end(void **state)
{
	mode_t mask = umask(077);
	struct ctl *ctl = open_ctl(0666);
	struct stat st;

	(void)state;
	umask(mask);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0666);
	ctl_close(ctl);
	assert_int_equal(stat(path, &st), -1);
	ctl_close(NULL);
}

/* A socket file whose daemon is gone is replaced; one that is listened on is left alone. */
static void test_stale_and_live(void **state)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int dead = socket(AF_UNIX, SOCK_STREAM, 0);
	struct ctl *ctl, *second;
	char err[256], want[128];

	(void)state;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(bind(dead, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(dead);
	ctl = open_ctl(0660);
	assert_int_equal(ctl_open(&second, path, 0660, commands, NULL, err, sizeof(err)),
			 ERR_RUNNING);
	assert_null(second);
	snprintf(want, sizeof(want), "another volleyd (pid %d) listens on %s", (int)getpid(), path);
	assert_string_equal(err, want);
	close(connect_client());
	ctl_close(ctl);
}

static void test_not_a_socket(void **state)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	struct ctl *ctl;
	char err[256];

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(ctl_open(&ctl, path, 0660, commands, NULL, err, sizeof(err)), -EEXIST);
	assert_null(ctl);
	assert_non_null(strstr(err, "exists and is not a socket"));
	assert_int_equal(unlink(path), 0);
}

static void test_open_failures(void **state)
{
	static const struct ctl_command unknown[] = { { "dance", run_status, CTL_CHANGES, NULL },
						      { NULL, NULL, CTL_READS, NULL } };
	char err[256], long_path[200];
	struct ctl *ctl;

	(void)state;
	assert_int_equal(ctl_open(&ctl, path, 0660, unknown, NULL, err, sizeof(err)), -EINVAL);
	assert_int_equal(ctl_open(&ctl, "/nowhere/s", 0660, commands, NULL, err, sizeof(err)),
			 -ENOENT);
	assert_string_equal(err, "cannot open the control socket /nowhere/s: "
				 "No such file or directory");
	memset(long_path, 'a', sizeof(long_path));
	long_path[sizeof(long_path) - 1] = '\0';
	assert_int_equal(ctl_open(&ctl, long_path, 0660, commands, NULL, err, sizeof(err)),
			 -ENAMETOOLONG);
	assert_null(ctl);
}

/* What a process of user 65534 in our group 0 gets; it exits with the first byte of its reply. */
static int ask_as_other(struct ctl *ctl)
{
	pid_t child = fork();
	int status = 0;

	assert_true(child >= 0);
	if (!child) {
		char buf[256];
		ssize_t got;
		int fd;

		if (setresuid(65534, 65534, 65534))
			_exit(1);
		fd = connect_client();
		fcntl(fd, F_SETFL, 0);
		send(fd, "{\"v\":1,\"command\":\"cache flush\"}\n", 32, MSG_NOSIGNAL);
		got = receive(fd, buf, sizeof(buf));
		_exit(got > 0 && strstr(buf, "\"ok\":true") ? 10 : strstr(buf, "EACCES") ? 11 : 12);
	}
	while (!waitpid(child, &status, WNOHANG)) {
		turn(ctl);
		usleep(1000);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * The kernel lets a stranger in by the mode; behind it we refuse him when the mode was for us
 * alone, as when the file was opened up later by somebody else.
 */
static void test_peers(void **state)
{
	struct ctl *ctl;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(chmod(tmpfolder, 0755), 0);
	ctl = open_ctl(0666);
	assert_int_equal(ask_as_other(ctl), 10);
	ctl_close(ctl);
	ctl = open_ctl(0600);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(ask_as_other(ctl), 11);
	ctl_close(ctl);
}

#define RELOAD "{\"v\":1,\"command\":\"zone reload\"}\n"
#define STATUS "{\"v\":1,\"command\":\"status\"}\n"

/* The reply comes later, the next request's behind it, however long that takes; others go on. */
static void test_later(void **state)
{
	int waiting, other;
	uint64_t first;
	char buf[256];

	(void)state;
	the_ctl = open_ctl(0600);
	waiting = connect_client();
	other = connect_client();
	send_text(waiting, RELOAD STATUS);
	turn(the_ctl);
	first = ticket;
	assert_int_equal(receive(waiting, buf, sizeof(buf)), -1);
	send_text(other, RELOAD);
	turn(the_ctl);
	assert_int_not_equal(ticket, first);
	now_ns += 2 * CTL_IDLE_NS;
	turn(the_ctl);
	ctl_answer(the_ctl, ticket, now_ns, ERR_ZONE, json_object(), "a sentence");
	receive(other, buf, sizeof(buf));
	assert_string_equal(buf, "{\"ok\":false,\"error\":\"a sentence\",\"code\":\"ERR_ZONE\"}\n");
	send_text(other, STATUS);
	turn(the_ctl);
	receive(other, buf, sizeof(buf));
	assert_non_null(strstr(buf, "its user"));
	assert_int_equal(receive(waiting, buf, sizeof(buf)), -1);
	ctl_answer(the_ctl, first, now_ns, 0, json_pack("{s:i}", "a", 1), "");
	receive(waiting, buf, sizeof(buf));
	assert_string_equal(buf, "{\"ok\":true,\"result\":{\"a\":1}}\n"
				 "{\"ok\":true,\"result\":{\"user\":\"its user\"}}\n");
	ctl_answer(the_ctl, first, now_ns, 0, NULL, ""); /* a second time: nobody waits */
	assert_int_equal(receive(waiting, buf, sizeof(buf)), -1);
	now_ns += CTL_IDLE_NS;
	turn(the_ctl);
	assert_int_equal(receive(waiting, buf, sizeof(buf)), 0);
	close(waiting);
	close(other);
	ctl_close(the_ctl);
}

/* Who has gone is not waited for; who only shuts its own side is. */
static void test_later_and_gone(void **state)
{
	uint64_t first;
	char buf[256];
	int fd;

	(void)state;
	the_ctl = open_ctl(0600);
	for (int i = 0; i < 2 * CTL_CLIENTS_CAP; i++) { /* their places are free again */
		fd = connect_client();
		send_text(fd, RELOAD);
		turn(the_ctl);
		first = ticket;
		close(fd);
		turn(the_ctl);
	}
	fd = connect_client();
	send_text(fd, RELOAD);
	shutdown(fd, SHUT_WR);
	turn(the_ctl);
	turn(the_ctl);
	assert_int_not_equal(ticket, first);
	ctl_answer(the_ctl, first, now_ns, 0, json_object(), "");
	assert_int_equal(receive(fd, buf, sizeof(buf)), -1);
	ctl_answer(the_ctl, ticket, now_ns, 0, NULL, "");
	receive(fd, buf, sizeof(buf));
	assert_string_equal(buf, "{\"ok\":true,\"result\":{}}\n");
	assert_int_equal(receive(fd, buf, sizeof(buf)), 0);
	close(fd);
	ctl_close(the_ctl);
}

/* A process that is being started holds the connection of one that has gone: the next in its place
 * is not disturbed. */
static void test_later_and_inherited(void **state)
{
	char buf[256];
	int hold[2], fd;
	pid_t child;

	(void)state;
	the_ctl = open_ctl(0600);
	fd = connect_client();
	send_text(fd, STATUS);
	turn(the_ctl);
	receive(fd, buf, sizeof(buf));
	assert_int_equal(pipe(hold), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		close(hold[1]);
		close(fd);
		_exit(read(hold[0], buf, 1) != 0); /* until the parent closes its end */
	}
	close(hold[0]);
	close(fd);
	turn(the_ctl);
	fd = connect_client();
	send_text(fd, RELOAD);
	for (int i = 0; i < 3; i++)
		turn(the_ctl);
	ctl_answer(the_ctl, ticket, now_ns, 0, NULL, "");
	receive(fd, buf, sizeof(buf));
	assert_string_equal(buf, "{\"ok\":true,\"result\":{}}\n");
	close(fd);
	close(hold[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	ctl_close(the_ctl);
}

/* Who waits at the stop is told; what was asked behind that is not run any more. */
static void test_later_and_stop(void **state)
{
	char buf[256];
	int fd;

	(void)state;
	the_ctl = open_ctl(0600);
	fd = connect_client();
	send_text(fd, RELOAD STATUS);
	turn(the_ctl);
	n_runs = 0;
	ctl_stop(the_ctl);
	ctl_answer(the_ctl, ticket, now_ns, -ECANCELED, NULL, "volleyd stops");
	assert_int_equal(n_runs, 0);
	receive(fd, buf, sizeof(buf));
	assert_string_equal(buf,
			    "{\"ok\":false,\"error\":\"volleyd stops\",\"code\":\"ECANCELED\"}\n");
	assert_int_equal(receive(fd, buf, sizeof(buf)), -1);
	ctl_close(the_ctl);
	assert_int_equal(receive(fd, buf, sizeof(buf)), 0);
	close(fd);
	ctl_stop(NULL);
}

/* Those who wait do not take every place. */
static void test_later_and_many(void **state)
{
	int fds[CTL_CLIENTS_CAP];
	char buf[256];

	(void)state;
	the_ctl = open_ctl(0600);
	for (int i = 0; i < CTL_CLIENTS_CAP; i++) {
		fds[i] = connect_client();
		send_text(fds[i], RELOAD);
		turn(the_ctl);
		assert_int_equal(receive(fds[i], buf, sizeof(buf)) > 0, i >= CTL_WAITING_CAP);
		assert_int_equal(strstr(buf, "EBUSY") != NULL, i >= CTL_WAITING_CAP);
	}
	send_text(fds[CTL_CLIENTS_CAP - 1], STATUS);
	turn(the_ctl);
	receive(fds[CTL_CLIENTS_CAP - 1], buf, sizeof(buf));
	assert_non_null(strstr(buf, "its user"));
	for (int i = 0; i < CTL_CLIENTS_CAP; i++)
		close(fds[i]);
	ctl_close(the_ctl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_octets_now_and_then),
		cmocka_unit_test(test_others_leave_room_for_root),
		cmocka_unit_test(test_exchanges),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_no_descriptors),
		cmocka_unit_test(test_mode_and_end),
		cmocka_unit_test(test_stale_and_live),
		cmocka_unit_test(test_not_a_socket),
		cmocka_unit_test(test_open_failures),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_later_and_gone),
		cmocka_unit_test(test_later_and_inherited),
		cmocka_unit_test(test_later_and_stop),
		cmocka_unit_test(test_later_and_many),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
