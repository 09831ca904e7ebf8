/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands about zones that change: ctl_command.run, the user is a struct zone_service. */
#ifndef VOLLEY_DAEMON_COMMANDS_ZONE_H
#define VOLLEY_DAEMON_COMMANDS_ZONE_H

#include <jansson.h>
#include <stddef.h>

int commands_zone_edit(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_zone_refresh(void *user, const json_t *args, json_t **result, char *err,
			  size_t err_cap);
int commands_zone_retransfer(void *user, const json_t *args, json_t **result, char *err,
			     size_t err_cap);
int commands_zone_notify(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);
int commands_zone_flush(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_zone_ds(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_zone_keys(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int commands_zone_rollover(void *user, const json_t *args, json_t **result, char *err,
			   size_t err_cap);
int commands_zone_ds_seen(void *user, const json_t *args, json_t **result, char *err,
			  size_t err_cap);

#endif
