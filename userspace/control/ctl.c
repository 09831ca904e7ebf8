/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections and octets of the control socket; ctl_request.c reads the lines. */
#include "control/ctl.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/audit.h"
#include "base/err.h"
#include "control/ctl_request.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* Linux 6.16 */
#endif

#define BACKLOG 16
/* of one client, before the others have their turn */
#define TURN_LINES 8
/* when descriptors ran out, accept() is tried again after this time */
#define RETRY_NS 1000000000ull
#define N_EVENTS (CTL_CLIENTS_CAP + 1)

struct client {
	int fd; /* -1: the place is free */
	/* the client sends no more: close it when the reply is sent */
	bool at_end;
	uint64_t ticket;   /* of the request whose reply comes later; 0: none */
	uint64_t since_ns; /* its request or reply has taken time since then */
	struct rights_peer peer;
	int file;                     /* sent with the request that is being read; -1: none */
	struct ctl_request_told told; /* the request that waits for its reply */
	/* the last command, if it only read: the audit reports repetitions once */
	const struct ctl_command *watched;
	char *in; /* CTL_LINE_BYTES */
	size_t n_in;
	char *out; /* the reply being sent, NULL: none */
	size_t n_out;
	size_t out_at;
};

struct ctl {
	int epoll_fd;
	int listen_fd;
	bool may_others;   /* the mode lets other users in */
	bool is_stopping;  /* ctl_stop() */
	uint64_t retry_ns; /* 0: listening */
	struct sockaddr_un addr;
	struct stat file; /* the socket file that this daemon made */
	const struct ctl_command *commands;
	void *user;
	const struct rights *rights;
	uint64_t n_requests;    /* the ticket of the last request */
	struct client *running; /* its request runs now */
	struct hangup *hangup;
	struct client clients[CTL_CLIENTS_CAP];
};

static const struct rights all_read;

/* epoll knows a client by its place, and the listening socket by the place after the last one. */
#define LISTEN_PLACE CTL_CLIENTS_CAP

static int watch_ctl(struct ctl *ctl, int op, int fd, uint32_t place, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u32 = place };

	return epoll_ctl(ctl->epoll_fd, op, fd, &event) ? -errno : 0;
}

static uint32_t place_of_ctl(const struct ctl *ctl, const struct client *client)
{
	return (uint32_t)(client - ctl->clients);
}

/* One line for each command, with its result. */
static void audit_request(const struct client *client, const struct ctl_request_told *told,
			  uint64_t now_ns)
{
	char uid[16], pid[16];
	const struct log_field fields[] = {
		{ "command", told->words },
		{ "result", told->result },
		{ "uid", uid },
		{ "peer_pid", pid },
	};

	snprintf(uid, sizeof(uid), "%u", (unsigned int)client->peer.id.uid);
	snprintf(pid, sizeof(pid), "%d", (int)client->peer.id.pid);
	audit(!told->command                   ? AUDIT_COMMAND_REFUSED :
	      told->command->kind <= CTL_READS ? AUDIT_COMMAND_READ :
						 AUDIT_COMMAND,
	      now_ns, fields, sizeof(fields) / sizeof(fields[0]));
}

/*
 * volleyctl top asks once a second over one connection: the audit has one line for all of that. The
 * program that announces addresses asks for health each second, over new connections: there is no
 * line.
 */
static bool is_told_already(struct client *client)
{
	const struct ctl_command *command = client->told.command;
	const bool is_again = command && command == client->watched;

	client->watched = command && command->kind <= CTL_READS &&
					  !strcmp(client->told.result, "ok") ?
				  command :
				  NULL;
	return client->watched && (is_again || command->kind == CTL_HEALTH);
}

static void drop_file(struct client *client)
{
	if (client->file >= 0)
		close(client->file);
	client->file = -1;
}

/*
 * The client is removed from epoll first. A process that is being started may still hold the
 * descriptor. Then epoll would report the connection under a place that another client has by then.
 */
static void drop_client(struct ctl *ctl, struct client *client)
{
	(void)watch_ctl(ctl, EPOLL_CTL_DEL, client->fd, place_of_ctl(ctl, client), 0);
	hangup_close(ctl->hangup, client->fd);
	drop_file(client);
	rights_peer_fini(&client->peer);
	free(client->in);
	free(client->out);
	*client = (struct client){ .fd = -1, .file = -1 };
}

/* Sends as much as the socket takes. False: the client is gone. */
static bool send_reply(struct client *client, uint64_t now_ns)
{
	while (client->out) {
		ssize_t put = send(client->fd, client->out + client->out_at,
				   client->n_out - client->out_at, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (put < 0)
			return errno == EAGAIN || errno == EINTR;
		client->out_at += (size_t)put;
		if (client->out_at < client->n_out)
			continue;
		client->since_ns = now_ns;
		free(client->out);
		client->out = NULL;
	}
	return true;
}

static void set_reply(struct client *client, char *reply)
{
	client->out = reply;
	client->n_out = reply ? strlen(reply) : 0;
	client->out_at = 0;
	client->at_end |= !reply;
}

static void run_ctl_line(struct ctl *ctl, struct client *client, const char *line, size_t len,
			 uint64_t now_ns)
{
	uint64_t ticket = ++ctl->n_requests;
	bool is_later = false;
	char *reply;

	ctl->running = client;
	reply = ctl_request_run(ctl->commands, ctl->user, rights_of(ctl->rights, &client->peer),
				line, len, &is_later, &client->told);
	ctl->running = NULL;
	drop_file(client);
	if (is_later) {
		client->ticket = ticket;
	} else {
		if (!is_told_already(client))
			audit_request(client, &client->told, now_ns);
		set_reply(client, reply);
	}
	client->since_ns = now_ns;
}

/* True if a request waits for the next turn of this client. */
static bool has_line(const struct client *client)
{
	return !client->out && !client->ticket && memchr(client->in, '\n', client->n_in);
}

/*
 * Answers at most TURN_LINES whole lines, as long as the replies can be sent at once. False: the
 * client is gone.
 */
static bool run_lines(struct ctl *ctl, struct client *client, uint64_t now_ns)
{
	size_t from = 0;
	bool is_alive = send_reply(client, now_ns);

	for (int n = 0; n < TURN_LINES && is_alive && !client->out && !client->ticket; n++) {
		char *line = client->in + from;
		char *end = memchr(line, '\n', client->n_in - from);

		if (!end)
			break;
		run_ctl_line(ctl, client, line, (size_t)(end - line), now_ns);
		from = (size_t)(end + 1 - client->in);
		is_alive = send_reply(client, now_ns);
	}
	client->n_in -= from;
	memmove(client->in, client->in + from, client->n_in);
	return is_alive;
}

/* Keeps the descriptor that came with a message, if any. */
static void keep_file(struct client *client, struct msghdr *msg)
{
	const struct cmsghdr *at = CMSG_FIRSTHDR(msg);

	if (!at || at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS ||
	    at->cmsg_len != CMSG_LEN(sizeof(int)))
		return;
	drop_file(client);
	memcpy(&client->file, CMSG_DATA(at), sizeof(int));
}

/* From a client that may change something. */
static ssize_t receive_with_file(struct client *client)
{
	union {
		struct cmsghdr align;
		char room[CMSG_LEN(sizeof(int))]; /* for one descriptor, also without padding */
	} control;
	struct iovec to = { client->in + client->n_in, CTL_LINE_BYTES - client->n_in };
	struct msghdr msg = { .msg_iov = &to,
			      .msg_iovlen = 1,
			      .msg_control = control.room,
			      .msg_controllen = CMSG_LEN(sizeof(int)) };
	ssize_t got = recvmsg(client->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got < 0)
		return -errno;
	keep_file(client, &msg);
	return got;
}

/* A client that may change nothing must not have a descriptor put into the daemon, or closed in
 * this thread: that may wait (control/ctl_request.h). See also let_files_pass(). */
static ssize_t receive_ctl(const struct ctl *ctl, struct client *client)
{
	if (rights_of(ctl->rights, &client->peer) >= CTL_CHANGES)
		return receive_with_file(client);
	return hangup_receive(client->fd, client->in + client->n_in, CTL_LINE_BYTES - client->n_in);
}

/* It does not matter if the reply arrives. */
static void send_last(int fd, const char *code, const char *sentence)
{
	char *reply = ctl_request_refuse(code, sentence);

	if (reply && send(fd, reply, strlen(reply), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		errno = 0;
	free(reply);
}

/* Reads the octets that have come, as far as there is room. False: the connection is broken. */
static bool read_ctl_lines(const struct ctl *ctl, struct client *client)
{
	while (!client->at_end && client->n_in < CTL_LINE_BYTES) {
		ssize_t got = receive_ctl(ctl, client);

		if (got == -EPERM)
			send_last(client->fd, "EACCES",
				  "only a client that may change something may send descriptors");
		if (got < 0)
			return got == -EAGAIN || got == -EINTR;
		client->n_in += (size_t)got;
		client->at_end = got == 0;
	}
	return true;
}

static bool is_over_long(const struct client *client)
{
	return client->n_in == CTL_LINE_BYTES && !client->out && !client->ticket;
}

/* Does everything for a client that needs no waiting. False: the client must be closed. */
static bool serve_ctl(struct ctl *ctl, struct client *client, uint64_t now_ns)
{
	uint32_t events;

	if (!client->out && !read_ctl_lines(ctl, client))
		return false;
	if (!run_lines(ctl, client, now_ns))
		return false;
	if (is_over_long(client)) {
		set_reply(client, ctl_request_refuse("request", "the line is too long"));
		client->n_in = 0;
		client->at_end = true;
		if (!send_reply(client, now_ns))
			return false;
	}
	if (client->at_end && !client->out && !client->ticket && !has_line(client))
		return false;
	/* While a request waits for its turn, the event comes at once: the socket takes octets. */
	events = client->out || has_line(client) ? EPOLLOUT : EPOLLIN;
	if (client->ticket)
		events = 0; /* epoll still reports that the client has gone */
	return !watch_ctl(ctl, EPOLL_CTL_MOD, client->fd, place_of_ctl(ctl, client), events);
}

/* Replies to a client that is not let in. */
static void turn_away(const struct ctl *ctl, int fd, const char *code, const char *sentence)
{
	send_last(fd, code, sentence);
	hangup_close(ctl->hangup, fd);
}

static void turn_stranger_away(const struct ctl *ctl, int fd, const struct rights_peer *peer,
			       uint64_t now_ns)
{
	const struct client client = { .peer = *peer };
	const struct ctl_request_told told = { .words = "?", .result = "EACCES" };

	audit_request(&client, &told, now_ns);
	turn_away(ctl, fd, "EACCES", "only root and the daemon's user may command it");
}

/* True if `a` must go before `b`: other users before root, then the one that has taken longest. */
static bool goes_before(const struct client *a, const struct client *b)
{
	if (!b || a->peer.is_owner != b->peer.is_owner)
		return !b || b->peer.is_owner;
	return a->since_ns < b->since_ns;
}

/* The places of a user. */
static unsigned int count_places(const struct ctl *ctl, uid_t uid)
{
	unsigned int n = 0;

	for (size_t i = 0; i < CTL_CLIENTS_CAP; i++)
		n += ctl->clients[i].fd >= 0 && ctl->clients[i].peer.id.uid == uid;
	return n;
}

/*
 * True if another user's client may leave for a new client of a user that has n_new places. A user
 * with two places more loses one at once, so one user cannot keep all others away. A user with
 * fewer places loses none.
 */
static bool may_leave(const struct ctl *ctl, const struct client *client, unsigned int n_new,
		      uint64_t now_ns)
{
	const unsigned int n = count_places(ctl, client->peer.id.uid);

	return !client->peer.is_owner &&
	       (n > n_new + 1 || (n >= n_new && now_ns - client->since_ns >= CTL_TURN_NS));
}

/* The client that must leave for a new one. NULL: none. */
static struct client *find_ctl_victim(struct ctl *ctl, const struct rights_peer *peer,
				      uint64_t now_ns)
{
	const unsigned int n_new = count_places(ctl, peer->id.uid);
	struct client *victim = NULL;

	for (size_t i = 0; i < CTL_CLIENTS_CAP; i++) {
		struct client *client = &ctl->clients[i];

		if (client->fd < 0 || client->ticket)
			continue;
		if (!peer->is_owner && !may_leave(ctl, client, n_new, now_ns))
			continue;
		if (goes_before(client, victim))
			victim = client;
	}
	return victim;
}

static unsigned int count_others(const struct ctl *ctl)
{
	unsigned int n = 0;

	for (size_t i = 0; i < CTL_CLIENTS_CAP; i++)
		n += ctl->clients[i].fd >= 0 && !ctl->clients[i].peer.is_owner;
	return n;
}

/* A free place, or the place of a client that is closed for it. NULL: none. */
static struct client *find_ctl_place(struct ctl *ctl, const struct rights_peer *peer,
				     uint64_t now_ns)
{
	const bool is_full = !peer->is_owner && count_others(ctl) >= CTL_OTHERS_CAP;
	struct client *victim;

	for (size_t i = 0; !is_full && i < CTL_CLIENTS_CAP; i++)
		if (ctl->clients[i].fd < 0)
			return &ctl->clients[i];
	victim = find_ctl_victim(ctl, peer, now_ns);
	if (victim)
		drop_client(ctl, victim);
	return victim;
}

/*
 * If IS_ON is false, sendmsg() fails with EPERM for a peer that sends a descriptor. A connection
 * begins with the value of the listening socket. Kernels before Linux 6.16 let all peers send them.
 */
static void let_files_pass(int fd, bool is_on)
{
	const int value = is_on;

	(void)setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &value, sizeof(value));
}

/* Takes the peer. */
static int seat_client(struct ctl *ctl, struct client *client, int fd, struct rights_peer *peer,
		       uint64_t now_ns)
{
	char *in = malloc(CTL_LINE_BYTES);

	if (!in || watch_ctl(ctl, EPOLL_CTL_ADD, fd, place_of_ctl(ctl, client), EPOLLIN)) {
		free(in);
		return -ENOMEM;
	}
	*client = (struct client){
		.fd = fd, .file = -1, .in = in, .since_ns = now_ns, .peer = *peer
	};
	*peer = (struct rights_peer){ 0 };
	if (rights_of(ctl->rights, &client->peer) >= CTL_CHANGES)
		let_files_pass(fd, true);
	return 0;
}

static void add_ctl_client(struct ctl *ctl, int fd, uint64_t now_ns)
{
	struct rights_peer peer;
	int err = rights_peer_read(&peer, fd);
	struct client *client;

	hangup_prepare(fd);
	if (err || (!peer.is_owner && !ctl->may_others)) {
		turn_stranger_away(ctl, fd, &peer, now_ns);
		rights_peer_fini(&peer);
		return;
	}
	client = find_ctl_place(ctl, &peer, now_ns);
	if (!client)
		turn_away(ctl, fd, "busy", "too many clients are connected, try again later");
	else if (seat_client(ctl, client, fd, &peer, now_ns))
		hangup_close(ctl->hangup, fd);
	rights_peer_fini(&peer);
}

/* accept() is tried again later, since the event would come back at once. */
static void pause_accepting(struct ctl *ctl, uint64_t now_ns)
{
	if (!watch_ctl(ctl, EPOLL_CTL_MOD, ctl->listen_fd, LISTEN_PLACE, 0))
		ctl->retry_ns = now_ns + RETRY_NS;
}

/* Accepts all clients. Pauses without descriptors, and if connections with descriptors in them
 * wait for their end: all clients may have some. */
static void accept_clients(struct ctl *ctl, uint64_t now_ns)
{
	for (int i = 0; i < 2 * CTL_CLIENTS_CAP; i++) {
		int fd;

		if (hangup_is_behind(ctl->hangup, CTL_CLIENTS_CAP + 1)) {
			pause_accepting(ctl, now_ns);
			return;
		}
		fd = accept4(ctl->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			add_ctl_client(ctl, fd, now_ns);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno != EAGAIN)
			pause_accepting(ctl, now_ns);
		return;
	}
}

static void close_idle(struct ctl *ctl, uint64_t now_ns)
{
	for (size_t i = 0; i < CTL_CLIENTS_CAP; i++) {
		struct client *client = &ctl->clients[i];

		if (client->fd >= 0 && !client->ticket && now_ns - client->since_ns >= CTL_IDLE_NS)
			drop_client(ctl, client);
	}
	if (ctl->retry_ns && now_ns >= ctl->retry_ns &&
	    !watch_ctl(ctl, EPOLL_CTL_MOD, ctl->listen_fd, LISTEN_PLACE, EPOLLIN))
		ctl->retry_ns = 0;
}

/* The client has gone before its reply was ready; the command goes on. */
static void leave_waiting(struct ctl *ctl, struct client *client, uint64_t now_ns)
{
	snprintf(client->told.result, sizeof(client->told.result), "client-gone");
	audit_request(client, &client->told, now_ns);
	drop_client(ctl, client);
}

void ctl_poll(struct ctl *ctl, uint64_t now_ns)
{
	struct epoll_event events[N_EVENTS];
	int n = epoll_wait(ctl->epoll_fd, events, N_EVENTS, 0);
	bool has_new = false;

	for (int i = 0; i < n; i++) {
		uint32_t place = events[i].data.u32;

		if (place == LISTEN_PLACE)
			has_new = true;
		else if (ctl->clients[place].ticket)
			leave_waiting(ctl, &ctl->clients[place], now_ns);
		else if (!serve_ctl(ctl, &ctl->clients[place], now_ns))
			drop_client(ctl, &ctl->clients[place]);
	}
	/* After the others: a new client may take the place of a client that has an event here. */
	if (has_new)
		accept_clients(ctl, now_ns);
	close_idle(ctl, now_ns);
}

void ctl_set_rights(struct ctl *ctl, const struct rights *rights)
{
	ctl->rights = rights;
}

int ctl_take_file_or_tell(struct ctl *ctl, char *err, size_t err_cap)
{
	int file = ctl->running->file;

	ctl->running->file = -1;
	if (file >= 0)
		return file;
	snprintf(err, err_cap,
		 "no descriptor of the file has come with the request: volleyctl opens the file "
		 "and sends it; a profile of AppArmor for volleyd may keep it away");
	return -EBADF;
}

bool ctl_is_owner(const struct ctl *ctl)
{
	return ctl->running->peer.is_owner;
}

static unsigned int waiting_cap(enum ctl_kind may)
{
	return may == CTL_OWNS    ? CTL_WAITING_CAP :
	       may == CTL_CHANGES ? CTL_WAITING_OTHERS_CAP :
				    CTL_WAITING_READERS_CAP;
}

unsigned int ctl_waiting_cap(const struct ctl *ctl)
{
	return waiting_cap(rights_of(ctl->rights, &ctl->running->peer));
}

/* The clients whose reply comes later and that have no more than this right. */
static unsigned int count_waiting(const struct ctl *ctl, enum ctl_kind most)
{
	unsigned int n = 0;

	for (size_t i = 0; i < CTL_CLIENTS_CAP; i++)
		n += ctl->clients[i].ticket &&
		     rights_of(ctl->rights, &ctl->clients[i].peer) <= most;
	return n;
}

uint64_t ctl_defer(const struct ctl *ctl)
{
	enum ctl_kind may = rights_of(ctl->rights, &ctl->running->peer);

	for (; may <= CTL_OWNS; may++)
		if (count_waiting(ctl, may) >= waiting_cap(may))
			return 0;
	return ctl->n_requests;
}

int ctl_defer_or_tell(const struct ctl *ctl, uint64_t *ticket, char *err, size_t err_cap)
{
	*ticket = ctl_defer(ctl);
	if (*ticket)
		return 0;
	snprintf(err, err_cap, "too many clients wait for replies: try again later");
	return -EBUSY;
}

void ctl_answer(struct ctl *ctl, uint64_t ticket, uint64_t now_ns, int code, json_t *result,
		const char *err)
{
	for (size_t i = 0; i < CTL_CLIENTS_CAP; i++) {
		struct client *client = &ctl->clients[i];
		char *reply;

		if (client->fd < 0 || client->ticket != ticket)
			continue;
		reply = ctl_request_reply(rights_of(ctl->rights, &client->peer), code, result, err);
		client->ticket = 0;
		client->since_ns = now_ns;
		ctl_request_tell(&client->told, code);
		audit_request(client, &client->told, now_ns);
		set_reply(client, reply);
		if (!(ctl->is_stopping ? send_reply(client, now_ns) :
					 serve_ctl(ctl, client, now_ns)))
			drop_client(ctl, client);
		return;
	}
	json_decref(result);
}

void ctl_stop(struct ctl *ctl)
{
	if (ctl)
		ctl->is_stopping = true;
}

int ctl_fd(const struct ctl *ctl)
{
	return ctl->epoll_fd;
}

/* The id of the process that listens on the socket file; 0: none; -1: its id is unknown. */
static pid_t find_listener(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);
	pid_t pid = 0;

	if (fd < 0)
		return 0;
	if (!connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		pid = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) ? -1 : peer.pid;
	else if (errno == EAGAIN)
		pid = -1;
	close(fd);
	return pid;
}

/* Removes a socket file on which no process listens. */
static int remove_stale(const struct sockaddr_un *addr, char *err, size_t err_cap)
{
	struct stat st;
	pid_t pid;

	if (lstat(addr->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode)) {
		snprintf(err, err_cap,
			 "%s exists and is not a socket: remove it, or change control.socket",
			 addr->sun_path);
		return -EEXIST;
	}
	pid = find_listener(addr);
	if (pid) {
		snprintf(err, err_cap, "another volleyd (pid %d) listens on %s", (int)pid,
			 addr->sun_path);
		return ERR_RUNNING;
	}
	return unlink(addr->sun_path) ? -errno : 0;
}

/* The file is made with the mode of the socket, 0600, so it is closed to others until chmod(). */
static int bind_ctl_socket(struct ctl *ctl, mode_t mode)
{
	const char *path = ctl->addr.sun_path;

	ctl->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (ctl->listen_fd < 0)
		return -errno;
	let_files_pass(ctl->listen_fd, false);
	if (fchmod(ctl->listen_fd, 0600) ||
	    bind(ctl->listen_fd, (const struct sockaddr *)&ctl->addr, sizeof(ctl->addr)) ||
	    lstat(path, &ctl->file) || chmod(path, mode) || listen(ctl->listen_fd, BACKLOG))
		return -errno;
	return 0;
}

static int start_ctl(struct ctl *ctl, mode_t mode, char *err, size_t err_cap)
{
	int ret = remove_stale(&ctl->addr, err, err_cap);

	if (!ret)
		ret = bind_ctl_socket(ctl, mode);
	if (ret)
		return ret;
	ctl->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (ctl->epoll_fd < 0)
		return -errno;
	return watch_ctl(ctl, EPOLL_CTL_ADD, ctl->listen_fd, LISTEN_PLACE, EPOLLIN);
}

int ctl_open(struct ctl **out, const char *path, mode_t mode, const struct ctl_command *commands,
	     void *user, char *err, size_t err_cap)
{
	struct ctl *ctl = calloc(1, sizeof(*ctl));
	int ret = ctl ? ctl_request_check_commands(commands) : -ENOMEM;

	*out = NULL;
	err[0] = '\0';
	if (!ret && strlen(path) >= sizeof(ctl->addr.sun_path))
		ret = -ENAMETOOLONG;
	if (!ret)
		ret = hangup_new(&ctl->hangup);
	if (!ret) {
		ctl->epoll_fd = ctl->listen_fd = -1;
		ctl->may_others = (mode & 0022) != 0;
		ctl->commands = commands;
		ctl->user = user;
		ctl->addr.sun_family = AF_UNIX;
		strcpy(ctl->addr.sun_path, path);
		for (size_t i = 0; i < CTL_CLIENTS_CAP; i++)
			ctl->clients[i].fd = ctl->clients[i].file = -1;
		ctl->rights = &all_read;
		ret = start_ctl(ctl, mode, err, err_cap);
		if (!ret) {
			*out = ctl;
			return 0;
		}
		ctl_close(ctl);
		ctl = NULL;
	}
	free(ctl);
	if (!err[0])
		snprintf(err, err_cap, "cannot open the control socket %s: %s", path,
			 err_text(ret));
	return ret;
}

void ctl_unlink(struct ctl *ctl)
{
	struct stat st;

	if (!ctl)
		return;
	if (ctl->file.st_ino && !lstat(ctl->addr.sun_path, &st) && st.st_dev == ctl->file.st_dev &&
	    st.st_ino == ctl->file.st_ino)
		unlink(ctl->addr.sun_path);
	ctl->file.st_ino = 0; /* the file of the next volleyd may get this number */
}

void ctl_close(struct ctl *ctl)
{
	if (!ctl)
		return;
	ctl_unlink(ctl);
	for (size_t i = 0; i < CTL_CLIENTS_CAP; i++)
		if (ctl->clients[i].fd >= 0)
			drop_client(ctl, &ctl->clients[i]);
	if (ctl->listen_fd >= 0)
		close(ctl->listen_fd);
	if (ctl->epoll_fd >= 0)
		close(ctl->epoll_fd);
	hangup_free(ctl->hangup);
	free(ctl);
}
