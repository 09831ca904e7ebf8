/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a zone is signed, for a background thread: a copy by signing_work_init() of
 * zonemgr/signing.h.
 */
#ifndef VOLLEY_ZONEMGR_SIGNING_WORK_H
#define VOLLEY_ZONEMGR_SIGNING_WORK_H

#include <stdint.h>
#include <stdlib.h>

#include "sign/sign.h"

struct signing_work {
	struct sign_keys keys;
	struct sign_options options;
	uint64_t now_s;
	char *file;
	char why[256]; /* why the keys cannot be used; "": they can, or none are needed */
};

static inline void signing_work_fini(struct signing_work *w)
{
	sign_keys_fini(&w->keys);
	free(w->file);
}

#endif
