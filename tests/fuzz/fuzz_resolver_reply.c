/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rings of replies and of events, as a resolver's process that was taken over could write them:
 * the input is both positions of the writer and the octets of the ring. Whatever they are, the
 * reader stays within the ring, ends after at most as many records as the ring has room for, and
 * accepts only replies and events that it may use.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_ring.h"
#include "dns/edns.h"
#include "dns/proto.h"
#include "querier/worker_desk.h"
#include "tap/outlet.h"

#define RING_CAP 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_reply(const struct shared_reply *r, const uint8_t *copied, int64_t bytes)
{
	must(sizeof(*r) + r->msg_bytes + r->text_bytes == (uint64_t)bytes);
	must(r->head_bytes <= r->msg_bytes && r->rcode <= 0xfff && r->security <= RESOLVER_SECURE);
	must(r->ede_code >= EDNS_NO_EDE && r->ede_code <= UINT16_MAX);
	must(!r->has_msg || r->msg_bytes - r->head_bytes >= DNS_HEADER_BYTES);
	must(strlen((const char *)copied + r->msg_bytes) == r->text_bytes || !r->text_bytes);
}

static void read_replies(uint64_t head, const uint8_t *octets, size_t n)
{
	struct byte_ring_shared *shared = aligned_alloc(64, byte_ring_bytes(RING_CAP));
	uint8_t *copied = malloc(SHARED_MESSAGES_MAX + SHARED_TEXT_MAX + 1);
	struct byte_ring_reader reader;
	struct shared_reply r;
	int64_t bytes;
	unsigned int n_records = 0;

	must(shared && copied);
	memset(shared, 0, byte_ring_bytes(RING_CAP));
	memcpy(shared->octets, octets, n < RING_CAP ? n : RING_CAP);
	shared->head = head;
	byte_ring_reader_init(&reader, shared, RING_CAP);
	while ((bytes = byte_ring_next(&reader)) > 0) {
		must(n_records++ < RING_CAP / 16 && bytes <= (int64_t)RING_CAP);
		if (worker_desk_read_reply(&reader, bytes, &r, copied))
			check_reply(&r, copied, bytes);
		byte_ring_pop(&reader, bytes);
	}
	free(copied);
	free(shared);
}

static void read_events(uint64_t head, const uint8_t *octets, size_t n)
{
	size_t bytes = sizeof(struct tap_outlet_shared) + RING_CAP;
	struct tap_outlet_shared *shared = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
	struct tap_outlet outlet = { .shared = shared, .cap = RING_CAP };
	struct tap_event *e = malloc(TAP_EVENT_MAX);
	unsigned int n_records = 0;

	must(shared && e);
	memset(shared, 0, bytes);
	memcpy(shared->octets, octets, n < RING_CAP ? n : RING_CAP);
	shared->producer.ring.head = head;
	while (tap_outlet_next(&outlet, e)) {
		must(n_records++ < RING_CAP / sizeof(*e));
		must(tap_event_bytes(e) <= RING_CAP && e->transport < TAP_N_TRANSPORTS);
	}
	free(e);
	free(shared);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t head;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	read_replies(head, data + sizeof(head), size - sizeof(head));
	read_events(head, data + sizeof(head), size - sizeof(head));
	return 0;
}
