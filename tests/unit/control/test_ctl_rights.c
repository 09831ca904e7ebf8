/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What another user gets at the control socket: commands by right, files, words of files. */
#include "control/ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "config/config.h"
#include "control/rights.h"
#include "tests/lib/must.h"
#include "tests/lib/tmpfolder.h"

static const char *const path = tmpfolder_file;
static struct ctl *the_ctl;

static unsigned int n_flushed;

static int run_flush(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)user, (void)args, (void)result, (void)err, (void)err_cap;
	n_flushed++;
	return 0;
}

static int run_later(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	uint64_t ticket;

	(void)user, (void)args, (void)result;
	return ctl_defer_or_tell(the_ctl, &ticket, err, err_cap) ? -EBUSY : CTL_LATER;
}

/* Reads a file that comes with the request, as far as 15 octets. */
static int run_load(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	int file = ctl_take_file_or_tell(the_ctl, err, err_cap);
	char text[16] = "";

	(void)user, (void)args;
	if (file < 0)
		return file;
	MUST(read(file, text, sizeof(text) - 1) >= 0);
	*result = json_pack("{s:s, s:b}", "text", text, "owner", (int)ctl_is_owner(the_ctl));
	close(file);
	return 0;
}

static int run_quoting(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)user;
	if (!json_array_size(args)) {
		*result = json_pack("{s:s}", "error", "/a:1: 'secret' is not a TTL");
		return 0;
	}
	snprintf(err, err_cap, "/a:1: 'secret' is not a TTL");
	return ERR_ZONE;
}

static const struct ctl_command commands_by_right[] = {
	{ "health", run_flush, CTL_HEALTH, NULL },       { "status", run_flush, CTL_READS, NULL },
	{ "zone status", run_quoting, CTL_READS, NULL }, { "stats", run_load, CTL_CHANGES, NULL },
	{ "names", run_flush, CTL_CHANGES, NULL },       { "cookies", run_flush, CTL_OWNS, NULL },
	{ "cache stats", run_later, CTL_READS, NULL },   { NULL, NULL, CTL_READS, NULL },
};

static struct ctl *open_ctl(void)
{
	struct ctl *ctl;
	char err[256];

	MUST(!chmod(tmpfolder, 0755));
	if (ctl_open(&ctl, path, 0666, commands_by_right, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	return ctl;
}

/* The first call accepts, the second reads. */
static void turn(struct ctl *ctl)
{
	ctl_poll(ctl, 1);
	ctl_poll(ctl, 1);
}

static int connect_client(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	MUST(fd >= 0 && !connect(fd, (struct sockaddr *)&addr, sizeof(addr)));
	return fd;
}

/* The reply fits into one message. */
static ssize_t receive(int fd, char *buf, size_t cap)
{
	ssize_t got = recv(fd, buf, cap - 1, 0);

	buf[got > 0 ? got : 0] = '\0';
	return got;
}

#define EXIT_NO_FILES 12
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/* 0 or -errno. */
static int send_with_files(int fd, const char *text, const int *files, size_t n)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(4 * sizeof(int))];
	} control = { 0 };
	struct iovec octets = { (char *)(uintptr_t)text, strlen(text) };
	struct msghdr msg = { .msg_iov = &octets,
			      .msg_iovlen = 1,
			      .msg_control = n ? control.room : NULL,
			      .msg_controllen = n ? CMSG_SPACE(n * sizeof(int)) : 0 };

	control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(n * sizeof(int)),
					 .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS };
	if (n)
		memcpy(CMSG_DATA(&control.head), files, n * sizeof(int));
	return sendmsg(fd, &msg, MSG_NOSIGNAL) == (ssize_t)strlen(text) ? 0 : -errno;
}

/*
 * As user 65534 of our group 0: sends the line, with FILE n_files times. 10 if the reply has
 * `expected`; EXIT_NO_FILES if the kernel does not let descriptors pass.
 */
static int ask_as_other(struct ctl *ctl, const char *line, int file, size_t n_files,
			const char *expected)
{
	const int files[] = { file, file, file, file };
	pid_t child = fork();
	int status = 0;

	assert_true(child >= 0);
	if (!child) {
		char buf[512];
		int fd;

		if (setresuid(65534, 65534, 65534))
			_exit(1);
		fd = connect_client();
		if (n_files) { /* the reply says that the connection is accepted */
			MUST(!send_with_files(fd, "{}\n", NULL, 0));
			MUST(receive(fd, buf, sizeof(buf)) > 0);
		}
		if (send_with_files(fd, line, files, n_files) == -EPERM)
			_exit(EXIT_NO_FILES);
		_exit(receive(fd, buf, sizeof(buf)) > 0 && strstr(buf, expected) ? 10 : 11);
	}
	while (!waitpid(child, &status, WNOHANG)) {
		turn(ctl);
		usleep(1000);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define LINE(command) "{\"v\":1,\"command\":\"" command "\"}\n"

/* Each kind of command with each right: it runs, or the reply says EACCES. */
static void test_rights(void **state)
{
	static const char *const lines[] = { LINE("health"), LINE("status"), LINE("names"),
					     LINE("cookies") };
	char *nobody[] = { (char[]){ "65534" }, NULL }, *other[] = { (char[]){ "1" }, NULL };
	const struct config configs[] = {
		{ .control_read = other },
		{ .control_read = nobody },
		{ .control_read = other, .control_change = nobody },
	};
	struct ctl *ctl;

	(void)state;
	if (geteuid())
		skip();
	ctl = open_ctl();
	for (size_t right = 0; right < sizeof(configs) / sizeof(configs[0]); right++) {
		struct rights rights;

		MUST(!rights_read(&rights, &configs[right]));
		ctl_set_rights(ctl, &rights);
		for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
			if (ask_as_other(ctl, lines[i], -1, 0,
					 i <= right ? "\"ok\":true" : "\"code\":\"EACCES\"") != 10)
				fail_msg("right %zu: %s", right, lines[i]);
		rights_fini(&rights);
	}
	ctl_close(ctl);
}

static size_t count_descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static const struct {
	const char *line;
	size_t n_files;
	bool may; /* change */
	const char *expected;
} with_files[] = {
	{ LINE("stats"), 1, true, "\"text\":\"some words\"" },
	{ LINE("stats"), 1, true, "\"owner\":false" },
	{ LINE("stats"), 0, true, "no descriptor of the file" },
	{ LINE("stats"), 2, true, "\"text\":\"some words\"" },
	{ LINE("stats"), 4, true, "\"text\":\"some words\"" },
	{ LINE("stats"), 1, false, "EACCES" },
	{ LINE("status"), 1, true, "\"ok\":true" }, /* the command takes no file */
	{ LINE("status"), 4, false, "\"ok\":true" },
};

/* True if the kernel can keep descriptors away: Linux 6.16. */
static bool can_keep_away(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), value;
	socklen_t len = sizeof(value);
	bool can = !getsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &value, &len);

	close(fd);
	return can;
}

/* A file comes as a descriptor, and no descriptor stays open. */
static void test_files(void **state)
{
	char *nobody[] = { (char[]){ "65534" }, NULL }, name[300];
	const struct config none = { 0 }, some = { .control_change = nobody };
	size_t n_before;
	int file;

	(void)state;
	if (geteuid())
		skip();
	snprintf(name, sizeof(name), "%s.words", path);
	file = open(name, O_RDWR | O_CREAT, 0600); /* user 65534 could not open it */
	MUST(file >= 0 && write(file, "some words", 10) == 10);
	the_ctl = open_ctl();
	turn(the_ctl);
	n_before = count_descriptors();
	for (size_t i = 0; i < sizeof(with_files) / sizeof(with_files[0]); i++) {
		const bool is_kept_away = with_files[i].n_files && !with_files[i].may &&
					  can_keep_away();
		struct rights rights;

		MUST(!rights_read(&rights, with_files[i].may ? &some : &none));
		MUST(!lseek(file, 0, SEEK_SET));
		ctl_set_rights(the_ctl, &rights);
		if (ask_as_other(the_ctl, with_files[i].line, file, with_files[i].n_files,
				 with_files[i].expected) != (is_kept_away ? EXIT_NO_FILES : 10))
			fail_msg("row %zu: %s", i, with_files[i].line);
		turn(the_ctl); /* sees that the client has gone */
		assert_int_equal(count_descriptors(), n_before);
		rights_fini(&rights);
	}
	ctl_close(the_ctl);
	close(file);
	unlink(name);
}

/*
 * The daemon's thread closes a descriptor that the kernel drops. If it is of a TCP socket with
 * SO_LINGER, that takes as long as its sender wants. So none may wait in a connection that is not
 * accepted, either.
 */
static void test_files_before_acceptance(void **state)
{
	struct ctl *ctl;
	char buf[512];
	int fd, file = 0;

	(void)state;
	if (!can_keep_away())
		skip();
	ctl = open_ctl();
	fd = connect_client();
	assert_int_equal(send_with_files(fd, LINE("health"), &file, 1), -EPERM);
	turn(ctl); /* this user is the daemon's */
	assert_int_equal(send_with_files(fd, LINE("health"), &file, 1), 0);
	turn(ctl);
	assert_true(receive(fd, buf, sizeof(buf)) > 0);
	close(fd);
	ctl_close(ctl);
}

/* ---- Kernels before Linux 6.16 --------------------------------------------------------------- */

static bool is_old_kernel; /* it has no SO_PASSRIGHTS */

/* In the place of that of libc. */
int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if (is_old_kernel && level == SOL_SOCKET && name == SO_PASSRIGHTS) {
		errno = ENOPROTOOPT;
		return -1;
	}
	return (int)syscall(SYS_setsockopt, fd, level, name, value, len);
}

#define LINGER_S 30

/* A TCP socket whose close takes LINGER_S, unless the other end, *reader, is read or closed. */
static int open_lingering(int *reader)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = LINGER_S };
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(at);
	static char octets[65536];

	MUST(fd >= 0 && listener >= 0 && !bind(listener, (struct sockaddr *)&at, sizeof(at)) &&
	     !listen(listener, 1) && !getsockname(listener, (struct sockaddr *)&at, &len) &&
	     !connect(fd, (struct sockaddr *)&at, sizeof(at)));
	*reader = accept(listener, NULL, NULL);
	MUST(*reader >= 0 && !close(listener) &&
	     !setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
	while (send(fd, octets, sizeof(octets), MSG_DONTWAIT) > 0)
		;
	return fd;
}

enum when { WITH_REQUEST, BEFORE_ACCEPTANCE, AS_URGENT, BEHIND_A_REQUEST, N_WHENS };

/* As another user, who may ask for health only. */
static void send_lingering(enum when when, int fd, int file)
{
	struct iovec octet = { (char[]){ "\n" }, 1 };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS } };
	struct msghdr msg = { .msg_iov = &octet,
			      .msg_iovlen = 1,
			      .msg_control = control.room,
			      .msg_controllen = sizeof(control.room) };
	char buf[512];

	memcpy(CMSG_DATA(&control.head), &file, sizeof(file));
	if (when == WITH_REQUEST) {
		MUST(!send_with_files(fd, LINE("health"), NULL, 0));
		MUST(receive(fd, buf, sizeof(buf)) > 0);
	}
	if (when == AS_URGENT)
		MUST(sendmsg(fd, &msg, MSG_OOB) == 1);
	else if (when == BEHIND_A_REQUEST)
		MUST(!send_with_files(fd, "{}\n{}\n{}", NULL, 0) && sendmsg(fd, &msg, 0) == 1);
	else
		MUST(!send_with_files(fd, LINE("health"), &file, 1));
}

static void hang_up_on(struct ctl *ctl, enum when when)
{
	int reader, file = open_lingering(&reader), status = 0;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		int fd;

		if (setresuid(65534, 65534, 65534))
			_exit(1);
		fd = connect_client();
		send_lingering(when, fd, file);
		_exit(10);
	}
	close(file); /* only the message has it now, when the child has ended */
	while (!waitpid(child, &status, WNOHANG)) {
		if (when == WITH_REQUEST)
			turn(ctl);
		usleep(1000);
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 10);
	turn(ctl);
	turn(ctl);
	close(reader);
}

/* The thread of control neither gets the descriptor nor waits for its end. */
static void test_descriptors_on_old_kernels(void **state)
{
	char *nobody[] = { (char[]){ "1" }, NULL };
	const struct config config = { .control_read = nobody, .control_change = nobody };
	struct timespec before, after;
	struct rights rights;
	struct ctl *ctl;
	size_t n_before;

	(void)state;
	if (geteuid())
		skip();
	MUST(!rights_read(&rights, &config));
	is_old_kernel = true;
	ctl = open_ctl();
	ctl_set_rights(ctl, &rights);
	n_before = count_descriptors();
	for (enum when when = 0; when < N_WHENS; when++) {
		clock_gettime(CLOCK_MONOTONIC, &before);
		hang_up_on(ctl, when);
		clock_gettime(CLOCK_MONOTONIC, &after);
		if (after.tv_sec - before.tv_sec > LINGER_S / 2)
			fail_msg("case %d: %ld s", when, (long)(after.tv_sec - before.tv_sec));
		while (count_descriptors() > n_before) /* its reader has closed */
			usleep(1000);
	}
	assert_int_equal(ask_as_other(ctl, LINE("health"), -1, 0, "\"ok\":true"), 10);
	ctl_close(ctl);
	is_old_kernel = false;
	rights_fini(&rights);
}

/* Words of files are for root and the daemon's user. */
static void test_quoted_words(void **state)
{
	static const char with_args[] = "{\"v\":1,\"command\":\"zone status\",\"args\":[\"a\"]}\n";
	char buf[512];
	int fd;

	(void)state;
	if (geteuid())
		skip();
	the_ctl = open_ctl();
	assert_int_equal(ask_as_other(the_ctl, LINE("zone status"), -1, 0, "/a:1: '...' is"), 10);
	assert_int_equal(ask_as_other(the_ctl, with_args, -1, 0, "/a:1: '...' is"), 10);
	fd = connect_client();
	assert_int_equal(send_with_files(fd, with_args, NULL, 0), 0);
	turn(the_ctl);
	assert_true(receive(fd, buf, sizeof(buf)) > 0);
	assert_non_null(strstr(buf, "/a:1: 'secret' is"));
	close(fd);
	ctl_close(the_ctl);
}

/* --- One user does not keep the others away --------------------------------------------------- */

static int connect_as(uid_t uid)
{
	int fd;

	MUST(!seteuid(uid));
	fd = connect_client();
	MUST(!seteuid(0));
	return fd;
}

/* The first octets of what has come; "" for nothing, "closed" for the end. */
static const char *peek_reply(int fd)
{
	static char buf[512];
	ssize_t got = recv(fd, buf, sizeof(buf) - 1, MSG_DONTWAIT);

	buf[got > 0 ? got : 0] = '\0';
	return got ? buf : "closed";
}

/* Sends the line and returns the beginning of its reply. */
static const char *exchange(struct ctl *ctl, int fd, const char *line)
{
	if (send(fd, line, strlen(line), MSG_NOSIGNAL) < 0)
		return "closed";
	turn(ctl);
	return peek_reply(fd);
}

/* User 65534 has all places for other users, and takes one more whenever it can. */
static void test_places_are_shared(void **state)
{
	int mine[CTL_OTHERS_CAP], theirs[CTL_OTHERS_CAP / 2], more;
	struct ctl *ctl;

	(void)state;
	if (geteuid())
		skip();
	ctl = open_ctl();
	for (size_t i = 0; i < CTL_OTHERS_CAP; i++) {
		mine[i] = connect_as(65534);
		turn(ctl);
	}
	for (size_t i = 0; i < CTL_OTHERS_CAP / 2; i++) {
		theirs[i] = connect_as(1);
		turn(ctl);
		assert_non_null(strstr(exchange(ctl, theirs[i], LINE("health")), "\"ok\":true"));
		assert_string_equal(peek_reply(mine[i]), "closed");
	}
	more = connect_as(65534); /* both users have as many places, and none of them is old */
	turn(ctl);
	assert_non_null(strstr(peek_reply(more), "\"code\":\"busy\""));
	close(more);
	close(theirs[0]);
	turn(ctl);
	for (size_t i = 0; i < 2; i++) { /* this user has more places than the other */
		more = connect_as(65534);
		ctl_poll(ctl, 2 * CTL_TURN_NS);
		close(more);
		for (size_t k = 1; k < CTL_OTHERS_CAP / 2; k++)
			assert_string_equal(peek_reply(theirs[k]), "");
	}
	ctl_close(ctl);
	for (size_t i = 0; i < CTL_OTHERS_CAP; i++)
		close(mine[i]);
	for (size_t i = 1; i < CTL_OTHERS_CAP / 2; i++)
		close(theirs[i]);
}

#define N_PIPED 1000

/* A thousand requests at once: each is answered, and another client has its turn between them. */
static void test_turns(void **state)
{
	struct ctl *ctl = open_ctl();
	static char lines[N_PIPED * sizeof(LINE("health"))];
	int busy = connect_client(), other = connect_client(), n_turns = 0;

	(void)state;
	turn(ctl);
	for (int i = 0; i < N_PIPED; i++)
		strcat(lines, LINE("health"));
	MUST(send(busy, lines, strlen(lines), MSG_NOSIGNAL) == (ssize_t)strlen(lines));
	MUST(!shutdown(busy, SHUT_WR));
	n_flushed = 0;
	assert_non_null(strstr(exchange(ctl, other, LINE("health")), "\"ok\":true"));
	assert_in_range(n_flushed, 1, 32);
	while (strcmp(peek_reply(busy), "closed") && n_turns++ < 4 * N_PIPED)
		ctl_poll(ctl, 1);
	assert_int_equal(n_flushed, N_PIPED + 1);
	close(busy);
	close(other);
	ctl_close(ctl);
}

/* Clients that only read may wait for as many replies as leave room for those that change. */
static void test_waiting_by_right(void **state)
{
	static const struct {
		uid_t uid;
		int n; /* that may wait beside those before */
	} rows[] = {
		{ 65534, CTL_WAITING_READERS_CAP },
		{ 2, 0 }, /* another one that only reads */
		{ 1, CTL_WAITING_OTHERS_CAP - CTL_WAITING_READERS_CAP },
		{ 0, CTL_WAITING_CAP - CTL_WAITING_OTHERS_CAP },
	};
	char *change[] = { (char[]){ "1" }, NULL };
	const struct config config = { .control_change = change };
	int fds[CTL_WAITING_CAP], n_fds = 0, last;
	struct rights rights;

	(void)state;
	if (geteuid())
		skip();
	the_ctl = open_ctl();
	MUST(!rights_read(&rights, &config));
	ctl_set_rights(the_ctl, &rights);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int k = 0; k < rows[i].n; k++) {
			fds[n_fds] = connect_as(rows[i].uid);
			assert_string_equal(exchange(the_ctl, fds[n_fds++], LINE("cache stats")),
					    "");
		}
		last = connect_as(rows[i].uid);
		assert_non_null(strstr(exchange(the_ctl, last, LINE("cache stats")), "EBUSY"));
		close(last);
		turn(the_ctl);
	}
	ctl_close(the_ctl);
	rights_fini(&rights);
	for (int i = 0; i < n_fds; i++)
		close(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_files_before_acceptance),
		cmocka_unit_test(test_descriptors_on_old_kernels),
		cmocka_unit_test(test_quoted_words),
		cmocka_unit_test(test_places_are_shared),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_waiting_by_right),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
