/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/parent.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/activation.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/kernel.h"
#include "base/log.h"
#include "base/sandbox.h"

#define NAME         "volley-parent"
#define STARTERS_MAX 8 /* a reload has two resolvers for a moment */
#define PAUSE_MIN_MS 10
#define PAUSE_MAX_MS 1000 /* between a child that ends at once and the next one */
/* From the end of a connection to that of the daemon, which has closed it because it stops. */
#define LET_GO_MS 60000

struct child {
	struct parent_child is;
	pid_t pid;      /* 0: it does not run, or in a unit */
	int connection; /* to its unit (base/activation.h); -1: it does not run there */
	bool is_next;
	bool is_done; /* the daemon has let it go */
	bool is_told; /* that it has, and goes on */
	uint64_t done_ns;
	bool is_ready; /* its unit's process has said so */
	char told[sizeof(((struct activation_report *)NULL)->why)]; /* why its unit gives none */
	uint64_t begun_ns;
	uint64_t due_ns;
	unsigned int pause_ms;
};

static struct {
	struct child children[PARENT_CHILDREN_MAX];
	unsigned int n_children;
	int fd; /* the daemon's end */
	pid_t pid;
} parent = { .fd = -1 };

/* The process itself. */
struct parent_process {
	int fd;
	int signal_fd;
	const struct executable *program;
	unsigned int n_starters;
	const char *units; /* the folder of the sockets; NULL: the children are forked */
	pid_t daemon;
	uint64_t let_go_ns; /* 0: the daemon has not let the parent go */
	bool is_told;
};

/* --- A new process ---------------------------------------------------------------------------- */

static int compare_kept_files(const void *a, const void *b)
{
	const int *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/* Closes all files but the standard ones and these n: others must end with the process that they
 * belong to. */
static void close_all_but(int *fds, unsigned int n, const char *name)
{
	unsigned int from = STDERR_FILENO + 1;

	qsort(fds, n, sizeof(*fds), compare_kept_files);
	for (unsigned int i = 0; i < n; i++) {
		if (fds[i] < (int)from)
			continue;
		if (from < (unsigned int)fds[i])
			(void)close_range(from, (unsigned int)fds[i] - 1, 0);
		from = (unsigned int)fds[i] + 1;
	}
	(void)close_range(from, ~0u, 0);
	prctl(PR_SET_NAME, name, 0, 0, 0);
	log_open(name, log_get_level());
}

/* Ends with the process above. False: that has ended already. */
static bool end_with_the_one_above(pid_t above)
{
	return !prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) && getppid() == above;
}

static void run_one_child(struct child *c, pid_t above)
{
	int status = 1;

	if (end_with_the_one_above(above)) {
		close_all_but(c->is.fds, c->is.n_fds, c->is.name);
		status = c->is.run(c->is.user, c->is_next);
		log_close();
	}
	_exit(status);
}

static void plan_next_child(struct child *c)
{
	const uint64_t now_ns = clock_ns();

	if (!c->pause_ms || now_ns - c->begun_ns > CLOCK_NS_PER_S)
		c->pause_ms = PAUSE_MIN_MS;
	c->due_ns = now_ns + c->pause_ms * CLOCK_NS_PER_MS;
	c->pause_ms = c->pause_ms * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS : c->pause_ms * 2;
}

/* Another one follows. */
static void end_one_child(struct child *c)
{
	log_flush();
	if (c->is.on_end)
		c->is.on_end(c->is.user);
	plan_next_child(c);
}

/* Where it runs in a unit, it has no copy of the daemon's memory. */
static int start_child_in_unit(const struct parent_process *p, struct child *c)
{
	const int fd = activation_open(p->units, c->is.name, p->daemon, c->is.fds, c->is.n_fds);

	c->connection = fd < 0 ? -1 : fd;
	c->is_ready = false;
	return fd < 0 ? fd : 0;
}

static int fork_one_child(struct child *c)
{
	const pid_t self = getpid(), pid = fork();

	if (!pid)
		run_one_child(c, self);
	c->pid = pid < 0 ? 0 : pid;
	return pid < 0 ? -errno : 0;
}

/* At error when the reason is new: it is tried again every second. */
static void tell_problem(struct child *c, const char *before, const char *why, const char *after)
{
	log_line(strcmp(c->told, why) ? LOG_LEVEL_ERROR : LOG_LEVEL_DEBUG, "%s: %s%s%s", c->is.name,
		 before, why, after);
	snprintf(c->told, sizeof(c->told), "%s", why);
}

static void start_one_child(const struct parent_process *p, struct child *c)
{
	int err = p->units ? start_child_in_unit(p, c) : fork_one_child(c);

	c->begun_ns = clock_ns();
	if (!c->is_next && c->is.on_first)
		c->is.on_first(c->is.user);
	c->is_next = true;
	if (!err)
		return;
	tell_problem(c, "cannot be started: ", err_text(err), "");
	end_one_child(c);
}

/* A daemon that serves has no reason to close a connection: it has a fault, or was broken into. */
static void tell_let_go(const char *name, uint64_t since_ns, bool *is_told)
{
	if (*is_told || !since_ns || clock_ns() - since_ns < LET_GO_MS * CLOCK_NS_PER_MS)
		return;
	*is_told = true;
	log_error("%s: volleyd has closed the connection to it, and goes on without it: a fault of "
		  "volleyd, or a break-in: start volleyd again",
		  name);
}

static bool does_child_run(const struct child *c)
{
	return c->pid || c->connection >= 0;
}

/* Starts each child that is due. How long to wait for the next one, in ms; -1: for ever. */
static int start_due_children(const struct parent_process *p)
{
	int wait_ms = -1, ms;
	uint64_t now_ns;

	for (unsigned int i = 0; i < parent.n_children; i++) {
		struct child *c = &parent.children[i];

		if (does_child_run(c) || c->is_done)
			continue;
		if (clock_ns() >= c->due_ns)
			start_one_child(p, c);
		if (does_child_run(c))
			continue;
		now_ns = clock_ns();
		ms = c->due_ns > now_ns ? (int)((c->due_ns - now_ns) / CLOCK_NS_PER_MS) + 1 : 0;
		wait_ms = wait_ms < 0 || ms < wait_ms ? ms : wait_ms;
	}
	return wait_ms;
}

/* --- Ends ------------------------------------------------------------------------------------- */

static void finish_child(struct child *c)
{
	c->is_done = true;
	c->done_ns = clock_ns();
}

static void end_forked_child(struct child *c, int status)
{
	c->pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		finish_child(c);
		return;
	}
	log_error("%s: it has ended by %s %d: the next one starts", c->is.name,
		  WIFSIGNALED(status) ? "signal" : "status",
		  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	end_one_child(c);
}

/* A unit's process reports, or its end of the connection is closed. */
static void hear_unit(struct child *c)
{
	struct activation_report report;
	int err = activation_hear(c->connection, &report);

	if (err == -EAGAIN)
		return;
	if (!err && report.state == ACTIVATION_READY) {
		c->is_ready = true;
		c->told[0] = 0;
		return;
	}
	if (!err && report.state == ACTIVATION_DONE) {
		finish_child(c);
		return;
	}
	close(c->connection);
	c->connection = -1;
	if (c->is_done)
		return;
	tell_problem(c, "", err ? "its unit's process has ended" : report.why,
		     ": the next one starts");
	if (c->is_ready)
		c->told[0] = 0;
	end_one_child(c);
}

static void take_end(struct parent_process *p, pid_t pid, int status)
{
	for (unsigned int i = 0; i < parent.n_children; i++)
		if (parent.children[i].pid == pid) {
			end_forked_child(&parent.children[i], status);
			return;
		}
	p->n_starters--;
}

static void reap_all(struct parent_process *p)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(p->signal_fd, &info, sizeof(info)) > 0)
		continue;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		take_end(p, pid, status);
}

/* --- Requests --------------------------------------------------------------------------------- */

static void fork_starter(struct parent_process *p, struct starter_request *request)
{
	const pid_t self = getpid();
	struct executable program = *p->program;
	int fds[] = { request->channel, request->file, program.fd };
	pid_t pid;

	if (p->n_starters >= STARTERS_MAX) {
		starter_refuse(request, -EAGAIN);
		return;
	}
	pid = fork();
	if (!pid) {
		if (!end_with_the_one_above(self))
			_exit(1);
		close_all_but(fds, sizeof(fds) / sizeof(fds[0]), "volley-starter");
		starter_run(&program, request);
		_exit(0);
	}
	if (pid < 0)
		starter_refuse(request, -errno);
	else
		p->n_starters++;
}

/* The process of a unit is the starter. */
static void pass_to_unit(const struct parent_process *p, const struct starter_request *request)
{
	int fd = activation_connect(p->units, "volley-resolver");
	int err = fd < 0 ? fd : starter_pass(fd, request);

	if (fd >= 0)
		close(fd);
	if (err)
		starter_refuse(request, err);
}

/* False: the daemon has ended, or has let the parent go. */
static bool obey_daemon(struct parent_process *p)
{
	struct starter_request request;
	int err = starter_receive(p->fd, &request);

	if (!err) {
		if (p->units)
			pass_to_unit(p, &request);
		else
			fork_starter(p, &request);
		starter_close(&request);
	}
	return err != ERR_CLOSED;
}

static bool are_children_done(void)
{
	for (unsigned int i = 0; i < parent.n_children; i++)
		if (does_child_run(&parent.children[i]))
			return false;
	return true;
}

static int open_parent(struct parent_process *p, int (*drop)(void))
{
	int fds[2 + PARENT_CHILDREN_MAX * PARENT_FDS_MAX], n = 0;
	sigset_t signals;

	fds[n++] = p->fd;
	fds[n++] = p->program->fd;
	for (unsigned int i = 0; i < parent.n_children; i++)
		for (unsigned int j = 0; j < parent.children[i].is.n_fds; j++)
			fds[n++] = parent.children[i].is.fds[j];
	close_all_but(fds, (unsigned int)n, NAME);
	if ((p->units ? privilege_drop_all() : drop()) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		log_warn("capabilities that are not needed could not be given up");
	/* Signals of the terminal and of systemd are for the daemon. */
	sigfillset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	p->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return p->signal_fd < 0 ? -errno : 0;
}

static void tell_all_let_go(struct parent_process *p)
{
	tell_let_go(NAME, p->let_go_ns, &p->is_told);
	for (unsigned int i = 0; i < parent.n_children; i++)
		tell_let_go(parent.children[i].is.name, parent.children[i].done_ns,
			    &parent.children[i].is_told);
}

/* While something may have to be told, the parent looks again after LET_GO_MS. */
static int limit_parent_wait(const struct parent_process *p, int wait_ms)
{
	bool is_let_go = p->let_go_ns && !p->is_told;

	for (unsigned int i = 0; i < parent.n_children; i++)
		is_let_go |= parent.children[i].is_done && !parent.children[i].is_told;
	return is_let_go && (wait_ms < 0 || wait_ms > LET_GO_MS) ? LET_GO_MS + 10 : wait_ms;
}

enum { AT_DAEMON, AT_SIGNAL, AT_CHILDREN };

/* Waits for the next event, at most wait_ms. */
static void poll_all(const struct parent_process *p, struct pollfd *fds, int wait_ms)
{
	fds[AT_SIGNAL] = (struct pollfd){ .fd = p->signal_fd, .events = POLLIN };
	for (unsigned int i = 0; i < parent.n_children; i++)
		fds[AT_CHILDREN + i] =
			(struct pollfd){ .fd = parent.children[i].connection, .events = POLLIN };
	if (poll(fds, AT_CHILDREN + parent.n_children, wait_ms) < 0 && errno != EINTR)
		_exit(1);
}

static void run_parent(struct parent_process *p, int (*drop)(void))
{
	struct pollfd fds[AT_CHILDREN + PARENT_CHILDREN_MAX] = {
		[AT_DAEMON] = { .fd = p->fd, .events = POLLIN }
	};
	bool has_daemon = true;

	if (open_parent(p, drop) || !end_with_the_one_above(p->daemon))
		_exit(1);
	sandbox_start_process(p->units ? SANDBOX_CONNECTOR : SANDBOX_PARENT);
	while (has_daemon || !are_children_done()) {
		poll_all(p, fds, limit_parent_wait(p, has_daemon ? start_due_children(p) : -1));
		if (fds[AT_SIGNAL].revents)
			reap_all(p);
		for (unsigned int i = 0; i < parent.n_children; i++)
			if (fds[AT_CHILDREN + i].revents)
				hear_unit(&parent.children[i]);
		if (has_daemon && fds[AT_DAEMON].revents)
			has_daemon = obey_daemon(p);
		if (!has_daemon) {
			fds[AT_DAEMON].fd = -1;
			p->let_go_ns = p->let_go_ns ? p->let_go_ns : clock_ns();
		}
		tell_all_let_go(p);
		sandbox_tick();
		log_flush();
	}
	_exit(0);
}

/* --- The daemon's side ------------------------------------------------------------------------ */

void parent_add(const struct parent_child *child)
{
	if (parent.n_children < PARENT_CHILDREN_MAX)
		parent.children[parent.n_children++] =
			(struct child){ .is = *child, .connection = -1 };
}

static void drop_children(void)
{
	while (parent.n_children) {
		const struct parent_child *is = &parent.children[--parent.n_children].is;

		for (unsigned int i = 0; i < is->n_fds; i++)
			close(is->fds[i]);
	}
}

int parent_start(const struct executable *program, int (*drop)(void))
{
	struct parent_process p = {
		.program = program,
		.units = activation_folder(),
		.daemon = getpid(),
	};
	int ends[2], err = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		err = -errno;
		drop_children();
		return err;
	}
	parent.pid = fork();
	if (!parent.pid) {
		p.fd = ends[1];
		run_parent(&p, drop);
	}
	if (parent.pid < 0)
		err = -errno;
	close(ends[1]);
	drop_children();
	if (err)
		close(ends[0]);
	else
		parent.fd = ends[0];
	return err;
}

bool parent_is_there(void)
{
	return parent.fd >= 0;
}

bool parent_is_alive(void)
{
	struct pollfd at = { .fd = parent.fd };

	return parent.fd >= 0 && poll(&at, 1, 0) >= 0 && !(at.revents & (POLLHUP | POLLERR));
}

void parent_stop(int wait_ms)
{
	struct pollfd end = { .fd = parent.fd };

	if (parent.fd < 0)
		return;
	shutdown(parent.fd, SHUT_WR);
	/* if it hangs, it ends with this process */
	if (poll(&end, 1, wait_ms) > 0)
		while (waitpid(parent.pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	close(parent.fd);
	parent.fd = -1;
}

int parent_execute(enum executable_task task, int fd, struct started *out)
{
	return starter_ask(parent.fd, task, fd, out);
}
