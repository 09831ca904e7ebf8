/* SPDX-License-Identifier: GPL-2.0-only */
/* Questions by netlink and their replies, message by message: as much as volleyctl doctor asks. */
#ifndef VOLLEY_DOCTOR_NETLINK_H
#define VOLLEY_DOCTOR_NETLINK_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

#define DOCTOR_ATTR_HEAD     sizeof(struct nlattr)
#define DOCTOR_NETLINK_BYTES 512 /* a question with its attributes */

struct doctor_question {
	struct nlmsghdr head;
	uint8_t body[DOCTOR_NETLINK_BYTES];
};

/* Starts a question of TYPE with NLM_F_* FLAGS whose fixed head is HEAD, as long as said. */
void doctor_question_start(struct doctor_question *q, uint16_t type, uint16_t flags,
			   const void *head, size_t head_bytes);
/* An attribute more. What has no room is left out: callers know that theirs fit. */
void doctor_question_add(struct doctor_question *q, uint16_t type, const void *value, size_t bytes);

/*
 * Sends it over PROTOCOL (NETLINK_ROUTE, NETLINK_GENERIC) and calls TAKE for every message of the reply,
 * attributes from byte HEAD_BYTES of its payload on. 0 or -errno.
 */
typedef void doctor_take(void *user, const struct nlmsghdr *message);
int doctor_ask(int protocol, const struct doctor_question *q, doctor_take *take, void *user)
	__attribute__((warn_unused_result));

/* The first attribute of that type behind HEAD_BYTES of the payload, or within NEST; NULL: none. */
const struct nlattr *doctor_attr(const struct nlmsghdr *message, size_t head_bytes, uint16_t type);
const struct nlattr *doctor_attr_within(const struct nlattr *nest, uint16_t type);

/* Values: 0 or "" for NULL and for one that is too short. A number has 1, 2, 4 or 8 bytes. */
uint64_t doctor_attr_number(const struct nlattr *attr);
void doctor_attr_text(const struct nlattr *attr, char *buf, size_t cap);

#endif
