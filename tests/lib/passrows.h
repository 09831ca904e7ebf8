/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that are not ours, or not plain: a query that would be answered, changed in one thing.
 * Each has to pass untouched: in the program (tests/bpf/test_xdp_pass.c), and on its whole way to
 * the kernel's stack, whatever port is beside it (tests/net/test_ports_corpus.py).
 */
#ifndef VOLLEY_TESTS_LIB_PASSROWS_H
#define VOLLEY_TESTS_LIB_PASSROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/lib/packet.h"

/* The name asked for, in wire form. */
#define PASS_NAME "\3www\7example"

/* Octets that are written over the frame, at an offset from its start. */
struct pass_row {
	const char *name;
	int reason; /* enum volley_reason */
	size_t at;
	const char *octets;
	size_t n;
};

extern const struct pass_row pass_rows4[], pass_rows6[]; /* over the frame of IPv4, of IPv6 */
extern const size_t pass_n_rows4, pass_n_rows6;

/* The query: 60 octets of frame with IPv4 and 80 with IPv6, with the IP header at 14. Its
 * length. */
size_t pass_query(uint8_t *frame, const struct pkt *p);

/* The query of IPv4 or IPv6 with `row` written over it. */
size_t pass_frame(uint8_t *frame, const struct pass_row *row, bool ipv6);

#endif
