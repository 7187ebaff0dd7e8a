// verdict: none
// As mipmap_level_unordered, behind an event; and what is sampled is what was copied.
#include "mipmap.h"

int main()
{
    return run(1, true);
}
