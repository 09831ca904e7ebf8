/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands_cookies.h"

#include <errno.h>

#include "base/clock.h"
#include "policy/cookies.h"

int commands_cookies(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const struct cookies *cookies = user;

	(void)args, (void)err, (void)err_cap;
	*result = cookies_report(cookies);
	return *result ? 0 : -ENOMEM;
}

int commands_cookies_rotate(void *user, const json_t *args, json_t **result, char *err,
			    size_t err_cap)
{
	struct cookies *cookies = user;
	int code = cookies_rotate(cookies, clock_wall_s(), err, err_cap);

	return code ? code : commands_cookies(user, args, result, err, err_cap);
}
