/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* corpus: prints the frames of tests/lib/passrows.h, a line each: name, tab, frame in
 * hexadecimal. */
#include <stdio.h>

#include "tests/lib/passrows.h"

static void print_frame(const char *family, const char *name, const uint8_t *frame, size_t n)
{
	printf("%s: %s\t", family, name);
	for (size_t i = 0; i < n; i++)
		printf("%02x", frame[i]);
	putchar('\n');
}

static void print_rows(const char *family, const struct pass_row *rows, size_t n_rows, bool ipv6)
{
	uint8_t frame[PKT_FRAME_MAX];

	for (size_t i = 0; i < n_rows; i++)
		print_frame(family, rows[i].name, frame, pass_frame(frame, &rows[i], ipv6));
}

/* Three tags are more than the program takes off. */
static void print_tagged(void)
{
	struct pkt p = pkt_ipv4;
	uint8_t frame[PKT_FRAME_MAX];

	p.n_tags = 3;
	p.tpid[0] = PKT_TPID_AD;
	for (unsigned int i = 0; i < 3; i++)
		p.tci[i] = (uint16_t)(0x6005 + i);
	print_frame("IPv4", "three tags", frame, pass_query(frame, &p));
}

int main(void)
{
	print_rows("IPv4", pass_rows4, pass_n_rows4, false);
	print_rows("IPv6", pass_rows6, pass_n_rows6, true);
	print_tagged();
	return 0;
}
