/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that the server and its resolver's process share, and the records in it.
 *
 *	│ configuration │ words │ board, ... │ outlet of the tap, ... │ desk: two rings │ ...
 *	                          one for each resolver thread           one for each worker
 *
 * The server makes it as a memory file whose size is sealed, so that no access can fail later. Both
 * processes compute the same layout from the same few numbers; the server never reads a position
 * from the memory. All is zeroed at first. resolver/board.h, tap/outlet.h and base/byte_ring.h are
 * the headers of the parts.
 *
 * A desk is a pair of rings between one worker and one resolver thread, that of the desk's number
 * modulo the number of threads. The thread hands questions on to the thread that their names
 * choose. A worker's questions carry a slot and a turn, and the reply repeats both: a slot that is
 * used again has another turn.
 */
#ifndef VOLLEY_RESOLVER_SHARED_MEMORY_H
#define VOLLEY_RESOLVER_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "resolver/board.h"

#define SHARED_DESKS_MAX     1024
#define SHARED_QUESTIONS_CAP (128u << 10) /* octets of a ring: 400 of the longest questions */
#define SHARED_REPLIES_CAP   (512u << 10) /* three of the longest replies, thousands of usual ones */
#define SHARED_TAP_CAP       (4u << 20)
#define SHARED_TEXT_MAX      1024u
#define SHARED_MESSAGES_MAX  (2 * 65535u) /* struct resolver_question: msg may be two messages */

/* A question; the name follows. */
struct shared_question {
	uint32_t slot;
	uint32_t turn;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	uint16_t qtype;
	uint16_t qclass;
	uint8_t checking_disabled;
	uint8_t is_refresh;
	uint8_t memory;
	uint8_t family;
	uint8_t client[16];
};

/* A reply; the messages follow, then the text without a NUL. */
struct shared_reply {
	uint32_t slot;
	uint32_t turn;
	uint32_t msg_bytes;
	uint32_t head_bytes; /* struct resolver_question */
	uint32_t text_bytes;
	int32_t ede_code; /* RFC 8914, or EDNS_NO_EDE */
	uint16_t rcode;
	uint8_t security; /* enum resolver_security */
	uint8_t is_known;
	uint8_t has_msg;
	uint8_t has_text;
	uint8_t unused[2];
};

/* At totals_at: counted by the process, and set by the server while it runs. */
struct shared_words {
	struct resolver_totals totals;
	int32_t log_level;
	int32_t log_format;
};

struct shared_sizes {
	uint32_t n_threads;
	uint32_t n_desks;
	uint32_t n_targets; /* rows of each board */
	uint32_t config_bytes;
};

struct shared_layout {
	struct shared_sizes sizes;
	size_t totals_at;
	size_t boards_at;
	size_t board_bytes;
	size_t taps_at;
	size_t tap_bytes;
	size_t desks_at;
	size_t desk_bytes;
	size_t replies_at; /* within a desk */
	size_t total;
};

/* Pure. */
void shared_layout_make(struct shared_layout *out, const struct shared_sizes *sizes);

/* --- What is said over the socket: SOCK_SEQPACKET, the file EXECUTABLE_SERVE_FD --------------- */

#define SHARED_FDS_MAX 128 /* of one message: SCM_MAX_FD is 253 */

/* The first message: with the memory file. The files of doors, one for each thread, and of bells,
 * one for each desk, follow in messages of one octet with at most SHARED_FDS_MAX files each, and
 * last the given files. */
struct shared_hello {
	char version[32]; /* VOLLEY_VERSION: both programs are of one build */
	struct shared_sizes sizes;
	uint64_t total; /* octets of the memory file */
	uint32_t given; /* resolver/given_files.h */
};

/* The only message back: the start has ended. */
struct shared_started {
	int32_t code; /* 0, or a negative code */
	char libunbound[32];
	char err[448]; /* as of resolver_start() */
};

#endif
