/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that are not ours, or not plain: a query that would be answered, with one change. Each
 * must pass unchanged, in the program (tests/bpf/test_xdp_pass.c) and on the whole way to the
 * kernel's stack beside each kind of port (tests/net/test_ports_corpus.py).
 */
#ifndef VOLLEY_TESTS_LIB_PASSROWS_H
#define VOLLEY_TESTS_LIB_PASSROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/lib/packet.h"

/* The name asked for, in wire form. */
#define PASS_NAME "\3www\7example"

/* Octets to write over the frame, at an offset from its start. */
struct pass_row {
	const char *name;
	int reason; /* enum volley_reason */
	size_t at;
	const char *octets;
	size_t n;
};

extern const struct pass_row pass_rows4[], pass_rows6[]; /* for IPv4, for IPv6 */
extern const size_t pass_n_rows4, pass_n_rows6;

/* Builds the query, a frame of 60 octets with IPv4 and 80 with IPv6; the IP header is at 14. Its
 * length. */
size_t pass_query(uint8_t *frame, const struct pkt *p);

/* Builds the query with IPv4 or IPv6 and writes `row` over it. */
size_t pass_frame(uint8_t *frame, const struct pass_row *row, bool ipv6);

#endif
