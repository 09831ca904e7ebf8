/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A message from an upstream to the forwarder: it is compared with a query for "example." A, read
 * to its end, and made into an answer. Octets behind its end must not matter, and an answer must
 * still be one after it was made ours.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "resolver/forward_message.h"

#define MESSAGE_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_read(uint8_t *msg, size_t n)
{
	struct forward_reply reply, again;

	if (forward_message_read(&reply, msg, n))
		return;
	must(reply.end >= DNS_HEADER_BYTES && reply.end <= n && reply.rcode <= 0xfff);
	must(!forward_message_read(&again, msg, reply.end));
	must(again.end == reply.end && again.rcode == reply.rcode &&
	     again.ede_code == reply.ede_code);
	must(reply.end == DNS_HEADER_BYTES || forward_message_read(&again, msg, reply.end - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct forward_text text = {
		.name = (const uint8_t *)"\7example",
		.qtype = DNS_TYPE_A,
		.qclass = DNS_CLASS_IN,
		.upper = 0x55,
	};
	uint8_t msg[MESSAGE_MAX];
	enum forward_match match;

	if (!size || size > sizeof(msg))
		return 0;
	memcpy(msg, data, size);
	if (size >= DNS_HEADER_BYTES) {
		text.id = wire_load_be16(msg);
		check_read(msg, size);
	}
	match = forward_message_match(msg, size, &text);
	if (match != FORWARD_MATCH && match != FORWARD_OTHER_CASE)
		return 0;
	forward_message_finish(msg, text.name);
	text.id = 0;
	text.upper = 0;
	must(forward_message_match(msg, size, &text) == FORWARD_MATCH);
	check_read(msg, size);
	return 0;
}
