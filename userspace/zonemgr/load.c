/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "zonemgr/file_checks.h"
#include "zonemgr/signing_work.h"
#include "zone/builder.h"

struct load *load_new(const char *name, const char *file, const struct verify *verify,
		      load_ended_fn *ended, void *user)
{
	struct load *load = calloc(1, sizeof(*load));
	int err = 0;

	if (!load)
		return NULL;
	if (verify)
		err = verify_copy(&load->verify, verify);
	load->name = strdup(name);
	load->file = strdup(file);
	load->ended = ended;
	load->user = user;
	if (!err && load->name && load->file)
		return load;
	load_free(load);
	return NULL;
}

void load_free(struct load *load)
{
	if (!load)
		return;
	changes_free(load->changes);
	changeset_fini(&load->net);
	if (load->signing)
		signing_work_fini(load->signing);
	free(load->signing);
	file_checks_free(load->checks);
	zone_builder_free(load->builder);
	zone_unref(load->version);
	zone_unref(load->base);
	zone_unref(load->zone);
	zone_unref(load->old);
	load_forget_texts(load);
	sentence_clear(&load->why);
	verify_fini(&load->verify);
	free(load);
}

void load_forget_texts(struct load *load)
{
	free(load->err);
	free(load->name);
	free(load->file);
	load->err = NULL;
	load->name = load->file = NULL;
}

void load_put_error(const struct load *load, char *buf, size_t cap)
{
	static const struct zone_error none;
	const struct zone_error *err = load->err ? load->err : &none;

	if (sentence_is_set(&load->why))
		snprintf(buf, cap, "%s: serial %u is not accepted: %s", load->file, load->serial,
			 sentence_text(&load->why));
	else if (err->line)
		snprintf(buf, cap, "%s:%u: %s", err->file, err->line, err->sentence);
	else
		snprintf(buf, cap, "%s: %s", load->file,
			 *err->sentence ? err->sentence :
					  err_text(load->code ? load->code : load->file_code));
}

enum load_stage load_stage(const struct load *load)
{
	enum load_stage stage = (enum load_stage)__atomic_load_n(&load->stage, __ATOMIC_RELAXED);

	if (stage != LOAD_READING)
		return stage;
	return __atomic_load_n(&load->progress.stage, __ATOMIC_RELAXED) == ZONE_STAGE_READING ?
		       LOAD_READING :
		       LOAD_BUILDING;
}

const char *load_stage_text(enum load_stage stage)
{
	static const char *const texts[] = { "waiting", "reading", "building", "verifying",
					     "loaded" };

	return texts[stage];
}
