/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process of config/runner.h, and its requests. */
#ifndef VOLLEY_CONFIG_RUNNER_PROCESS_H
#define VOLLEY_CONFIG_RUNNER_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

#define RUNNER_NAME_CAP 1280 /* a zone's name as text: 255 octets, each as \DDD, and more */
#define RUNNER_FDS_MAX  3

enum runner_kind {
	RUNNER_VERIFY, /* descriptors: channel, standard input, standard error */
	RUNNER_READ,   /* the text, or none */
	RUNNER_KEEP,   /* none */
	RUNNER_OPEN,   /* channel; the reply has the file */
	RUNNER_OPEN_FOLDER,
	RUNNER_KINDS,
};

/* Of fixed size; unused fields are zero. Numbers are in the byte order of the host. */
struct runner_request {
	uint32_t kind; /* enum runner_kind */
	uint32_t serial;
	uint64_t digest;            /* of the command: config/verify.h */
	char zone[RUNNER_NAME_CAP]; /* texts end by a zero octet */
	char file[PATH_MAX];
	char from[PATH_MAX]; /* RUNNER_OPEN: the file that includes it, or "" */
};

/* True if the request, which came with n_fds descriptors, is one: its kind is known, has as many of
 * them as it needs, and each text has an end. Pure. */
bool runner_request_is_right(const struct runner_request *request, unsigned int n_fds);

/* On the channel, once; of an open with the descriptor, if the code is 0. */
struct runner_reply {
	int32_t code; /* 0, or a negative code: it was not started */
	int32_t status;
};

/* Sends a message with n <= RUNNER_FDS_MAX descriptors and these flags of sendmsg() beside
 * MSG_NOSIGNAL. 0, ERR_CLOSED or -errno. Any thread. */
int runner_send(int fd, const void *message, size_t n_bytes, const int *fds, unsigned int n,
		int flags) __attribute__((warn_unused_result));

/* The process: serves requests on `fd` until the other end is closed. Its exit status. `is_next`:
 * one was before, and `config`, of which it takes only the path, is perhaps not in force. Frees the
 * zones of `config`, once it has read them. */
int runner_serve(int fd, struct config *config, bool is_next);
/* The same; does not return. */
void runner_process(int fd, struct config *config, bool is_next) __attribute__((noreturn));

#endif
