/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration keys: lists of blocks. */
#include "config/rows.h"

static const struct words_key rows[] = {
	{ ROW_OF("policy", WORDS_MAP), .text = "Blocks: clients and questions that get no answer. "
					       "See BLOCKS." },
	{ ROW_ARRAY("policy.block", WORDS_MAPS, struct config, block, n_block),
	  .max = CONFIG_BLOCK_LISTS_MAX,
	  .text = "Lists of blocks, at most 255. "
		  "If several lists have a prefix, a name or a type, the first list decides. "
		  "Blocks set by volleyctl block add come before all lists. "
		  "A reload reads the lists again. "
		  "If one of them cannot be read, all of them stay as they were." },
	{ ROW("policy.block[].file", WORDS_PATH, struct config_block, file), .is_required = true,
	  .is_unique = true,
	  .text = "A file with one entry on each line: an address or a prefix of clients, a "
		  "name, or a type, which has no dot. "
		  "A name stands for itself and all names below it. "
		  "Text behind # is a comment. "
		  "Lines of another form are left out, and volleyctl "
		  "block list shows their number. "
		  "Required." },
	{ ROW("policy.block[].action", WORDS_CHOICE, struct config_block, action),
	  .min = VOLLEY_BLOCK_DROP, .choices = "drop|refuse|truncate|up|allow", .fallback = "drop",
	  .text = "The action for packets that match the list: see BLOCKS." },
	{ ROW("policy.block[].why", WORDS_TEXT, struct config_block, why), .min = 1, .max = 199,
	  .text = "The reason, shown by volleyctl block list. "
		  "Default: none." },
};

const struct words_table words_block_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
