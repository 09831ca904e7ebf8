/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine_udp ORIGIN=FILE...: the engine alone behind a UDP socket on 127.0.0.1, to be compared with
 * other servers. Prints the port that it got, then answers until it is killed.
 */
#include <arpa/inet.h>
#include <netinet/in.h>

#include <stdint.h>

#include "tests/unit/engine/world.h"

static int open_socket(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(here);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	MUST(fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof(here)) == 0);
	MUST(getsockname(fd, (struct sockaddr *)&here, &len) == 0);
	printf("%u\n", ntohs(here.sin_port));
	fflush(stdout);
	return fd;
}

static void serve(struct engine *e, int fd)
{
	static uint8_t buffer[DNS_MESSAGE_MAX];
	struct sockaddr_in peer;
	struct engine_request rq = {
		.msg = buffer,
		.family = AF_INET,
		.client = (const uint8_t *)&peer.sin_addr,
		.now_s = WORLD_NOW_S,
		.wall_s = WORLD_WALL_S,
	};

	for (;;) {
		socklen_t peer_len = sizeof(peer);
		ssize_t n = recvfrom(fd, buffer, sizeof(buffer), 0, (struct sockaddr *)&peer,
				     &peer_len);

		MUST(n >= 0);
		rq.len = (size_t)n;
		n = (ssize_t)engine_answer(e, &rq, buffer, sizeof(buffer));
		if (n)
			sendto(fd, buffer, (size_t)n, 0, (struct sockaddr *)&peer, peer_len);
		rcu_quiescent_state();
	}
}

int main(int argc, char **argv)
{
	struct engine_config config = ENGINE_CONFIG_INIT;
	static struct world world;
	struct engine *e;

	rcu_register_thread();
	for (int i = 1; i < argc; i++) {
		char *file = strchr(argv[i], '=');

		MUST(file);
		*file++ = 0;
		world_load_zone(&world, argv[i], file);
	}
	world_add_cache(&world);
	world_publish(&world);
	config.cookies = true;
	MUST(!engine_new(&e, &config, world.cache, &world.zones));
	serve(e, open_socket());
}
