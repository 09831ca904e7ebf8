/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Error codes: every int that a function returns is 0 (or a count) or negative. Negative values
 * above -1000 are -errno. Those from -1000 down are our own: they are in the one list below, with
 * the message that a person reads.
 */
#ifndef VOLLEY_BASE_ERR_H
#define VOLLEY_BASE_ERR_H

#include <stdbool.h>

/* Append only: the numbers are sent over the control socket. */
#define ERR_LIST(X)                                                               \
	X(ERR_SHORT, "the input ends too early")                                  \
	X(ERR_SPACE, "the output buffer is too small")                            \
	X(ERR_FORMAT, "the message is malformed")                                 \
	X(ERR_NAME, "the domain name is malformed")                               \
	X(ERR_NAME_LONG, "the domain name is longer than 255 octets")             \
	X(ERR_LABEL_EMPTY, "the domain name has an empty label")                  \
	X(ERR_LABEL_LONG, "a label of the domain name is longer than 63 octets")  \
	X(ERR_ESCAPE, "the domain name has a bad escape sequence")                \
	X(ERR_TYPE, "the record type is unknown")                                 \
	X(ERR_RDATA, "the record data does not fit its type")                     \
	X(ERR_ABI, "the maps belong to another version of the program")           \
	X(ERR_CONFIG, "the configuration is not valid")                           \
	X(ERR_ZONE, "the zone is not valid")                                      \
	X(ERR_NOT_FOUND, "there is no such entry")                                \
	X(ERR_RUNNING, "another daemon is already running")                       \
	X(ERR_XDP_MODE, "the driver does not support this XDP mode")              \
	X(ERR_CLOSED, "the other side has closed the connection")                 \
	X(ERR_LIMIT, "a configured limit is reached")                             \
	X(ERR_VERIFY, "the command that verifies the zone has refused it")        \
	X(ERR_SNAPSHOT, "the snapshot of the cache is not valid")                 \
	X(ERR_STORE, "the journal's store is not valid")                          \
	X(ERR_TSIG, "the transaction signature does not hold")                    \
	X(ERR_REMOTE, "the other name server refused")                            \
	X(ERR_NOT_REGULAR, "it is not a regular file")                            \
	X(ERR_LINK, "it is a symbolic link of another user")                      \
	X(ERR_BROKER, "the broker has ended")                                     \
	X(ERR_PORT, "the configuration's file does not name this port")           \
	X(ERR_INTERFACE, "the configuration's file does not name this interface") \
	X(ERR_OWN_LINK, "the user of volleyd may not read it, but could have made a link to it")

enum err_index {
#define ERR_INDEX(name, text) name##_INDEX,
	ERR_LIST(ERR_INDEX)
#undef ERR_INDEX
		ERR_N_CODES,
};

enum err_code {
#define ERR_CODE(name, text) name = -1000 - (int)name##_INDEX,
	ERR_LIST(ERR_CODE)
#undef ERR_CODE
};

/*
 * The message for a code: one of ours, or strerror's for -errno; a positive errno is treated as
 * -errno. Never NULL. Our messages and "no error" are static. For errno it is the C library's own
 * static text (strerrordesc_np), so any thread may call it and keep the pointer.
 */
const char *err_text(int code);

/* The code's own name ("ERR_SHORT", "ENOENT"), or NULL for an unknown one. Static, any thread. */
const char *err_name(int code);

/* True if the code (-errno) means that file descriptors or memory have run out: the same call may
 * succeed later, and says nothing about the thing it looked at. Any thread. */
bool err_is_exhausted(int code);

#endif
