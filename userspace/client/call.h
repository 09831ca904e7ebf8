/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends a command to the daemon's control socket (config/ctl_protocol.h) and gets the reply. Behind
 * it: the commands that ask more than once, health, capture, top and batches.
 */
#ifndef VOLLEY_CLIENT_CALL_H
#define VOLLEY_CLIENT_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Connects to the socket at PATH. Returns a descriptor to close(), or -errno: -ENOENT or
 * -ECONNREFUSED if no daemon runs, -EACCES if we may not use the socket.
 */
int call_open(const char *path) __attribute__((warn_unused_result));

/*
 * Sends COMMAND with ARGS, a borrowed array of strings, and receives the reply: *REPLY is a new
 * reference to an object with "ok". Returns 0; -ETIMEDOUT after WAIT_MS; ERR_CLOSED if the daemon
 * closed the connection without a reply; ERR_FORMAT if the reply is malformed; or another -errno.
 * It is call_send() and call_receive() in one.
 */
int call_run(int fd, const char *command, const json_t *args, int wait_ms, json_t **reply)
	__attribute__((warn_unused_result));

/* Sends the command, with the descriptor FILE unless it is -1, and does not wait for the reply. */
int call_send(int fd, const char *command, const json_t *args, int file, int wait_ms)
	__attribute__((warn_unused_result));
/* Waits for octets of the reply, or for the end. 0, or -ETIMEDOUT after WAIT_MS. */
int call_wait_reply(int fd, int wait_ms) __attribute__((warn_unused_result));
/* Receives the reply. */
int call_receive(int fd, int wait_ms, json_t **reply) __attribute__((warn_unused_result));

/* True if CODE (or NULL), from a reply that refuses, means that the words of the command are wrong,
 * and not that the daemon is in a state that prevents it. */
bool call_is_usage(const char *code);

/* Waits until the daemon closes the connection. 0, or -ETIMEDOUT after WAIT_MS. */
int call_wait_end(int fd, int wait_ms) __attribute__((warn_unused_result));

/*
 * volleyctl health: asks the daemon what it thinks of this host (report/health.h), asks its service
 * addresses a question where one is given (client/probe.h), and prints what there is to say:
 *
 *      healthy | not healthy: SENTENCE      a line for each reason
 *      warning: SENTENCE                    a line for each warning
 *
 * One thread.
 */

/* Exit codes of volleyctl. */
enum health_exit {
	HEALTH_EXIT_HEALTHY,
	HEALTH_EXIT_NOT,
	HEALTH_EXIT_USAGE,
	HEALTH_EXIT_NO_DAEMON, /* or the daemon did not reply in time */
};

/*
 * Runs with the N arguments after "health". SOCKET is the daemon's. It waits at most WAIT_MS for
 * the daemon, and as long again for each service address. With IS_JSON it prints the daemon's
 * object, to which it adds the reasons of the probes.
 */
enum health_exit health_call(FILE *out, const char *socket, int wait_ms, bool is_json, int n,
			     char *const *words);

/*
 * volleyctl capture: takes packets from the daemon (daemon/capture.h) 20 times a second and writes
 * them as a pcap file of LINKTYPE_RAW, until there are enough, the time is over, or SIGINT or
 * SIGTERM comes.
 */

struct capture_call {
	const char *socket; /* of the daemon */
	int wait_ms;        /* the longest wait for each reply */
	/* print the final numbers as JSON on standard output, if the packets go elsewhere */
	bool is_json;
	FILE *errors; /* gets the error messages */
};

/* Runs with the N arguments after "capture". Returns an exit status of volleyctl; or -errno if no
 * daemon was reached and nothing was written. */
int capture_call(const struct capture_call *call, int n, char *const *words);

/*
 * A command that takes long, as a reload: waits for the reply, and shows on standard error how far
 * the daemon has come, as a line that changes or, if it is no terminal, as lines.
 */

struct await_call {
	const char *socket;
	int wait_s; /* 0: without a limit */
	bool is_shown;
	const json_t *zone; /* an array with the name of the zone that is loaded; NULL: all zones */
};

/* Waits until the reply to a command on FD can be received. 0, -ETIMEDOUT or another -errno. */
int await_call(const struct await_call *call, int fd) __attribute__((warn_unused_result));

/*
 * volleyctl zone list, and zone status of all: asks for page after page (report/zone_list.h) and
 * writes each as it comes, so a list of any length needs no memory and its first lines come at
 * once. If the reader of the output goes, as head does, the command is done.
 *
 * The daemon closes a connection that is idle for long, as while a pager waits for its user: then
 * the next page is asked for over another one.
 */

enum list_form {
	LIST_TEXT,
	LIST_JSON,       /* {"zones":[...]}, each zone on a line; not closed after a failure */
	LIST_JSON_LINES, /* an object on each line */
	LIST_NAMES,      /* the name of a zone on each line */
};

struct list_call {
	const char *socket; /* of the daemon */
	int wait_ms;        /* the longest wait for each reply */
	enum list_form form;
	FILE *out;    /* SIGPIPE must be ignored */
	FILE *errors; /* gets the error messages */
	char *code;   /* gets the code of the daemon's refusal; LIST_CODE_CAP octets */
};

#define LIST_CODE_CAP 32

/*
 * Runs COMMAND with ARGS, an array of strings. Returns an exit status of volleyctl; or -errno if no
 * daemon was reached and nothing was written.
 */
int list_call(const struct list_call *call, const char *command, const json_t *args)
	__attribute__((warn_unused_result));

/*
 * volleyctl top: asks the daemon once a second (daemon/live.h) and shows what is asked in these
 * seconds (client/top_view.h): on a terminal until q is typed or a signal comes, else once, as text
 * or JSON.
 *
 * Each return restores the terminal. One thread, which handles SIGINT, SIGTERM, SIGHUP, SIGQUIT and
 * SIGWINCH while it runs.
 */

struct top_call {
	const char *socket; /* of the daemon */
	int wait_ms;        /* the longest wait for each reply */
	bool is_json;       /* print one view, as JSON */
	FILE *errors;       /* gets the error messages */
};

/*
 * Runs with the N arguments after "top", and writes to standard output. Returns an exit status of
 * volleyctl; or -errno if no daemon was reached and nothing was written.
 */
int top_call(const struct top_call *call, int n, char *const *words);

/*
 * volleyctl zone add --batch, zone remove --batch: reads names, one in each line, and asks the
 * daemon about as many at a time as are there. It prints a line for each zone that is done.
 */

struct batch_call {
	const char *socket; /* of the daemon */
	int wait_ms;        /* the longest wait for each reply */
	bool is_json;       /* print lines of JSON */
	FILE *errors;       /* gets the error messages */
};

/* True if --batch is one of the N arguments. */
bool batch_call_is(int n, char *const *words);

/*
 * Runs COMMAND with the N arguments after it. Returns an exit status of volleyctl; or -errno if no
 * daemon was reached.
 */
int batch_call(const struct batch_call *call, const char *command, int n, char *const *words);

#endif
