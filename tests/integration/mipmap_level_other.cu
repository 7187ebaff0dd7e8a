// verdict: none
// gpu: possible
// As mipmap_level_unordered, but the copy fills another level. A GPU does not say which texels are
// read.
#include "mipmap.h"

int main()
{
    return run(2, false);
}
