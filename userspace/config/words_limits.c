/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration keys: rrl. */
#include "config/rows.h"
#include "limits/limiter.h"

static const struct words_key rows[] = {
	{ ROW("rrl", WORDS_MAP, struct config, rrl),
	  .text = "Response rate limiting: how much a client, known by its address and the "
		  "prefixes around it, may get over UDP. See RATE LIMITS." },
	{ ROW("rrl.answers", WORDS_COUNT, struct config_rrl, answers), .min = 0,
	  .max = LIMITER_ANSWERS_MAX, .fallback = "1000",
	  .text = "Answers a second for one address. "
		  "All of them may come at once. "
		  "An IPv4 /24 may have 32 times as many, a /20 256 times and a /18 768 times; "
		  "an IPv6 /64 twice, a /56 3, a /48 4 and a /32 64 times as many. "
		  "0: no limit." },
	{ ROW("rrl.octets", WORDS_SIZE, struct config_rrl, octets), .min = 0,
	  .max = LIMITER_OCTETS_MAX, .fallback = "256K",
	  .text = "Octets of DNS messages a second for one address. "
		  "For prefixes the limit is higher by the same factors as for rrl.answers. "
		  "Each answer counts as one answer, or as its share of these octets if that is "
		  "more. "
		  "0: no limit." },
	{ ROW("rrl.slip", WORDS_COUNT, struct config_rrl, slip), .min = 0, .max = 100,
	  .fallback = "2",
	  .text = "Of the answers over the limit, one in this number, chosen at random, is sent "
		  "with TC=1 and without records, or as BADCOOKIE if the "
		  "client has sent a cookie. "
		  "A resolver then asks over TCP or with the new "
		  "cookie, and these have no limit. "
		  "All other answers over the limit are dropped. "
		  "1: none is dropped. "
		  "0: all are dropped." },
	{ ROW("rrl.dry-run", WORDS_BOOL, struct config_rrl, dry_run), .fallback = "false",
	  .text = "With true, answers over the limits are counted and listed, but sent." },
	{ ROW_ARRAY("rrl.exempt", WORDS_PREFIXES, struct config_rrl, exempt, n_exempt),
	  .text = "Clients without a limit, such as monitoring and your own resolvers. "
		  "Default: none." },
};

const struct words_table words_limit_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
