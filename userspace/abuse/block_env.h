/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the daemon that blocks (abuse/block_book.h) work with. */
#ifndef VOLLEY_ABUSE_BLOCK_ENV_H
#define VOLLEY_ABUSE_BLOCK_ENV_H

#include <stdint.h>

#include "base/background.h"
#include "cache/keeper.h"
#include "engine/engine.h"

struct block_env {
	struct engine_data *published;
	struct background *background;
	int blocks_fd, blocked_fd; /* -1: no program reads them */
	cache_grace_fn *grace;
	void *grace_user;
	/* Tells the programs which kinds of blocks there are (volley_state.blocks). */
	void (*tell)(void *user, uint32_t kinds);
	void *tell_user;
	const char *storage; /* folder; NULL: blocks are not kept */
};

#endif
