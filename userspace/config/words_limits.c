/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration keys: rrl. */
#include "config/rows.h"
#include "engine/limiter.h"

static const struct words_key rows[] = {
	{ ROW("rrl", WORDS_MAP, struct config, rrl),
	  .text = "Response rate limiting: what clients, known by their address and its prefixes, "
		  "may be sent "
		  "over UDP. See RATE LIMITS." },
	{ ROW("rrl.answers", WORDS_COUNT, struct config_rrl, answers), .min = 0,
	  .max = LIMITER_ANSWERS_MAX, .fallback = "1000",
	  .text = "Answers in a second to one address. They may come at once. An IPv4 /24 may have "
		  "32 times as "
		  "many, a /20 256 and a /18 768 times; an IPv6 /64 2, a /56 3, a /48 4 and a /32 "
		  "64 times. 0: "
		  "no limit." },
	{ ROW("rrl.octets", WORDS_SIZE, struct config_rrl, octets), .min = 0,
	  .max = LIMITER_OCTETS_MAX, .fallback = "256K",
	  .text = "Octets of DNS in a second to one address; prefixes likewise. An answer counts "
		  "as one, or, where "
		  "that is more, as the share of these octets that it has. 0: no limit." },
	{ ROW("rrl.slip", WORDS_COUNT, struct config_rrl, slip), .min = 0, .max = 100,
	  .fallback = "2",
	  .text = "Of the answers over the limit one in so many, chosen by chance, is sent with "
		  "TC=1 and without "
		  "records, or as BADCOOKIE to a client that sent a cookie. A resolver then asks "
		  "over TCP, or with the "
		  "new cookie, which are not limited. The others are dropped. 1: none is dropped. "
		  "0: all are." },
	{ ROW("rrl.dry-run", WORDS_BOOL, struct config_rrl, dry_run), .fallback = "false",
	  .text = "Count and list what is over the limits, and answer it nevertheless." },
	{ ROW_ARRAY("rrl.exempt", WORDS_PREFIXES, struct config_rrl, exempt, n_exempt),
	  .text = "Clients without a limit: monitoring, resolvers of your own. Default: none." },
};

const struct words_table words_limit_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
