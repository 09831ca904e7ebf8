/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is the allowed tunnels and the port of GUE, then a frame. All parts that the parser
 * finds lie within the frame. The reply is a frame that parses, too, with source and destination
 * swapped.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "port/frame.h"

#define CONTROL_BYTES 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

/* `bytes` has the query of f; a reply of the same length overwrites it. */
static void check_reply(const struct frame *f, uint8_t *bytes, uint32_t len)
{
	size_t n = f->family == AF_INET ? 4 : 16;
	uint8_t peer[16], local[16];
	struct frame back;
	uint32_t sent;

	memcpy(peer, f->peer, n);
	memcpy(local, f->local, n);
	sent = frame_reply(f, bytes, f->data_len);
	must(sent <= len && sent == (uint32_t)f->data_off + f->data_len);
	if (!f->local_port)
		return; /* a reply from port 0, which no client accepts */
	must(!frame_parse(&back, bytes, sent));
	must(back.data_off == f->data_off && back.data_len == f->data_len);
	must(back.peer_port == f->local_port && back.local_port == f->peer_port);
	must(!memcmp(back.peer, local, n) && !memcmp(back.local, peer, n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame_tunnels tunnels;
	uint32_t len, n;
	uint8_t *bytes;
	struct frame f;

	if (size < CONTROL_BYTES || size > UINT16_MAX)
		return 0;
	tunnels.kinds = data[0];
	memcpy(&tunnels.gue_port, data + 1, sizeof(tunnels.gue_port));
	len = (uint32_t)(size - CONTROL_BYTES);
	bytes = malloc(len ? len : 1); /* exactly, for the sanitizer */
	must(bytes != NULL);
	memcpy(bytes, data + CONTROL_BYTES, len);
	n = frame_decap(&tunnels, bytes, &len);
	must(n + len <= size - CONTROL_BYTES);
	if (!frame_parse(&f, bytes + n, len)) {
		must((uint32_t)f.data_off + f.data_len <= len);
		check_reply(&f, bytes + n, len);
	}
	free(bytes);
	return 0;
}
