#include "import/servers.h"
void import_knot(struct import *i, const char *p)
{
	(void)i;
	(void)p;
}
void import_named(struct import *i, const char *p)
{
	(void)i;
	(void)p;
}
