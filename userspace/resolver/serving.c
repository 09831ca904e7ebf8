/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/serving.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unbound.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/kernel.h"
#include "base/sandbox.h"
#include "resolver/config_wire.h"
#include "resolver/confinement.h"
#include "resolver/desk.h"
#include "resolver/given_files.h"
#include "resolver/resolver.h"
#include "resolver/shared_memory.h"
#include "resolver/thread.h"
#include "tap/outlet.h"

#define LOG_FOLLOW_MS 250

struct door {
	int fd;
	struct resolver_thread *thread;
	struct event *event;
};

struct serving {
	int socket_fd;
	struct shared_hello hello;
	struct shared_layout layout;
	uint8_t *memory;
	struct resolver_config config;
	void *config_memory;
	struct tap_producer *told[RESOLVER_THREADS_MAX];
	struct door doors[RESOLVER_THREADS_MAX];
	int *bells;
	struct desk *desks;
	uint32_t n_desks_open;
	struct resolver *resolver;
};

static struct shared_words *words_of(const struct serving *s)
{
	return (struct shared_words *)(void *)(s->memory + s->layout.totals_at);
}

/* --- What the server sends -------------------------------------------------------------------- */

/* One message with exactly n files. 0, -EPROTO or -errno. */
static int receive_files(int socket_fd, void *out, size_t bytes, int *fds, unsigned int n)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(SHARED_FDS_MAX * sizeof(int))];
	} control;
	struct iovec part = { out, bytes };
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(socket_fd, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	if (got < 0)
		return -errno;
	if ((size_t)got != bytes || msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || !c ||
	    c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(n * sizeof(int)))
		return -EPROTO;
	memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	return 0;
}

static int receive_many(int socket_fd, int *fds, unsigned int n)
{
	int err = 0;
	char octet;

	for (unsigned int at = 0; at < n && !err; at += SHARED_FDS_MAX) {
		unsigned int now = n - at < SHARED_FDS_MAX ? n - at : SHARED_FDS_MAX;

		err = receive_files(socket_fd, &octet, 1, fds + at, now);
	}
	return err;
}

static int map_shared(struct serving *s, int fd)
{
	struct stat st;

	shared_layout_make(&s->layout, &s->hello.sizes);
	if (s->layout.total != s->hello.total || fstat(fd, &st) ||
	    (uint64_t)st.st_size != s->hello.total)
		return -EPROTO;
	s->memory = mmap(NULL, s->layout.total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s->memory != MAP_FAILED)
		return 0;
	s->memory = NULL;
	return -errno;
}

/* 0; -EPROTO; or ERR_CONFIG with a sentence for the server. */
static int check_hello(struct shared_hello *hello, char *why, size_t cap)
{
	hello->version[sizeof(hello->version) - 1] = 0;
	if (strcmp(hello->version, VOLLEY_VERSION) != 0) {
		snprintf(why, cap,
			 "volley-resolver is " VOLLEY_VERSION ", and volleyd is %s: install both "
			 "from one package",
			 hello->version);
		return ERR_CONFIG;
	}
	return hello->sizes.n_threads && hello->sizes.n_threads <= RESOLVER_THREADS_MAX &&
			       hello->sizes.n_desks <= SHARED_DESKS_MAX ?
		       0 :
		       -EPROTO;
}

static int receive_hello(struct serving *s, char *why, size_t cap)
{
	struct shared_hello *hello = &s->hello;
	int fd, doors[RESOLVER_THREADS_MAX], given[GIVEN_FILES_MAX];
	int err = receive_files(s->socket_fd, hello, sizeof(*hello), &fd, 1);

	if (err)
		return err;
	err = check_hello(hello, why, cap);
	err = err ? err : map_shared(s, fd);
	close(fd);
	s->bells = calloc(hello->sizes.n_desks + 1, sizeof(*s->bells));
	s->desks = calloc(hello->sizes.n_desks + 1, sizeof(*s->desks));
	if (!err && (!s->bells || !s->desks))
		err = -ENOMEM;
	err = err ? err : receive_many(s->socket_fd, doors, hello->sizes.n_threads);
	for (uint32_t i = 0; i < hello->sizes.n_threads && !err; i++)
		s->doors[i].fd = doors[i];
	err = err ? err : receive_many(s->socket_fd, s->bells, hello->sizes.n_desks);
	err = err ? err :
		    config_wire_read(&s->config, &s->config_memory, s->memory,
				     hello->sizes.config_bytes);
	err = err ? err : receive_many(s->socket_fd, given, given_files_n(hello->given));
	if (!err)
		given_files_take(&s->config, given, hello->given);
	return err;
}

/* --- Desks ------------------------------------------------------------------------------------ */

/* Nonsense from the server: a fault of ours, and the process is of no more use. */
static void on_door(evutil_socket_t fd, short events, void *user)
{
	struct door *door = user;
	uint8_t knocks[64];

	(void)events;
	(void)recv(fd, knocks, sizeof(knocks), MSG_DONTWAIT);
	if (desks_read(door->thread)) {
		log_error("the server's questions cannot be read");
		abort();
	}
}

static int open_door(struct serving *s, struct resolver *resolver, uint32_t i)
{
	struct door *door = &s->doors[i];

	door->thread = resolver_thread_at(resolver, i);
	door->event = event_new(door->thread->base, door->fd, EV_READ | EV_PERSIST, on_door, door);
	if (!door->event || event_add(door->event, NULL))
		return -ENOMEM;
	event_active(door->event, EV_READ, 0); /* the first look makes the desks wait */
	return 0;
}

static int open_desk(struct serving *s, struct resolver *resolver, uint32_t i)
{
	uint8_t *at = s->memory + s->layout.desks_at + i * s->layout.desk_bytes;
	struct resolver_thread *thread = resolver_thread_at(resolver, i % s->config.n_threads);
	const struct desk_config config = {
		.questions = at,
		.replies = at + s->layout.replies_at,
		.bell_fd = s->bells[i],
		.n_questions = s->config.max_outstanding,
		.is_alone = s->config.n_threads == 1,
	};

	s->n_desks_open = i + 1;
	return desk_open(&s->desks[i], resolver, thread, &config);
}

/* All files were read, and no thread runs: from here on the process has no right left. */
static int furnish_serving(void *user, struct resolver *resolver)
{
	struct serving *s = user;
	int err = 0;

	for (uint32_t i = 0; i < s->hello.sizes.n_desks && !err; i++)
		err = open_desk(s, resolver, i);
	for (uint32_t i = 0; i < s->config.n_threads && !err; i++)
		err = open_door(s, resolver, i);
	if (!err)
		err = privilege_drop_all();
	if (!err)
		confinement_start(resolver, &s->config);
	/* Before it, a call that control may not make would end the process. */
	if (!err && sandbox_start(SANDBOX_RESOLVER))
		log_warn("%s", sandbox_problem());
	return err;
}

/* --- Life ------------------------------------------------------------------------------------- */

static int start_serving(struct serving *s, char *why, size_t cap)
{
	struct resolver_place place = {
		.boards = { .totals = &words_of(s)->totals,
			    .first = s->memory + s->layout.boards_at,
			    .stride = s->layout.board_bytes },
		.told = s->told,
		.furnish = furnish_serving,
		.user = s,
	};

	if (s->config.n_threads != s->hello.sizes.n_threads ||
	    targets_n_rows(&s->config) > s->hello.sizes.n_targets)
		return -EPROTO;
	for (uint32_t i = 0; i < s->config.n_threads; i++)
		s->told[i] = tap_outlet_open(
			(struct tap_outlet_shared *)(void *)(s->memory + s->layout.taps_at +
							     i * s->layout.tap_bytes),
			SHARED_TAP_CAP);
	return resolver_start(&s->resolver, &s->config, &place, why, cap);
}

static void follow_log(const struct serving *s)
{
	const struct shared_words *words = words_of(s);

	log_set_level((enum log_level)__atomic_load_n(&words->log_level, __ATOMIC_RELAXED));
	log_set_format((enum log_format)__atomic_load_n(&words->log_format, __ATOMIC_RELAXED));
	log_flush();
	sandbox_tick();
}

/* Waits for the end of the socket. */
static void wait_for_server(const struct serving *s)
{
	struct pollfd fd = { .fd = s->socket_fd, .events = POLLIN };

	while (poll(&fd, 1, LOG_FOLLOW_MS) <= 0)
		follow_log(s);
}

static void close_serving(struct serving *s)
{
	if (s->resolver)
		resolver_stop(s->resolver);
	for (uint32_t i = 0; i < s->n_desks_open; i++)
		desk_close(&s->desks[i]);
	for (uint32_t i = 0; i < RESOLVER_THREADS_MAX; i++)
		if (s->doors[i].event)
			event_free(s->doors[i].event);
	resolver_free(s->resolver);
	free(s->config_memory);
	free(s->bells);
	free(s->desks);
	if (s->memory)
		munmap(s->memory, s->layout.total);
}

/* The end of the thread that started this process ends it, too, even if that thread hangs. */
static void bind_to_server(void)
{
	const struct rlimit none = { 0, 0 };
	struct rlimit files;

	/* There is a socket for each question upstream. */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	setrlimit(RLIMIT_CORE, &none);
}

int serve_run(int socket_fd)
{
	struct serving s = { .socket_fd = socket_fd };
	struct shared_started started = { 0 };

	prctl(PR_SET_NAME, "volley-resolver"); /* it was executed by the number of a file */
	close_range((unsigned int)socket_fd + 1, ~0U, 0);
	bind_to_server();
	signal(SIGPIPE, SIG_IGN);
	started.code = receive_hello(&s, started.err, sizeof(started.err));
	if (started.code) {
		if (send(socket_fd, &started, sizeof(started), MSG_NOSIGNAL) < 0)
			fprintf(stderr, "volley-resolver: it is started by volleyd: %s\n",
				err_text(started.code));
		return EXIT_FAILURE;
	}
	log_open("volley-resolver", LOG_LEVEL_NOTICE);
	follow_log(&s);
	snprintf(started.libunbound, sizeof(started.libunbound), "%s", ub_version());
	started.code = start_serving(&s, started.err, sizeof(started.err));
	if (send(socket_fd, &started, sizeof(started), MSG_NOSIGNAL) == sizeof(started) &&
	    !started.code)
		wait_for_server(&s);
	close_serving(&s);
	sandbox_tick();
	log_close();
	return EXIT_SUCCESS;
}
