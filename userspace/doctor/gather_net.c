/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the process that has a port. /proc/net/udp and its like list the sockets of this network
 * namespace with their inodes, and /proc/PID/fd has the inodes of a process. Doctor does not try to
 * bind the port, because it could then receive a query and lose it.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "client/call.h"
#include "config/addresses.h"
#include "doctor/gather.h"
#include "iface/addr_here.h"

#define TCP_LISTENING     0x0a /* TCP_LISTEN of the kernel's net/tcp_states.h */
#define TAKEN_BY_SOMEBODY 2
#define WAIT_MS           2000

/* --- Ports ------------------------------------------------------------------------------------ */

/* An address as /proc/net/udp writes it: words of 32 bits in the host's order. */
static void put_proc_address(const struct config_addr *addr, char buf[33])
{
	uint32_t words[4];
	int n = addr->family == AF_INET ? 1 : 4;

	memcpy(words, addr->addr, sizeof(words));
	for (int i = 0; i < n; i++)
		snprintf(buf + 8 * i, 9, "%08X", words[i]);
}

static bool is_net_zeros(const char *text)
{
	return !text[strspn(text, "0")];
}

struct port_search {
	char address[33];
	bool is_wildcard;
	unsigned int port;
	unsigned int state; /* 0: any */
	unsigned long inodes[64];
	size_t n;
};

/* Looks for a socket on that address or on all addresses; each makes a bind() fail. */
static void take_socket(struct port_search *s, const char *line)
{
	unsigned long inode;
	unsigned int port, state;
	char address[33];

	if (sscanf(line, " %*d: %32[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %*u %*d %lu",
		   address, &port, &state, &inode) != 4)
		return;
	if (port != s->port || (s->state && state != s->state))
		return;
	if (!s->is_wildcard && !is_net_zeros(address) && strcmp(address, s->address))
		return;
	if (s->n < sizeof(s->inodes) / sizeof(s->inodes[0]))
		s->inodes[s->n++] = inode;
}

static int search(struct port_search *s, const char *path)
{
	FILE *in = fopen(path, "re");
	char line[256];

	if (!in)
		return -errno;
	while (fgets(line, sizeof(line), in))
		take_socket(s, line);
	fclose(in);
	return 0;
}

/* 1 if the process has one of the inodes, else 0; -errno if we may not read its files. */
static int has_inode(int pid, const struct port_search *s)
{
	char path[64];
	struct dirent *entry;
	DIR *fds;
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	fds = opendir(path);
	if (!fds)
		return -errno;
	while (!found && (entry = readdir(fds))) {
		unsigned long inode;
		char link[320], target[64];
		ssize_t len;

		snprintf(link, sizeof(link), "%s/%s", path, entry->d_name);
		len = readlink(link, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = 0;
		if (sscanf(target, "socket:[%lu]", &inode) != 1)
			continue;
		for (size_t i = 0; i < s->n; i++)
			found |= s->inodes[i] == inode;
	}
	closedir(fds);
	return found;
}

/* The name of the process that has the port, or "" if we may not read it. */
static void name_holder(const struct port_search *s, char *buf, size_t cap)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	buf[0] = 0;
	while (proc && !*buf && (entry = readdir(proc))) {
		int pid = atoi(entry->d_name);

		if (pid > 0 && has_inode(pid, s) == 1)
			doctor_read_line(buf, cap, "/proc/%d/comm", pid);
	}
	if (proc)
		closedir(proc);
}

static int is_net_taken(struct port_search *s, const char *path, int pid, char *holder, size_t cap)
{
	int ours, err = search(s, path);

	if (err)
		return err == -ENOENT ? 0 : err;
	if (!s->n)
		return 0;
	ours = pid ? has_inode(pid, s) : 0;
	if (ours == 1)
		return 0;
	name_holder(s, holder, cap);
	return ours < 0 || (!*holder && geteuid()) ? TAKEN_BY_SOMEBODY : 1;
}

static int gather_port(const struct doctor_service *service, const struct config_addr *addr,
		       bool is_tcp, int pid, char *holder, size_t cap)
{
	struct port_search s = { .is_wildcard = service->is_wildcard,
				 .port = service->port,
				 .state = is_tcp ? TCP_LISTENING : 0 };
	char path[32];

	put_proc_address(addr, s.address);
	snprintf(path, sizeof(path), "/proc/net/%s%s", is_tcp ? "tcp" : "udp",
		 addr->family == AF_INET ? "" : "6");
	return is_net_taken(&s, path, pid, holder, cap);
}

void doctor_gather_service(struct doctor_service *service, const struct config_addr *addr, int pid)
{
	const struct port_addr host = config_port_addr(addr);
	char text[PORT_ADDR_TEXT_CAP];

	*service = (struct doctor_service){ .port = ntohs(addr->net_port) };
	port_addr_text(&host, text);
	snprintf(service->text, sizeof(service->text), "%s", text);
	text[strcspn(text, "@")] = 0;
	snprintf(service->address, sizeof(service->address), "%s", text);
	service->is_wildcard = port_addr_is_wildcard(&host);
	service->is_here = addr_here(&host);
	service->udp_taken =
		gather_port(service, addr, false, pid, service->holder, sizeof(service->holder));
	service->tcp_taken =
		gather_port(service, addr, true, pid, service->holder, sizeof(service->holder));
}

/* --- The daemon ------------------------------------------------------------------------------- */

static json_t *ask_net(const char *path, const char *command, int *err)
{
	json_t *args = json_array(), *reply = NULL, *result = NULL;
	int fd = call_open(path);

	*err = fd < 0 ? fd : call_run(fd, command, args, WAIT_MS, &reply);
	if (!*err) {
		result = json_incref(json_object_get(reply, "result"));
		*err = result ? 0 : ERR_FORMAT;
	}
	if (fd >= 0)
		close(fd);
	json_decref(reply);
	json_decref(args);
	return result;
}

static int net_number(const json_t *object, const char *key)
{
	return (int)json_integer_value(json_object_get(object, key));
}

void doctor_gather_daemon(struct doctor_daemon *daemon, const char *path, json_t **status,
			  json_t **ports)
{
	const json_t *degraded;
	int err;

	*daemon = (struct doctor_daemon){ .err = 0 };
	*ports = NULL;
	*status = ask_net(path, "status", &daemon->err);
	if (!*status)
		return;
	*ports = ask_net(path, "port status", &err);
	daemon->pid = net_number(*status, "pid");
	daemon->n_workers = net_number(*status, "workers");
	daemon->is_ready = json_is_true(json_object_get(*status, "ready"));
	degraded = json_object_get(*status, "degraded");
	daemon->n_degraded = (int)json_array_size(degraded);
	for (size_t i = 0; i < json_array_size(degraded) && i < 4; i++)
		snprintf(daemon->degraded[i], sizeof(daemon->degraded[i]), "%s",
			 json_string_value(json_array_get(degraded, i)) ?: "");
}
