/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration keys: lists of blocks. */
#include "config/rows.h"

static const struct words_key rows[] = {
	{ ROW_OF("policy", WORDS_MAP),
	  .text = "Which clients and questions are not answered. See BLOCKS." },
	{ ROW_ARRAY("policy.block", WORDS_MAPS, struct config, block, n_block),
	  .max = CONFIG_BLOCK_LISTS_MAX,
	  .text = "Lists of what is blocked, at most 255. The first that has a prefix, name or "
		  "type holds for it, and "
		  "volleyctl block add over all of them. A reload reads them anew: when one of "
		  "them cannot be read, "
		  "all stay as they were." },
	{ ROW("policy.block[].file", WORDS_PATH, struct config_block, file), .is_required = true,
	  .is_unique = true,
	  .text = "A file with one entry a line: a prefix of clients or an address, a name, which "
		  "stands for "
		  "all names below it, too, or a type, which has no dot. What is behind # does not "
		  "count; lines "
		  "of another form are left out, and counted in volleyctl block list. Required." },
	{ ROW("policy.block[].action", WORDS_CHOICE, struct config_block, action),
	  .choices = "drop|refuse|truncate|up|allow", .fallback = "drop",
	  .text = "What is done with it: see BLOCKS." },
	{ ROW("policy.block[].why", WORDS_TEXT, struct config_block, why), .min = 1, .max = 199,
	  .text = "The reason, for volleyctl block list. Default: none." },
};

const struct words_table words_block_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
