/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread serves requests. For each command it forks a child, which starts the command, waits
 * for its end or for the daemon's, and tells it.
 */
#include "config/runner_process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "base/log.h"
#include "base/peer_end.h"
#include "base/kernel.h"
#include "base/sandbox.h"
#include "base/trusted_open.h"
#include "config/runner_files.h"
#include "config/verify.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define CHILDREN_MAX 64 /* the loader has at most 32 threads */

struct command {
	uint64_t digest;
	struct verify verify;
};

/* The commands of a configuration, by their digests. */
struct commands {
	struct command *list;
	size_t n;
	size_t cap;
};

/*
 * RUNNER_READ fills NEXT. RUNNER_KEEP moves it to NOW, and NOW to BEFORE: its loads may still run.
 * A configuration that is refused stays in NEXT until another is read.
 */
enum { COMMANDS_BEFORE, COMMANDS_NOW, COMMANDS_NEXT, COMMANDS_SETS };

struct process {
	int fd;
	int signal_fd; /* SIGCHLD */
	const char *path;
	struct commands sets[COMMANDS_SETS];
	struct runner_files files[COMMANDS_SETS];
	uint8_t digests[COMMANDS_SETS][CONFIG_DIGEST_BYTES]; /* config.digest; zeros: none */
	struct runner_opener opener;
	bool has_rights; /* CAP_DAC_READ_SEARCH, perhaps */
	unsigned int n_children;
};

/* A request with its descriptors, which are closed after it. */
struct arrived {
	struct runner_request request;
	int fds[RUNNER_FDS_MAX];
	unsigned int n_fds;
};

/* --- The commands of a configuration ---------------------------------------------------------- */

static void drop_commands(struct commands *set)
{
	for (size_t i = 0; i < set->n; i++)
		verify_fini(&set->list[i].verify);
	free(set->list);
	*set = (struct commands){ 0 };
}

static int compare_digests(const void *a, const void *b)
{
	const struct command *one = a, *other = b;

	return (one->digest > other->digest) - (one->digest < other->digest);
}

static const struct verify *find_in_set(const struct commands *set, uint64_t digest)
{
	const struct command key = { .digest = digest };
	const struct command *found =
		set->n ? bsearch(&key, set->list, set->n, sizeof(key), compare_digests) : NULL;

	return found ? &found->verify : NULL;
}

/* Zones of one template have the same command, and stand together most of the time. */
static int add_command(struct commands *set, const struct verify *verify)
{
	const uint64_t digest = verify->argv ? verify_digest(verify) : 0;
	struct command *list = set->list;

	if (!verify->argv || (set->n && list[set->n - 1].digest == digest))
		return 0;
	if (set->n == set->cap) {
		set->cap = set->cap ? set->cap * 2 : 16;
		list = reallocarray(list, set->cap, sizeof(*list));
		if (!list)
			return -ENOMEM;
		set->list = list;
	}
	list[set->n].digest = digest;
	return verify_copy(&list[set->n].verify, verify) ? -ENOMEM : (set->n++, 0);
}

static int collect_commands(struct commands *set, const struct config *config)
{
	int err = 0;

	for (uint32_t i = 0; i < config->n_zones && !err; i++)
		err = add_command(set, &config->zones[i].verify);
	for (uint32_t i = 0; i < config->n_templates && !err; i++)
		err = add_command(set, &config->templates[i].verify);
	if (set->n)
		qsort(set->list, set->n, sizeof(*set->list), compare_digests);
	return err;
}

static const struct verify *find_runner_command(const struct process *p, uint64_t digest)
{
	const struct verify *found = NULL;

	for (unsigned int i = 0; i < COMMANDS_SETS && !found; i++)
		found = find_in_set(&p->sets[i], digest);
	return found;
}

/* True if the daemon's user could have written the file, or put it there. */
static bool is_daemons_file(const char *path)
{
	bool is_askers = true;
	int fd = trusted_open(path, TRUSTED_FILE, &is_askers);

	if (fd < 0)
		return true;
	close(fd);
	return is_askers;
}

/* The first part of the configuration that is of the daemon's user; NULL: there is none. */
static const char *find_daemons_part(const struct process *p, const struct config *config, int text)
{
	struct stat st;

	if (!geteuid())
		return NULL;
	if (text >= 0 && (fstat(text, &st) || st.st_uid == geteuid()))
		return "a text that was passed";
	if (text < 0 && is_daemons_file(p->path))
		return p->path;
	for (uint32_t i = 0; i < config->n_files; i++)
		if (strcmp(config->files[i], p->path) != 0 && is_daemons_file(config->files[i]))
			return config->files[i];
	return NULL;
}

/*
 * A daemon that was broken into could make such a configuration name any file of the host. That of
 * the start was read before the daemon had read anything of strangers.
 */
static void check_operator(struct process *p, const struct config *config, int text)
{
	const char *part = p->has_rights ? find_daemons_part(p, config, text) : NULL;

	if (!part)
		return;
	p->has_rights = false;
	log_warn("%s: volleyd's user could have written it: files that this user may not read are "
		 "not opened any more: let the file and its folder belong to root, and start "
		 "volleyd again",
		 part);
	if (privilege_drop_all())
		_exit(EXIT_FAILURE);
}

/* The daemon's user must not be able to make a text with commands of its own. */
static int copy_commands(struct commands *to, const struct commands *from)
{
	int err = 0;

	for (size_t i = 0; i < from->n && !err; i++)
		err = add_command(to, &from->list[i].verify);
	return err;
}

/* A reload of a text that has not changed, perhaps with a million zones: its commands and files are
 * those of the configuration in force. */
static bool keeps_text(struct process *p)
{
	static const uint8_t none[CONFIG_DIGEST_BYTES];
	const uint8_t *digest = p->digests[COMMANDS_NOW];

	if (!memcmp(digest, none, sizeof(none)) || !config_has_digest(p->path, digest))
		return false;
	if (!copy_commands(&p->sets[COMMANDS_NEXT], &p->sets[COMMANDS_NOW]) &&
	    !runner_files_copy(&p->files[COMMANDS_NEXT], &p->files[COMMANDS_NOW])) {
		memcpy(p->digests[COMMANDS_NEXT], digest, sizeof(none));
		return true;
	}
	drop_commands(&p->sets[COMMANDS_NEXT]);
	runner_files_fini(&p->files[COMMANDS_NEXT]);
	return false;
}

static void read_runner_config(struct process *p, int fd)
{
	struct commands *next = &p->sets[COMMANDS_NEXT];
	struct runner_files *files = &p->files[COMMANDS_NEXT];
	struct config *config = NULL;
	char err[512] = "the text is not a sealed file of the owner of the configuration";
	int code = ERR_CONFIG;

	drop_commands(next);
	runner_files_fini(files);
	memset(p->digests[COMMANDS_NEXT], 0, CONFIG_DIGEST_BYTES);
	if (fd < 0 && keeps_text(p))
		return;
	if (fd < 0)
		code = config_load(&config, p->path, err, sizeof(err));
	else if (memory_file_is_of_owner(fd, p->path))
		code = config_load_as(&config, fd, p->path, p->path, err, sizeof(err));
	if (!code) {
		check_operator(p, config, fd);
		code = collect_commands(next, config);
		if (!code)
			code = runner_files_collect(files, &p->opener, config);
		if (code)
			snprintf(err, sizeof(err), "%s", err_text(code));
		else
			memcpy(p->digests[COMMANDS_NEXT], config->digest, CONFIG_DIGEST_BYTES);
	}
	config_free(config);
	if (code)
		log_debug("%s", err);
}

static void keep_runner_config(struct process *p)
{
	drop_commands(&p->sets[COMMANDS_BEFORE]);
	p->sets[COMMANDS_BEFORE] = p->sets[COMMANDS_NOW];
	p->sets[COMMANDS_NOW] = p->sets[COMMANDS_NEXT];
	p->sets[COMMANDS_NEXT] = (struct commands){ 0 };
	runner_files_fini(&p->files[COMMANDS_BEFORE]);
	p->files[COMMANDS_BEFORE] = p->files[COMMANDS_NOW];
	p->files[COMMANDS_NOW] = p->files[COMMANDS_NEXT];
	p->files[COMMANDS_NEXT] = (struct runner_files){ 0 };
	memcpy(p->digests[COMMANDS_NOW], p->digests[COMMANDS_NEXT], CONFIG_DIGEST_BYTES);
	memset(p->digests[COMMANDS_NEXT], 0, CONFIG_DIGEST_BYTES);
}

/* --- A child ---------------------------------------------------------------------------------- */

/* The daemon's threads block signals and ignore one; the command gets the defaults. */
static int set_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, all;
	int err;

	sigemptyset(&none);
	sigfillset(&all);
	err = posix_spawnattr_setsigmask(attr, &none);
	if (!err)
		err = posix_spawnattr_setsigdefault(attr, &all);
	if (!err)
		err = posix_spawnattr_setpgroup(attr, 0);
	return err ? err :
		     posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
							    POSIX_SPAWN_SETPGROUP);
}

static int set_verify_files(posix_spawn_file_actions_t *files, const struct arrived *a)
{
	int err = posix_spawn_file_actions_adddup2(files, a->fds[1], STDIN_FILENO);

	if (!err)
		err = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY,
						       0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(files, a->fds[2], STDERR_FILENO);
	return err ? err : posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
}

static int spawn(pid_t *pid, const struct arrived *a, char *const *argv, char *const *env)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int err = posix_spawn_file_actions_init(&files);

	if (err)
		return -err;
	err = posix_spawnattr_init(&attr);
	if (err) {
		posix_spawn_file_actions_destroy(&files);
		return -err;
	}
	err = set_verify_files(&files, a);
	if (!err)
		err = set_attributes(&attr);
	if (!err)
		err = posix_spawnp(pid, argv[0], &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -err;
}

static int spawn_verify(pid_t *pid, const struct arrived *a, const struct verify *verify)
{
	const struct runner_request *request = &a->request;
	const char *path = getenv("PATH");
	char *env[5] = { NULL };

	if (asprintf(&env[0], "PATH=%s", path ? path : DEFAULT_PATH) < 0 ||
	    asprintf(&env[1], "VOLLEY_ZONE=%s", request->zone) < 0 ||
	    asprintf(&env[2], "VOLLEY_SERIAL=%u", request->serial) < 0 ||
	    asprintf(&env[3], "VOLLEY_FILE=%s", request->file) < 0)
		return -ENOMEM;
	return spawn(pid, a, verify->argv, env);
}

/* Waits until the command ends, or the daemon closes its end. */
static void wait_for_either(pid_t pid, int channel)
{
	struct pollfd fds[] = { { .fd = pidfd_open(pid, 0), .events = POLLIN },
				{ .fd = channel, .events = POLLIN } };

	if (fds[0].fd < 0)
		return;
	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
}

/* Kills the rest of the group. waitpid() comes later, so the number still belongs to this group. */
static int reap(pid_t pid)
{
	int status = 0;

	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void close_arrived(struct arrived *a, unsigned int from)
{
	for (unsigned int i = from; i < a->n_fds; i++)
		close(a->fds[i]);
	a->n_fds = from < a->n_fds ? from : a->n_fds;
}

static void run_child(struct process *p, struct arrived *a, const struct verify *verify)
{
	struct runner_reply reply = { 0 };
	pid_t pid = 0;

	close(p->fd);
	close(p->signal_fd);
	reply.code = privilege_drop_all();
	if (!reply.code)
		reply.code = spawn_verify(&pid, a, verify);
	close_arrived(a, 1);
	if (!reply.code) {
		wait_for_either(pid, a->fds[0]);
		reply.status = reap(pid);
	}
	(void)!send(a->fds[0], &reply, sizeof(reply), MSG_NOSIGNAL);
	_exit(0);
}

/* --- Requests --------------------------------------------------------------------------------- */

static void refuse_runner_request(const struct arrived *a, int code)
{
	const struct runner_reply reply = { .code = code };

	(void)!send(a->fds[0], &reply, sizeof(reply), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The reply has the file. */
static void open_for_daemon(struct process *p, const struct arrived *a)
{
	const struct runner_request *r = &a->request;
	int fd = r->kind == RUNNER_OPEN ?
			 runner_files_open(&p->opener, p->files, COMMANDS_SETS, r->file, r->from) :
			 runner_files_open_folder(&p->opener, p->files, COMMANDS_SETS, r->file);
	struct runner_reply reply = { .code = fd < 0 ? fd : 0 };

	(void)!runner_send(a->fds[0], &reply, sizeof(reply), &fd, fd >= 0, MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
}

static void start_child(struct process *p, struct arrived *a)
{
	const struct verify *verify = find_runner_command(p, a->request.digest);
	pid_t pid;

	if (!verify) {
		refuse_runner_request(a, ERR_NOT_FOUND);
		return;
	}
	if (p->n_children >= CHILDREN_MAX) {
		refuse_runner_request(a, -EAGAIN);
		return;
	}
	pid = fork();
	if (!pid)
		run_child(p, a, verify);
	if (pid < 0)
		refuse_runner_request(a, -errno);
	else
		p->n_children++;
}

bool runner_request_is_right(const struct runner_request *request, unsigned int n_fds)
{
	if (request->zone[RUNNER_NAME_CAP - 1] || request->file[PATH_MAX - 1] ||
	    request->from[PATH_MAX - 1])
		return false;
	switch (request->kind) {
	case RUNNER_VERIFY:
		return n_fds == RUNNER_FDS_MAX;
	case RUNNER_OPEN:
	case RUNNER_OPEN_FOLDER:
		return n_fds == 1;
	case RUNNER_READ:
		return n_fds <= 1;
	case RUNNER_KEEP:
		return !n_fds;
	default:
		return false;
	}
}

static void obey_request(struct process *p, struct arrived *a)
{
	if (!runner_request_is_right(&a->request, a->n_fds))
		return;
	switch (a->request.kind) {
	case RUNNER_READ:
		read_runner_config(p, a->n_fds ? a->fds[0] : -1);
		break;
	case RUNNER_KEEP:
		keep_runner_config(p);
		break;
	case RUNNER_VERIFY:
		start_child(p, a);
		break;
	default:
		open_for_daemon(p, a);
	}
}

/* False: the daemon has ended. */
static bool receive_request(struct process *p)
{
	struct arrived a = { .n_fds = 0 };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(RUNNER_FDS_MAX * sizeof(int))];
	} control;
	struct iovec part = { &a.request, sizeof(a.request) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  /* not the room, whose padding would take one more */
				  .msg_controllen = CMSG_LEN(sizeof(a.fds)) };
	ssize_t n = recvmsg(p->fd, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	if (n < 0)
		return errno == EINTR;
	if (!n)
		return !peer_has_ended(p->fd);
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
		a.n_fds = (unsigned int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(a.fds, CMSG_DATA(head), a.n_fds * sizeof(int));
	}
	if (n == (ssize_t)sizeof(a.request) && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		obey_request(p, &a);
	close_arrived(&a, 0);
	return true;
}

static void reap_children(struct process *p)
{
	struct signalfd_siginfo info;

	(void)!read(p->signal_fd, &info, sizeof(info));
	while (p->n_children && waitpid(-1, NULL, WNOHANG) > 0)
		p->n_children--;
}

static int open_process(struct process *p, const struct config *config, bool is_next)
{
	sigset_t signals;
	int err;

	/* Signals of the terminal and of systemd are for the daemon. */
	sigfillset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	p->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p->signal_fd < 0)
		return -errno;
	prctl(PR_SET_NAME, "volley-runner");
	p->path = config->path;
	err = runner_opener_init(&p->opener);
	if (!err && !is_next)
		err = runner_files_collect(&p->files[COMMANDS_NOW], &p->opener, config);
	if (!err && !is_next)
		err = collect_commands(&p->sets[COMMANDS_NOW], config);
	if (!is_next)
		memcpy(p->digests[COMMANDS_NOW], config->digest, CONFIG_DIGEST_BYTES);
	if (err || !is_next)
		return err;
	read_runner_config(p, -1);
	keep_runner_config(p);
	return 0;
}

int runner_serve(int fd, struct config *config, bool is_next)
{
	struct process p = { .fd = fd, .has_rights = true };
	struct pollfd fds[2] = { { .fd = fd, .events = POLLIN }, { .events = POLLIN } };
	int err = open_process(&p, config, is_next);

	config_forget_zones(config);
	if (!err)
		err = privilege_drop_thread();
	if (err)
		log_error("%s", err_text(err));
	else
		sandbox_start_process(SANDBOX_RUNNER);
	fds[1].fd = p.signal_fd;
	while (!err) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			reap_children(&p);
		if (fds[0].revents && !receive_request(&p))
			break;
	}
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

void runner_process(int fd, struct config *config, bool is_next)
{
	_exit(runner_serve(fd, config, is_next));
}
