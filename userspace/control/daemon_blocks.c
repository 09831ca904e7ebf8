/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is blocked: opened, and told to the programs. */
#include "base/err.h"
#include "base/log.h"
#include "control/daemon_internal.h"

static void tell_kinds(void *user, uint32_t kinds)
{
	struct daemon *d = user;

	pthread_mutex_lock(&d->alive_lock);
	for (int i = 0; i < 2; i++)
		if (d->alive[i])
			__atomic_store_n(&d->alive[i]->block_kinds, kinds, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&d->alive_lock);
}

int daemon_open_blocks(struct daemon *d)
{
	const struct block_env env = {
		.published = &d->published,
		.background = d->background,
		.blocks_fd = d->is_anonymous ? -1 : d->maps.blocks_fd,
		.blocked_fd = d->is_anonymous ? -1 : d->maps.blocked_fd,
		.grace = daemon_grace,
		.grace_user = d,
		.tell = tell_kinds,
		.tell_user = d,
		.storage = d->config->storage,
	};
	int err = block_book_open(&d->blocks, &env, d->config);

	if (err)
		log_error("blocks: %s", err_text(err));
	return err;
}
