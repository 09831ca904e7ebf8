/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a client's message. If it parses, the reply has its question and OPT. The reply's
 * question must parse to the same, and octets behind the last record must not matter.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dns/edns.h"
#include "dns/query.h"
#include "dns/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_question(const struct query *q, const uint8_t *data)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	size_t padded = (q->qname_bytes + 7u) / 8 * 8;

	must(q->qname == data + DNS_HEADER_BYTES);
	must(q->question_end == DNS_HEADER_BYTES + q->qname_bytes + DNS_QUESTION_FIXED_BYTES);
	must(name_check(q->qname, q->qname_bytes) == q->qname_bytes);
	name_fold(folded, q->qname, q->qname_bytes);
	must(!memcmp(folded, q->folded, padded));
}

static void check_edns(const struct query_edns *e)
{
	if (!e->present)
		return;
	must(!e->has_cookie || e->cookie_server_bytes == 0 ||
	     (e->cookie_server_bytes >= 8 && e->cookie_server_bytes <= QUERY_COOKIE_SERVER_MAX));
}

/* A larger reply shows nothing new and only costs the fuzzer time. */
#define REPLY_MAX 1400

/* Builds an answer message of the size that the client accepts. */
static void answer(const struct query *q)
{
	static struct writer w;
	static uint8_t reply[REPLY_MAX];
	uint32_t limit = query_udp_size(q) < REPLY_MAX ? query_udp_size(q) : REPLY_MAX;
	struct edns_reply edns = { .udp_size = 1232,
				   .ede_code = DNS_EDE_OTHER,
				   .dnssec_ok = q->edns.dnssec_ok };
	struct wire_writer out;
	struct query again;
	size_t end;

	memcpy(reply + DNS_HEADER_BYTES, q->qname, q->question_end - (size_t)DNS_HEADER_BYTES);
	writer_init(&w, reply + q->question_end, q->question_end,
		    limit - (uint32_t)edns_reply_bytes(&edns), q->qname);
	while (!writer_add_rr(&w, q->folded, DNS_TYPE_NS, q->qclass, 1, q->qname, q->qname_bytes))
		;
	must(w.n_records[WRITER_ANSWER] > 0);
	wire_writer_init(&out, reply + w.at, limit - (size_t)w.at);
	must(!edns_reply_write(&out, &edns));
	end = w.at + out.at;
	writer_put_header(&w, reply, q->id, 0, 1);
	must(query_parse(&again, reply, end) == QUERY_OK);
	must(again.end == end && again.edns.present && again.qtype == q->qtype);
	must(again.edns.dnssec_ok == q->edns.dnssec_ok && name_equal(again.qname, q->qname));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct query q, cut;
	enum query_verdict verdict;

	memset(&q, 0xee, sizeof(q));
	verdict = query_parse(&q, data, size);
	if (verdict == QUERY_IGNORE)
		return 0;
	must(q.end >= q.question_end || verdict != QUERY_OK);
	must(q.end <= size && q.question_end <= size);
	if (q.has_question)
		check_question(&q, data);
	check_edns(&q.edns);
	if (verdict != QUERY_OK)
		return 0;
	must(query_parse(&cut, data, q.end) == QUERY_OK && cut.end == q.end);
	must(query_parse(&cut, data, q.end - 1u) == QUERY_FORMERR);
	answer(&q);
	return 0;
}
