/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration keys: who is told of answers. */
#include "config/words.h"

#define SAMPLE_MAX 1000000

#define SAMPLE_TEXT                                                                                        \
	"One answer in so many is told, drawn by chance; 1: every one. The XDP program draws as well, so " \
	"what it does not draw costs it nothing."
#define PREFIX_TEXT \
	"How many bits of a client's address are told, of IPv4 and of IPv6; the others are zeros. "
#define SUBNET_TEXT \
	"The client subnet in EDNS (RFC 7871) is shortened likewise. 32/128: whole addresses."

static const struct words_key rows[] = {
	{ .path = "dnstap",
	  .type = WORDS_MAP,
	  .text = "Queries and answers as dnstap, in Frame Streams. Give one of socket, tcp and file. A collector "
		  "that is not there is looked for once a second; meanwhile, and when it is too slow, messages "
		  "are lost and counted: volleyctl stats. A reload puts these keys in place. See TELLING." },
	{ .path = "dnstap.socket",
	  .type = WORDS_SOCKET,
	  .text = "The Unix socket of the collector, which has to exist. Default: none." },
	{ .path = "dnstap.tcp",
	  .type = WORDS_LISTEN,
	  .text = "Address and port of the collector. The stream is not encrypted. Default: none." },
	{ .path = "dnstap.file",
	  .type = WORDS_PATH,
	  .text = "A file that begins anew at each start and reload: rename it before, to keep it. What a full disk does not take is "
		  "lost and counted; what was written stays, and the same stream goes on when there is room. Default: none." },
	{ .path = "dnstap.identity",
	  .type = WORDS_TEXT,
	  .min = 1,
	  .max = 255,
	  .text = "The name of this server in each message. Default: that of server.identity, or none." },
	{ .path = "dnstap.version",
	  .type = WORDS_TEXT,
	  .min = 1,
	  .max = 255,
	  .text = "The version of this server in each message. Default: that of server.version, or none." },
	{ .path = "dnstap.sample",
	  .type = WORDS_COUNT,
	  .min = 1,
	  .max = SAMPLE_MAX,
	  .fallback = "1",
	  .text = SAMPLE_TEXT },
	{ .path = "dnstap.client-prefix",
	  .type = WORDS_BITS,
	  .fallback = "24/48",
	  .text = PREFIX_TEXT SUBNET_TEXT },
	{ .path = "dnstap.messages",
	  .type = WORDS_CHOICES,
	  .choices = "auth-query|auth-response|client-query|client-response|forwarder-query|"
		     "forwarder-response|update-query|update-response",
	  .text = "The types of messages that are told. Default: all." },
	{ .path = "query-log",
	  .type = WORDS_MAP,
	  .text = "A line for each answer. Give file, or journal: true. A reload puts these keys in place, and opens the "
		  "file anew. See TELLING." },
	{ .path = "query-log.file",
	  .type = WORDS_PATH,
	  .text = "The file to which lines are appended. Default: none." },
	{ .path = "query-log.journal",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Lines go to systemd's journal, with the identifier volleyd-queries. It takes some 10,000 lines a "
		  "second: sample what is more." },
	{ .path = "query-log.format",
	  .type = WORDS_CHOICE,
	  .choices = "json|text",
	  .fallback = "json",
	  .text = "What a line is: an object of JSON, or words with spaces between them." },
	{ .path = "query-log.sample",
	  .type = WORDS_COUNT,
	  .min = 1,
	  .max = SAMPLE_MAX,
	  .fallback = "1",
	  .text = SAMPLE_TEXT },
	{ .path = "query-log.client-prefix",
	  .type = WORDS_BITS,
	  .fallback = "24/48",
	  .text = PREFIX_TEXT "32/128: whole addresses." },
	{ .path = "query-log.zones",
	  .type = WORDS_DOMAINS,
	  .text = "Only answers to questions for names at or below one of these. Default: all." },
	{ .path = "query-log.rcodes",
	  .type = WORDS_CHOICES,
	  .choices =
		  "noerror|formerr|servfail|nxdomain|notimp|refused|yxdomain|yxrrset|nxrrset|notauth|notzone|"
		  "badvers|badcookie",
	  .text = "Only answers with one of these response codes. Default: all." },
	{ .path = "query-log.clients",
	  .type = WORDS_PREFIXES,
	  .text = "Only answers to clients in one of these prefixes, by their whole addresses. Default: all." },
};

const struct words_table words_tap_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
