/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that starts commands: which it starts, what it refuses, and how it ends. */
#include "config/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/files.h"
#include "config/config.h"
#include "config/runner_process.h"
#include "tests/lib/parenttest.h"
#include "tests/lib/sendfds.h"
#include "tests/lib/tmpfolder.h"

static const struct runner_zone of = { "example.net.", "/the/file", 7 };

/* The command `sh -c SCRIPT FILE`; valid until the next call. */
static struct verify *command(const char *script)
{
	static char sh[] = "sh", c[] = "-c", text[256];
	static char *argv[] = { sh, c, text, tmpfolder_file, NULL };
	static struct verify verify = { argv, 60 };

	snprintf(text, sizeof(text), "%s", script);
	return &verify;
}

static bool is_short;

int __wrap_poll(struct pollfd *fds, nfds_t n, int wait_ms);
int __real_poll(struct pollfd *fds, nfds_t n, int wait_ms);

/* Waits less long. */
int __wrap_poll(struct pollfd *fds, nfds_t n, int wait_ms)
{
	return __real_poll(fds, n, is_short && wait_ms > 0 ? 1 : wait_ms);
}

static struct runner *running;

/* With the command of SCRIPT, and the configuration's file in the folder. */
static struct runner *start_with(const char *script)
{
	struct config config = { .path = tmpfolder_file,
				 .zones = calloc(1, sizeof(*config.zones)),
				 .n_zones = 1 };
	struct runner *runner;

	assert_non_null(config.zones);
	assert_int_equal(verify_copy(&config.zones->verify, command(script)), 0);
	assert_int_equal(runner_prepare(&runner, &config), 0);
	assert_int_equal(parenttest_start(), 0);
	config_zones_free(config.zones, config.n_zones);
	running = runner;
	return runner;
}

static void end_runner(struct runner *runner)
{
	running = NULL;
	runner_free(runner);
	parenttest_stop();
}

/* Else the processes of a test that fails would keep the run from ending. */
static int end_running(void **state)
{
	(void)state;
	if (running)
		end_runner(running);
	return 0;
}

static int run_script(struct runner *runner, const char *script, int *status)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd, err;
	char byte;

	assert_true(null >= 0);
	fd = runner_verify(runner, verify_digest(command(script)), &of, null, null);
	close(null);
	if (fd < 0)
		return fd;
	while (recv(fd, &byte, 1, MSG_PEEK) < 0)
		assert_int_equal(errno, EINTR);
	err = runner_end(fd, status);
	close(fd);
	return err;
}

static void runs_what_the_configuration_has(void **state)
{
	struct runner *runner = start_with("exit 3");
	int status = 0;

	(void)state;
	assert_int_equal(run_script(runner, "exit 3", &status), 0);
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_int_equal(run_script(runner, "exit 4", &status), ERR_NOT_FOUND);
	end_runner(runner);
	assert_int_equal(run_script(NULL, "exit 3", &status), ERR_CLOSED);
}

static void gives_no_capability(void **state)
{
	static const char script[] = "grep -q '^CapPrm:.0000000000000000$' /proc/self/status && "
				     "grep -q '^NoNewPrivs:.1$' /proc/self/status";
	struct runner *runner = start_with(script);
	int status = -1;

	(void)state;
	assert_int_equal(run_script(runner, script, &status), 0);
	assert_int_equal(status, 0);
	end_runner(runner);
}

/* Writes a configuration with a zone whose command is `sh -c SCRIPT FILE`. */
static void put_config(int fd, const char *script)
{
	dprintf(fd,
		"{\"server\": {\"listen\": [\"127.0.0.1\"]}, \"zones\": [{\"name\": \"a\", "
		"\"file\": \"a\", \"verify\": [\"sh\", \"-c\", \"%s\", \"%s\"]}]}",
		script, tmpfolder_file);
}

static void write_config(const char *script)
{
	int fd = open(tmpfolder_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	put_config(fd, script);
	close(fd);
}

/* More requests than the socket has room for. */
static void waits_for_no_answer_for_ever(void **state)
{
	struct runner *runner = start_with("exit 1");
	int status, null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;
	pid_t pid;

	(void)state;
	assert_int_equal(runner_open(runner, "/etc/shadow", NULL, false), -EACCES);
	assert_string_equal(runner_problem(runner), "");
	pid = parenttest_child_of(parenttest_child_of(getpid()));
	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	is_short = true;
	fd = runner_verify(runner, verify_digest(command("exit 1")), &of, null, null);
	assert_true(fd >= 0);
	assert_int_equal(runner_end(fd, &status), -ETIMEDOUT);
	close(fd);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(runner_open(runner, "/etc/shadow", NULL, false), -ETIMEDOUT);
		assert_non_null(strstr(runner_problem(runner), "does not answer"));
	}
	fd = runner_verify(runner, verify_digest(command("exit 1")), &of, null, null);
	assert_int_equal(fd, -ETIMEDOUT);
	close(null);
	is_short = false;
	assert_int_equal(kill(pid, SIGCONT), 0);
	while ((fd = runner_open(runner, "/etc/shadow", NULL, false)) == -ETIMEDOUT)
		continue;
	assert_int_equal(fd, -EACCES);
	assert_string_equal(runner_problem(runner), "");
	end_runner(runner);
}

/* A configuration that is not kept is one that the daemon has refused. */
static void reads_the_configuration_again(void **state)
{
	struct runner *runner = start_with("exit 1");
	int status;

	(void)state;
	write_config("exit 2");
	assert_int_equal(run_script(runner, "exit 2", &status), ERR_NOT_FOUND);
	runner_read_config(runner, -1);
	assert_int_equal(run_script(runner, "exit 2", &status), 0);
	write_config("exit 3");
	runner_read_config(runner, -1);
	assert_int_equal(run_script(runner, "exit 2", &status), ERR_NOT_FOUND);
	assert_int_equal(run_script(runner, "exit 1", &status), 0);
	runner_keep_config(runner);
	assert_int_equal(run_script(runner, "exit 1", &status), 0);
	assert_int_equal(run_script(runner, "exit 3", &status), 0);
	runner_read_config(runner, -1);
	runner_keep_config(runner);
	assert_int_equal(run_script(runner, "exit 1", &status), ERR_NOT_FOUND);
	assert_int_equal(run_script(runner, "exit 3", &status), 0);
	end_runner(runner);
	unlink(tmpfolder_file);
}

/* As volleyctl passes it: a sealed file in memory. */
static int make_text(const char *script)
{
	int fd = memory_file_open("text", MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	put_config(fd, script);
	assert_int_equal(memory_file_seal(fd), 0);
	return fd;
}

/* A daemon that was broken into can make files, but not files of root. */
static void takes_a_text_only_of_the_owner(void **state)
{
	struct runner *runner = start_with("exit 1");
	int fd = make_text("exit 2"), status;

	(void)state;
	write_config("exit 1");
	runner_read_config(runner, fd);
	assert_int_equal(run_script(runner, "exit 2", &status), 0);
	if (!geteuid()) {
		assert_int_equal(fchown(fd, 12345, 12345), 0);
		runner_read_config(runner, fd);
		assert_int_equal(run_script(runner, "exit 2", &status), ERR_NOT_FOUND);
		assert_int_equal(chown(tmpfolder_file, 12345, 12345), 0);
		runner_read_config(runner, fd);
		assert_int_equal(run_script(runner, "exit 2", &status), 0);
	}
	close(fd);
	end_runner(runner);
	unlink(tmpfolder_file);
}

/* Root has passed a file in memory, and a daemon that was broken into writes to it. */
static void takes_no_text_that_others_may_write(void **state)
{
	struct runner *runner = start_with("exit 1");
	int fd = memory_file_open("text", MFD_ALLOW_SEALING), status;

	(void)state;
	assert_true(fd >= 0);
	put_config(fd, "exit 2");
	runner_read_config(runner, fd);
	assert_int_equal(run_script(runner, "exit 2", &status), ERR_NOT_FOUND);
	assert_int_equal(memory_file_seal(fd), 0);
	runner_read_config(runner, fd);
	assert_int_equal(run_script(runner, "exit 2", &status), 0);
	close(fd);
	end_runner(runner);
}

/*
 * The kernel says that root owns /proc/self/cmdline of a process that is not dumpable, and its
 * octets are in the memory of that process. Any file there stands for it: the configuration in a
 * file that belongs to root, and is no file in memory.
 */
static void takes_no_text_from_other_file_systems(void **state)
{
	struct runner *runner = start_with("exit 1");
	int fd, status;

	(void)state;
	write_config("exit 2");
	fd = open(tmpfolder_file, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	runner_read_config(runner, fd);
	assert_int_equal(run_script(runner, "exit 2", &status), ERR_NOT_FOUND);
	close(fd);
	end_runner(runner);
	unlink(tmpfolder_file);
}

static struct runner_request *request_of(uint32_t kind)
{
	static struct runner_request request;

	memset(&request, 0, sizeof(request));
	request.kind = kind;
	return &request;
}

/* Sends the octets to a process, with that number of descriptors; then it still runs. */
static void assert_ignored(const void *octets, size_t n, unsigned int n_fds)
{
	struct config config = { .path = tmpfolder_file };
	int pair[2], status;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	pid = fork();
	if (!pid) {
		close(pair[0]);
		runner_process(pair[1], &config, false);
	}
	close(pair[1]);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sendfds(pair[0], octets, n, n_fds), n);
	close(pair[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A daemon that was broken into could end the process by it, and no other would follow. */
static void an_empty_packet_is_not_the_end(void **state)
{
	struct config config = { .path = tmpfolder_file };
	struct runner_request *request = request_of(RUNNER_OPEN);
	struct runner_reply reply = { 0 };
	int pair[2], channel[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel), 0);
	pid = fork();
	if (!pid) {
		close(pair[0]);
		runner_process(pair[1], &config, false);
	}
	close(pair[1]);
	assert_int_equal(send(pair[0], "", 0, MSG_NOSIGNAL), 0);
	strcpy(request->file, "/etc/shadow");
	assert_int_equal(runner_send(pair[0], request, sizeof(*request), &channel[1], 1, 0), 0);
	close(channel[1]);
	assert_int_equal(recv(channel[0], &reply, sizeof(reply), 0), sizeof(reply));
	assert_int_equal(reply.code, -EACCES);
	close(channel[0]);
	assert_int_equal(shutdown(pair[0], SHUT_WR), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(pair[0]);
}

static void bears_any_request(void **state)
{
	static const char much[sizeof(struct runner_request) + 1];
	struct runner_request *request = request_of(RUNNER_VERIFY);

	(void)state;
	assert_ignored(request, sizeof(*request), 0);
	assert_ignored(request, sizeof(*request), 2);
	assert_ignored(request, sizeof(*request), 4);
	assert_ignored(request, sizeof(*request) - 1, 3);
	assert_ignored(request, 1, 0);
	assert_ignored(much, sizeof(much), 3);
	memset(request->zone, 'a', sizeof(request->zone));
	assert_ignored(request, sizeof(*request), 3);
	request = request_of(RUNNER_VERIFY);
	memset(request->file, 'a', sizeof(request->file));
	assert_ignored(request, sizeof(*request), 3);
	request = request_of(RUNNER_KINDS);
	assert_ignored(request, sizeof(*request), 1);
	request = request_of(UINT32_MAX);
	assert_ignored(request, sizeof(*request), 3);
	request = request_of(RUNNER_READ);
	assert_ignored(request, sizeof(*request), 1); /* standard input is no file of ours */
	request = request_of(RUNNER_KEEP);
	assert_ignored(request, sizeof(*request), 0);
}

/* Our end of the channel is closed, as when the daemon dies. */
static void a_command_ends_with_the_daemon(void **state)
{
	static const char script[] = "echo $$ >$0.new; mv $0.new $0; sleep 1000";
	struct runner *runner = start_with(script);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd, pid = 0;
	FILE *f;

	(void)state;
	assert_true(null >= 0);
	fd = runner_verify(runner, verify_digest(command(script)), &of, null, null);
	assert_true(fd >= 0);
	while (!(f = fopen(tmpfolder_file, "r")))
		usleep(1000);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	close(fd);
	while (!kill(pid, 0))
		usleep(1000);
	assert_true(runner_is_alive(runner));
	end_runner(runner);
	close(null);
	unlink(tmpfolder_file);
}

/* The runner that follows one that was killed. */
static void kill_one_runner(void)
{
	const pid_t parent_pid = parenttest_child_of(getpid());
	pid_t before, now;

	while (!(before = parenttest_child_of(parent_pid)))
		usleep(1000);
	kill(before, SIGKILL);
	while (!(now = parenttest_child_of(parent_pid)) || now == before)
		usleep(1000);
}

static void tells_that_a_child_has_ended(void **state)
{
	struct runner *runner = start_with("kill -KILL $PPID; exit 1");
	int status;

	(void)state;
	/* The child is killed, which would have told the end. */
	assert_int_equal(run_script(runner, "kill -KILL $PPID; exit 1", &status), ERR_CLOSED);
	assert_true(runner_is_alive(runner));
	end_runner(runner);
}

/* The configuration of the start, of a reload, and a text that was passed; and the one that is
 * being put in place. */
static void the_next_one_knows_what_is_in_force(void **state)
{
	struct runner *runner;
	int fd = make_text("exit 3"), status;

	(void)state;
	write_config("exit 1");
	runner = start_with("exit 1");
	kill_one_runner();
	assert_int_equal(run_script(runner, "exit 1", &status), 0);
	write_config("exit 2");
	runner_read_config(runner, -1);
	kill_one_runner();
	assert_int_equal(run_script(runner, "exit 2", &status), 0);
	runner_keep_config(runner);
	runner_read_config(runner, fd);
	kill_one_runner();
	assert_int_equal(run_script(runner, "exit 3", &status), 0);
	runner_keep_config(runner);
	close(fd);
	kill_one_runner();
	kill_one_runner();
	assert_int_equal(run_script(runner, "exit 3", &status), 0);
	runner_read_config(runner, -1);
	runner_keep_config(runner);
	kill_one_runner();
	assert_int_equal(run_script(runner, "exit 3", &status), ERR_NOT_FOUND);
	end_runner(runner);
	unlink(tmpfolder_file);
}

static void a_command_outlives_the_runner(void **state)
{
	static const char script[] = "read line <$0; test $line = end";
	struct runner *runner = start_with(script);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd, fifo, status = -1;

	(void)state;
	assert_int_equal(mkfifo(tmpfolder_file, 0600), 0);
	fd = runner_verify(runner, verify_digest(command(script)), &of, null, null);
	assert_true(fd >= 0);
	fifo = open(tmpfolder_file, O_WRONLY | O_CLOEXEC); /* it runs */
	kill_one_runner();
	dprintf(fifo, "end\n");
	close(fifo);
	while (recv(fd, &status, 1, MSG_PEEK) < 0)
		assert_int_equal(errno, EINTR);
	assert_int_equal(runner_end(fd, &status), 0);
	assert_int_equal(status, 0);
	close(fd);
	end_runner(runner);
	close(null);
	unlink(tmpfolder_file);
}

static void ends_with_its_parent(void **state)
{
	struct runner *runner = start_with("exit 0");
	int status;

	(void)state;
	assert_string_equal(runner_problem(runner), "");
	kill(parenttest_child_of(getpid()), SIGKILL);
	while (runner_is_alive(runner))
		usleep(1000);
	assert_int_equal(run_script(runner, "exit 0", &status), ERR_CLOSED);
	assert_string_not_equal(runner_problem(runner), "");
	end_runner(runner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(runs_what_the_configuration_has, end_running),
		cmocka_unit_test_teardown(gives_no_capability, end_running),
		cmocka_unit_test_teardown(reads_the_configuration_again, end_running),
		cmocka_unit_test_teardown(takes_a_text_only_of_the_owner, end_running),
		cmocka_unit_test_teardown(takes_no_text_that_others_may_write, end_running),
		cmocka_unit_test_teardown(takes_no_text_from_other_file_systems, end_running),
		cmocka_unit_test(an_empty_packet_is_not_the_end),
		cmocka_unit_test_teardown(bears_any_request, end_running),
		cmocka_unit_test_teardown(a_command_ends_with_the_daemon, end_running),
		cmocka_unit_test_teardown(tells_that_a_child_has_ended, end_running),
		cmocka_unit_test_teardown(the_next_one_knows_what_is_in_force, end_running),
		cmocka_unit_test_teardown(a_command_outlives_the_runner, end_running),
		cmocka_unit_test_teardown(ends_with_its_parent, end_running),
		cmocka_unit_test_teardown(waits_for_no_answer_for_ever, end_running),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
