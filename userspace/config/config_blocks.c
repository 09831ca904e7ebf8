/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of what is blocked: the keys below policy. */
#include <stdio.h>
#include <string.h>

#include "config/take.h"

static void take_list(struct take *take, const struct config_raw_block *raw, uint32_t at)
{
	struct config_block *list = &take->config->block[at];
	char prefix[YAMLWALK_PATH_CAP], path[YAMLWALK_PATH_CAP];

	snprintf(prefix, sizeof(prefix), "policy.block[%u].", at);
	list->file = take_path(take, prefix, "file", raw->file);
	list->action = (enum config_block_action)take_number(take, prefix, "action", raw->action);
	list->why = take_string(take, take_join_path(take, path, prefix, "why"), raw->why);
	for (uint32_t i = 0; i < at && !take->source.failed; i++)
		if (!strcmp(list->file, take->config->block[i].file))
			take_refuse_twice(take, "policy.block", "file", at, i, raw->file);
}

void take_blocks(struct take *take)
{
	const struct config_raw_policy *raw = &take->raw->policy;
	struct config *config = take->config;

	if (raw->n_block > CONFIG_BLOCK_LISTS_MAX)
		source_fail(&take->source, 0, "policy.block", "has %u lists: give at most %u",
			    raw->n_block, CONFIG_BLOCK_LISTS_MAX);
	if (take->source.failed)
		return;
	config->block = take_memory(take, raw->n_block, sizeof(*config->block));
	config->n_block = config->block ? raw->n_block : 0;
	for (uint32_t i = 0; i < config->n_block && !take->source.failed; i++)
		take_list(take, &raw->block[i], i);
}
