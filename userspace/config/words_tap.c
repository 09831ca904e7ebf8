/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration keys: receivers of events about answers. */
#include "config/rows.h"

#define SAMPLE_MAX 1000000

#define SAMPLE_TEXT                                                                             \
	"Of this many answers, one is reported, drawn by chance. 1: all are reported. The XDP " \
	"program draws as well, so answers that are not drawn cost it nothing."
#define PREFIX_TEXT                                                                                   \
	"How many bits of a client's address are reported: the first number is for IPv4, the second " \
	"for IPv6. All other bits become zeros. "
#define SUBNET_TEXT \
	"The client subnet in EDNS (RFC 7871) is shortened in the same way. 32/128: whole addresses."

static const struct words_key rows[] = {
	{ ROW("dnstap", WORDS_MAP, struct config, dnstap),
	  .text = "Queries and answers as dnstap, in Frame Streams. "
		  "Give one of socket, tcp and file. "
		  "If the collector is not there, volleyd tries again once a second. "
		  "Messages that it cannot write meanwhile, or because the collector is too "
		  "slow, are lost and counted: volleyctl stats. "
		  "A reload puts these keys in force. "
		  "See TELLING." },
	{ ROW("dnstap.socket", WORDS_SOCKET, struct config_dnstap, socket),
	  .text = "The Unix socket of the collector, which must exist. "
		  "Default: none." },
	{ ROW("dnstap.tcp", WORDS_LISTEN, struct config_dnstap, tcp),
	  .text = "The address and port of the collector. "
		  "The stream is not encrypted. "
		  "Default: none." },
	{ ROW("dnstap.file", WORDS_PATH, struct config_dnstap, file), .use = WORDS_WRITE,
	  .text = "A file for the stream. "
		  "Each start begins it anew: rename it before, if you want to keep it. "
		  "A reload, volleyctl log reopen and SIGUSR1 begin a new file only if this "
		  "one was renamed or removed. "
		  "If the disk is full, messages are lost and counted; the rest stays, and the "
		  "same stream goes on when there is room. "
		  "Default: none." },
	{ ROW("dnstap.identity", WORDS_TEXT, struct config_dnstap, identity), .min = 1, .max = 255,
	  .text = "The name of this server in each message. "
		  "Default: server.identity, or none." },
	{ ROW("dnstap.version", WORDS_TEXT, struct config_dnstap, version), .min = 1, .max = 255,
	  .text = "The version of this server in each message. "
		  "Default: server.version, or none." },
	{ ROW("dnstap.sample", WORDS_COUNT, struct config_dnstap, tap.sample), .min = 1,
	  .max = SAMPLE_MAX, .fallback = "1", .text = SAMPLE_TEXT },
	{ ROW("dnstap.client-prefix", WORDS_BITS, struct config_dnstap, tap.bits4),
	  .fallback = "24/48", .text = PREFIX_TEXT SUBNET_TEXT },
	{ ROW("dnstap.messages", WORDS_CHOICES, struct config_dnstap, messages),
	  .choices = "auth-query|auth-response|client-query|client-response|forwarder-query|"
		     "forwarder-response|update-query|update-response",
	  .text = "The types of messages that are written. "
		  "Default: all." },
	{ ROW("query-log", WORDS_MAP, struct config, query_log),
	  .text = "A line for each answer. "
		  "Give file, or journal: true. "
		  "A reload puts these keys in force, and opens the file again if "
		  "it was renamed or removed. "
		  "See TELLING." },
	{ ROW("query-log.file", WORDS_PATH, struct config_query_log, file), .use = WORDS_WRITE,
	  .text = "The file to which lines are appended. "
		  "Default: none." },
	{ ROW_OF("query-log.journal", WORDS_BOOL), .fallback = "false",
	  .text = "Whether lines go to systemd's journal, with the identifier volleyd-queries. "
		  "It takes some 10,000 lines a second: use sample if there are more answers." },
	{ ROW("query-log.format", WORDS_CHOICE, struct config_query_log, is_json),
	  .choices = "text|json", .fallback = "json",
	  .text = "The form of a line: a JSON object, or words with spaces between them." },
	{ ROW("query-log.sample", WORDS_COUNT, struct config_query_log, tap.sample), .min = 1,
	  .max = SAMPLE_MAX, .fallback = "1", .text = SAMPLE_TEXT },
	{ ROW("query-log.client-prefix", WORDS_BITS, struct config_query_log, tap.bits4),
	  .fallback = "24/48", .text = PREFIX_TEXT "32/128: whole addresses." },
	{ ROW("query-log.zones", WORDS_DOMAINS, struct config_query_log, zones),
	  .text = "Only answers to questions for these names and names below them. "
		  "Default: all." },
	{ ROW("query-log.rcodes", WORDS_CHOICES, struct config_query_log, rcodes),
	  .choices = "noerror|formerr|servfail|nxdomain|notimp|refused|yxdomain|yxrrset|nxrrset|"
		     "notauth|notzone|badvers|badcookie",
	  .text = "Only answers with one of these response codes. "
		  "Default: all." },
	{ ROW_ARRAY("query-log.clients", WORDS_PREFIXES, struct config_query_log, clients,
		    n_clients),
	  .text = "Only answers to clients in one of these prefixes. "
		  "Whole addresses are compared, whatever client-prefix says. "
		  "Default: all." },
};

const struct words_table words_tap_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
