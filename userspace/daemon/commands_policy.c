/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands_policy.h"

#include <errno.h>
#include <stdio.h>

#include "report/report_view.h"

int commands_policy_list(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const struct report_view *v = user;

	(void)args;
	if (!v->has_policies) {
		snprintf(err, err_cap,
			 "volleyd is starting and reads its lists: try again when volleyctl status "
			 "says ready");
		return -EAGAIN;
	}
	*result = policies_report(v->policies);
	return *result ? 0 : -ENOMEM;
}
