/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/answer_cache.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "broker/broker.h"
#include "broker/maps.h"
#include "cache/memory.h"

int answer_cache_open_memory(struct answer_cache *c)
{
	int err = 0;

	if (!c->maps.is_open)
		err = maps_make(&c->maps, &c->sizes);
	if (!err) {
		c->memory = c->maps.memory;
		return 0;
	}
	log_warn("BPF maps: %s: the answer cache is in memory of this process, and the "
		 "driver answers nothing%s",
		 err_text(err),
		 (err == -EPERM || err == -EACCES) && !broker_has_xdp() ?
			 ": start with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN" :
			 "");
	c->is_anonymous = true;
	return cache_memory_anonymous(&c->memory, &c->sizes);
}

int answer_cache_open(struct answer_cache *c)
{
	int err = cache_new(&c->cache, &c->memory, &c->is_adopted);

	if (!err && !c->is_anonymous)
		err = maps_make_grace(&c->grace);
	return err;
}

void answer_cache_close(struct answer_cache *c)
{
	cache_free(c->cache);
	grace_close(c->grace);
	if (c->is_anonymous)
		cache_memory_release(&c->memory);
	object_maps_close(&c->maps);
}

int answer_cache_grace(void *user)
{
	const struct answer_cache *c = user;

	return c->grace ? grace_wait(c->grace) : grace_wait_userspace(NULL);
}
