"""Shapes of loops and values that compilers' inputs have and random statements seldom make: values
of the round before, rings, several ways out, counters that wrap around, searches, triangles.

Each maker writes one shape into a kernel (generate.py's Kernel, which takes them all in). What a
shape computes it puts into an address through `touch`, which keeps it in the playground. Every loop
ends after a few hundred rounds whatever memory holds."""

FUNCTIONS = """__device__ __noinline__ int sweep(int *to, int from, int end, int step)
{
    int k = from;
    for (; k < end; k += step)
        to[k & 8191] = k;
    return k;
}
__device__ __forceinline__ int sweep_inline(int *to, int from, int end, int step)
{
    int k = from;
    for (; k < end; k += step)
        to[k & 8191] = k;
    return k;
}
__device__ __noinline__ int halvings(unsigned n)
{
    int k = 0;
    while (n > 1) {
        n >>= 1;
        k++;
    }
    return k;
}
__device__ __noinline__ int first_above(const int *in, int n, int bound)
{
    for (int k = 0; k < n; k++)
        if ((in[k] & 15) > bound)
            return k;
    return n;
}
__device__ __forceinline__ int first_multiple(int from, int n, int of)
{
    for (int k = from; k < from + n; k++)
        if (k % of == 0)
            return k;
    return -1;
}
"""


class Shapes:
    # ---- what shapes are made of ----

    def touch(self, depth, text, low=None, high=None):
        """An access at p[text]; the bounds, where they are known, show whether it needs a mask."""
        p = self.rng.choice(self.pointers)
        if low is None or low < -64 or high > 30000:
            text = self.rng.choice([f"({text}) & 1023", f"({text}) & 4095", f"({text}) & 31",
                                    f"(unsigned)({text}) % 1000u", f"(unsigned)({text}) % 77u"])
        if self.one_in(5):
            own = self.rng.choice(["threadIdx.x", "blockIdx.x", "(blockIdx.x * blockDim.x + "
                                   "threadIdx.x)"])
            text = f"({text}) + {self.rng.choice([1, 1, 2, 16, 64])} * (int){own}"
        if not p.written or self.one_in(3):
            self.put_load(depth, p, text)
        else:
            self.put_store(depth, p, text)

    def some(self, low=0, high=40):
        """A small integer, mostly the launch's."""
        form = self.rng.randrange(8)
        if form < 3:
            return self.add_scalar(low, high, "int").text if self.one_in(3) else \
                self.known_scalar(low, high)
        if form < 5:
            return f"(int)threadIdx.{'x' if self.block[0] > 1 or self.one_in(3) else 'y'}" \
                if high - low > 8 else str(self.rng.randint(low, high))
        if form == 5 and self.indices:
            e = self.rng.choice(self.indices)
            return f"((int){e.text} & 31)"
        if form == 6 and self.grid[0] < 50:
            return f"((int)blockIdx.x & {self.rng.choice([3, 7, 31])})"
        return str(self.rng.randint(low, high))

    def known_scalar(self, low, high):
        usable = [v.text for v in self.values if v.text[0] == "n" and low <= v.low and
                  v.high <= high]
        if usable:
            return f"(int){self.rng.choice(usable)}"
        return self.add_scalar(low, high, "int").text

    def thread(self):
        return self.rng.choice(["(int)threadIdx.x", "(int)(blockIdx.x * blockDim.x + threadIdx.x)",
                                "(int)blockIdx.x", "(int)(threadIdx.x / 4)",
                                "(int)(threadIdx.x & 31)"])

    def bumps(self):
        """A trip count that is small in every launch."""
        return self.rng.choice([self.known_scalar(0, 40), self.known_scalar(1, 16),
                                str(self.rng.randint(2, 9)), f"({self.some()} & 7) + 1",
                                f"min({self.known_scalar(0, 40)}, 12)",
                                f"({self.thread()} & 7)"])

    def rolled(self, depth):
        if self.one_in(2):
            self.emit(depth, "#pragma unroll 1")
        else:
            self.pragma(depth)

    def of_round(self, k):
        """Something that changes with the round."""
        return self.rng.choice([f"{k}", f"{k} * 2 + 1", f"{k} / 2", f"{k} % 3", f"{k} + 7",
                                f"{k} * {self.some()}", f"{k} + {self.thread()}", f"-{k}",
                                f"({k} + {self.thread()}) / 3", f"{k} & 5", f"{k} ^ 3",
                                f"({k} * 5 + {self.thread()}) % 7", f"min({k}, {self.some()})",
                                f"({k} > {self.some()} ? {k} : 3)", f"{self.some()} - {k}"])

    def data_text(self, index):
        """A number from 0 to 15 from memory."""
        ints = [p for p in self.pointers if p.element in ("int", "unsigned")]
        p = self.rng.choice(ints) if ints else self.add_pointer("int", True)
        return f"({p.text}[({index}) & 511] & 15)"

    def shape(self, depth):
        if self.trips > 40:
            return self.store(depth)
        makers = [self.carried, self.carried, self.last_value, self.recurrence, self.recurrence,
                  self.ring, self.ways_out, self.ways_out, self.do_while, self.wide_counter,
                  self.unsigned_down, self.skipping, self.clamped_span, self.rest_loop,
                  self.triangle, self.bits, self.bisection, self.struct_table, self.on_data,
                  self.called_loops, self.switched_value, self.choosing, self.narrow_counter,
                  self.shifted, self.negative_division, self.mixed_signs, self.found,
                  self.two_counters, self.changing_step, self.euclid, self.dependent_nest,
                  self.after_nest, self.phases]
        saved, self.trips, top, self.top = len(self.indices), self.trips * 8, self.top, False
        pointers = len(self.pointers)
        self.emit(depth, "{")
        self.rng.choice(makers)(depth + 1)
        self.emit(depth, "}")
        del self.indices[saved:]
        self.drop_pointers(pointers)
        self.trips, self.top = self.trips // 8, top
        return None

    def inner(self, depth):
        """Sometimes another statement inside."""
        if self.one_in(5):
            pointers = len(self.pointers)
            self.emit(depth, "{")
            self.statement(depth + 1)
            self.emit(depth, "}")
            self.drop_pointers(pointers)

    def head(self, depth, k, start="0", count=None, step="1"):
        self.rolled(depth)
        self.emit(depth, f"for (int {k} = {start}; {k} < {start} + {count or self.bumps()}; "
                  f"{k} += {step}) {{")

    # ---- values that go from round to round ----

    def carried(self, depth):
        k, a, b = self.fresh("k"), self.fresh("a"), self.fresh("b")
        self.emit(depth, f"int {a} = {self.some()}, {b} = {self.some()};")
        self.head(depth, k, self.rng.choice(["0", "0", "1", self.some()]), step=self.rng.choice("1123"))
        if self.one_in(3):
            self.emit(depth + 1, f"{b} = {a};")
        self.touch(depth + 1, self.rng.choice([a, f"{a} + {k}", f"{k} - {a}", f"{a} * 3", f"{a} - {b}",
                                               f"{a} / 2", f"{k} * 64 + {a}"]))
        if self.one_in(4):
            self.emit(depth + 1, f"if ({self.of_round(k)} > {self.some()}) {{")
            self.emit(depth + 2, f"{a} = {self.of_round(k)};")
            self.emit(depth + 1, "}")
        else:
            self.emit(depth + 1, f"{a} = {self.of_round(k)};")
        self.inner(depth + 1)
        if self.one_in(2):
            self.touch(depth + 1, b)
        if self.one_in(4):
            self.emit(depth + 1, f"{b} = {self.rng.choice([a, k, f'{a} + {k}'])};")
        self.emit(depth, "}")
        if self.one_in(2):
            self.touch(depth, self.rng.choice([a, b, f"{a} + {b}"]))

    def last_value(self, depth):
        k, a = self.fresh("k"), self.fresh("l")
        self.emit(depth, f"int {k} = {self.some()}, {a} = {self.some()};")
        self.rolled(depth)
        self.emit(depth, f"for (; {k} < {self.some(0, 60)}; {k} += {self.rng.choice([1, 1, 2, 3, 7])}) {{")
        self.emit(depth + 1, f"{a} = {self.of_round(k)};")
        if self.one_in(2):
            self.touch(depth + 1, f"{a} + {k}")
        if self.one_in(3):
            self.emit(depth + 1, f"if ({self.condition_on(k)}) break;")
        if self.one_in(3):
            self.touch(depth + 1, f"{k}")
        self.emit(depth, "}")
        self.touch(depth, self.rng.choice([k, a, f"{k} + {a}", f"{k} * 2", f"{k} / 3"]))
        if self.one_in(3):
            self.emit(depth, f"if ({k} < {self.some()}) {{")
            self.touch(depth + 1, k)
            self.emit(depth, "}")

    def condition_on(self, k):
        return self.rng.choice([
            f"{k} * {k} > {self.some()}", f"{k} * {self.some()} > {self.some()}",
            f"{self.data_text(k)} == 3", f"{k} == {self.thread()}", f"{k} > {self.thread()}",
            f"{k} + 3 >= {self.some()}", f"({k} & 3) == 2", f"{k} % 5 == {self.some(0, 4)}",
            f"{k} / 4 == {self.some(0, 9)}", f"{k} != {self.some()}",
            f"(unsigned){k} - 4u < (unsigned){self.some()}"])

    def recurrence(self, depth):
        x, k = self.fresh("x"), self.fresh("k")
        start = self.rng.choice([self.some(), self.some(), self.thread(), self.known_scalar(0, 300)])
        kind = self.rng.choice(["int", "int", "unsigned", "long long"])
        self.emit(depth, f"{kind} {x} = {start};")
        limit = self.known_scalar(1, 64)
        steps = [f"{x} / 2", f"{x} >> 1", f"({x} * 2) & 255", f"({x} + 5) % {limit}",
                 f"{x} + 3 < {limit} ? {x} + 3 : {limit}", f"{x} > 2 ? {x} - 2 : 0", f"-{x}",
                 f"{limit} - {x}", f"{x} ^ 5", f"~{x}", f"({x} * 3 + 1) & 127", f"{x} * 2",
                 f"{x} / 3 + {x} / 5", f"{x} + {k}", f"{x} + {k} / 2", f"{x} % 7 + {k}",
                 f"({x} + {self.thread()}) & 63", f"{x} & {k}", f"{x} | {k}",
                 f"{x} >= {limit} ? {x} - {limit} : {x} + 1", f"({x} & 1) ? {x} * 3 + 1 : {x} / 2",
                 f"{x} << 1", f"{x} - 1", f"{x} - {self.some()}"]
        if self.one_in(3):
            self.rolled(depth)
            self.emit(depth, f"while ({x} > {self.rng.choice([0, 1, 5])}) {{")
            self.touch(depth + 1, f"{x}")
            self.emit(depth + 1, f"{x} = {self.rng.choice([f'{x} / 2', f'{x} >> 1', f'{x} / 3', f'{x} - 1', f'({x} - 1) / 2', f'{x} & ({x} - 1)'])};")
            self.emit(depth, "}")
        else:
            self.head(depth, k)
            self.touch(depth + 1, self.rng.choice([x, x, f"{x} + {k}", f"{x} * 4 + {k}"]))
            self.emit(depth + 1, f"{x} = {self.rng.choice(steps)};")
            self.inner(depth + 1)
            self.emit(depth, "}")
        if self.one_in(2):
            self.touch(depth, x)

    def ring(self, depth):
        s, k, n = self.fresh("s"), self.fresh("k"), self.rng.choice(["2", "3", "4", self.known_scalar(1, 16)])
        start = self.rng.choice(["0", "0", "1", f"{n} - 1", f"{self.thread()} % {n}"])
        kind = self.rng.choice(["int", "unsigned"])
        self.emit(depth, f"{kind} {s} = {start};")
        self.head(depth, k)
        step = self.rng.choice([f"{s} = ({s} + 1) % {n};", f"{s} ^= 1;", f"if (++{s} == {n}) {s} = 0;",
                                f"{s} = {s} + 1 == {n} ? 0 : {s} + 1;", f"{s} = 1 - {s};",
                                f"if (++{s} >= {n}) {s} -= {n};", f"{s} = {s} == 0 ? {n} - 1 : {s} - 1;",
                                f"{s} = ({s} + {n} - 1) % {n};", f"{s} = ({s} + 1) & 3;"])
        size = self.rng.choice(["64", "blockDim.x", self.known_scalar(1, 64)])
        access = self.rng.choice([f"{s} * {size} + threadIdx.x", f"{s}", f"{s} * {size} + {k}",
                                  f"({s} ^ 1) * {size}", f"{k} * 8 + {s}"])
        if self.one_in(2):
            self.touch(depth + 1, access)
            self.emit(depth + 1, step)
        else:
            self.emit(depth + 1, step)
            self.touch(depth + 1, access)
        self.emit(depth, "}")
        if self.one_in(3):
            self.touch(depth, s)

    # ---- ways out ----

    def ways_out(self, depth):
        k, a = self.fresh("k"), self.fresh("a")
        self.emit(depth, f"int {k}, {a} = {self.some()};")
        self.rolled(depth)
        self.emit(depth, f"for ({k} = {self.some()}; {self.rng.choice([f'{k} < {self.some(0, 60)}', f'{k} <= {self.some()}', f'{k} < 70'])}; {k}++) {{")
        for _ in range(self.rng.randint(1, 3)):
            if self.one_in(2):
                self.touch(depth + 1, self.rng.choice([k, f"{k} + {a}", f"{k} * 3"]))
            if self.one_in(3):
                self.emit(depth + 1, f"{a} = {self.of_round(k)};")
            how = self.rng.choice(["break", "break", "break", "continue"] + ["return"] * self.one_in(4))
            self.emit(depth + 1, f"if ({self.condition_on(k)}) {how};")
        self.touch(depth + 1, k)
        self.emit(depth, "}")
        self.touch(depth, self.rng.choice([k, a, f"{k} + {a}"]))

    def do_while(self, depth):
        x, d = self.fresh("x"), self.rng.choice(["2", "3", "4", self.known_scalar(1, 16)])
        self.emit(depth, f"int {x} = {self.some()};")
        self.rolled(depth)
        self.emit(depth, "do {")
        self.touch(depth + 1, x)
        form = self.rng.randrange(5)
        if form == 0:
            self.emit(depth + 1, f"{x} /= 2;")
            condition = f"{x} / {d} > {self.rng.choice([0, 1, 2])}"
        elif form == 1:
            self.emit(depth + 1, f"{x} += {self.rng.choice([1, 2, 5])};")
            condition = f"{x} / {d} < {self.some(0, 9)} && {x} < 100"
        elif form == 2:
            self.emit(depth + 1, f"{x}++;")
            condition = f"{x} % {d} != 0 && {x} < 90"
        elif form == 3:
            self.emit(depth + 1, f"{x} += 3;")
            condition = f"({x} + {self.thread()}) / {d} < {self.some(0, 20)} && {x} < 90"
        else:
            self.emit(depth + 1, f"{x} -= 2;")
            condition = f"{x} / {d} > {self.rng.choice([-3, 0, 1])} && {x} > -30"
        self.emit(depth, f"}} while ({condition});")
        if self.one_in(2):
            self.touch(depth, x)

    def skipping(self, depth):
        k = self.fresh("k")
        self.head(depth, k, self.rng.choice(["0", self.some(), self.thread()]))
        self.emit(depth + 1, f"if ({self.condition_on(k)}) continue;")
        self.touch(depth + 1, k)
        if self.one_in(2):
            self.emit(depth + 1, f"if ({self.condition_on(k)}) {self.rng.choice(['continue', 'break'])};")
            self.touch(depth + 1, f"{k} + 5")
        self.emit(depth, "}")

    def found(self, depth):
        k, at, j = self.fresh("k"), self.fresh("at"), self.fresh("j")
        self.emit(depth, f"int {at} = {self.rng.choice(['-1', '0', self.some()])};")
        nested = self.one_in(2)
        self.head(depth, k)
        if nested:
            self.head(depth + 1, j)
        inner = f"{k} * 8 + {j}" if nested else k
        self.emit(depth + 1, f"if ({self.condition_on(j if nested else k)}) {{ {at} = {inner}; break; }}")
        if nested:
            self.emit(depth + 1, "}")
            if self.one_in(2):
                self.emit(depth + 1, f"if ({at} > {self.some()}) break;")
            self.touch(depth + 1, at)
        self.emit(depth, "}")
        self.emit(depth, f"if ({at} {self.rng.choice(['>= 0', '!= -1', '> 3', f'< {self.some()}'])}) {{")
        self.touch(depth + 1, at)
        self.emit(depth, "}")

    # ---- counters ----

    def wide_counter(self, depth):
        k, form = self.fresh("k"), self.rng.randrange(5)
        narrow = self.rng.choice(["int", "unsigned", "unsigned char", "short", "signed char"])
        base = self.rng.choice(["0xfffffff0ull", "0x7ffffff8ull", "0x100000000ull - 5", "0x7fffull",
                                "0xffffull", "0x1fffffffcull", "0"])
        self.rolled(depth)
        if form == 0:
            self.emit(depth, f"for (unsigned long long {k} = {base} + {self.some()}; {k} < ({base}) + "
                      f"{self.bumps()} + 9; {k}++) {{")
        elif form == 1:
            self.emit(depth, f"for (long long {k} = (long long)({base}) - {self.some()}; {k} <= "
                      f"(long long)({base}) + 3; {k} += 2) {{")
        elif form == 2:
            self.emit(depth, f"for (unsigned {k} = (unsigned)({base}) + {self.some()}; {k} != "
                      f"(unsigned)({base}) + 45u; {k}++) {{")
        elif form == 3:
            self.emit(depth, f"for (size_t {k} = blockIdx.x * (size_t)blockDim.x + threadIdx.x; {k} < "
                      f"(size_t)({self.known_scalar(0, 1000)}); {k} += (size_t)gridDim.x * blockDim.x) {{")
        else:
            self.emit(depth, f"for (long long {k} = {self.some()} - 10; {k} < {self.some()}; {k}++) {{")
        self.touch(depth + 1, self.rng.choice([f"({narrow}){k}", f"(int)({narrow})({k} * 3)",
                                               f"(int)({k} >> 2)", f"(int)({k} / 3)"]))
        self.emit(depth, "}")

    def unsigned_down(self, depth):
        k, n = self.fresh("k"), self.rng.choice([self.known_scalar(0, 40), self.known_scalar(1, 64),
                                                 "threadIdx.x", "(unsigned)" + self.some()])
        form = self.rng.randrange(6)
        kind = self.rng.choice(["unsigned", "unsigned", "size_t", "unsigned char", "unsigned short"])
        self.rolled(depth)
        heads = [f"for ({kind} {k} = {n}; {k}-- > 0;) {{", f"for ({kind} {k} = {n}; {k} > 0; {k}--) {{",
                 f"for (unsigned {k} = (unsigned){n} - 1; {k} < (unsigned){n}; {k}--) {{",
                 f"for ({kind} {k} = {n}; {k} != 0; {k} -= 1) {{",
                 f"for (unsigned {k} = {n}; {k} >= 3; {k} -= 3) {{",
                 f"for ({kind} {k} = {n}; {k} > {self.rng.choice([1, 2, 7])}; {k} /= 2) {{"]
        self.emit(depth, heads[form])
        self.touch(depth + 1, self.rng.choice([f"{k}", f"{k}", f"(int){k} - 1", f"{k} * 2"]))
        self.emit(depth, "}")

    def clamped_span(self, depth):
        k, t, r = self.fresh("k"), self.thread(), self.rng.choice(["2", "5", self.known_scalar(0, 40)])
        low = self.rng.choice([f"max({t} - {r}, 0)", f"max({t} - {r}, {self.some()})", f"min({t}, {self.some()})"])
        high = self.rng.choice([f"min({t} + {r}, {self.known_scalar(0, 1000)})",
                                f"min(min({t} + {r}, {self.some()}), {self.known_scalar(0, 300)})",
                                f"max(min({t} + {r}, {self.some()}), {t} - 2)",
                                f"({t} < {self.some()} ? {t} + {r} : {self.some()})"])
        self.rolled(depth)
        self.emit(depth, f"for (int {k} = {low}; {k} {self.rng.choice(['<', '<='])} {high} && {k} < 2000; {k} += "
                  f"{self.rng.choice([1, 1, 2])}) {{")
        self.touch(depth + 1, k)
        self.emit(depth, "}")

    def rest_loop(self, depth):
        k, n = self.fresh("k"), self.rng.choice([self.known_scalar(0, 40), self.known_scalar(1, 64), self.some()])
        step = self.rng.choice([2, 4, 8])
        kind = self.rng.choice(["int", "int", "unsigned"])
        n = f"({kind})({n})"
        self.emit(depth, f"{kind} {k} = {self.rng.choice(['0', '0', '1', self.some(0, 9)])};")
        if self.one_in(4):
            self.emit(depth, f"for (; {k} < {n} && ({k} & {step - 1}); {k}++) {{")
            self.touch(depth + 1, k)
            self.emit(depth, "}")
        self.rolled(depth)
        self.emit(depth, self.rng.choice([f"for (; {k} + {step} <= {n}; {k} += {step}) {{",
                                          f"for (; {k} < ({n} & ~{step - 1}); {k} += {step}) {{",
                                          f"for (; {k} < {n} / {step} * {step}; {k} += {step}) {{"]))
        self.touch(depth + 1, k)
        self.touch(depth + 1, f"{k} + {step - 1}")
        self.emit(depth, "}")
        self.rolled(depth)
        self.emit(depth, f"for (; {k} < {n}; {k}++) {{")
        self.touch(depth + 1, k)
        self.emit(depth, "}")
        if self.one_in(2):
            self.touch(depth, k)

    def narrow_counter(self, depth):
        c, k, form = self.fresh("c"), self.fresh("k"), self.rng.randrange(4)
        kind = self.rng.choice(["unsigned char", "signed char", "short", "unsigned short"])
        if form < 2:
            self.emit(depth, f"{kind} {c} = {self.some()};")
            self.head(depth, k)
            self.touch(depth + 1, f"{c}")
            self.emit(depth + 1, f"{c} += {self.rng.choice(['37', '1000', '100', self.some(), '-3', '30000'])};")
            self.emit(depth, "}")
            self.touch(depth, c)
        elif form == 2:
            kind = self.rng.choice(["unsigned char", "signed char"])
            self.rolled(depth)
            self.emit(depth, f"for ({kind} {c} = {self.some()}; {c} != ({kind})({self.some()}); {c}++) {{")
            self.touch(depth + 1, f"{c}")
            self.emit(depth, "}")
        else:
            self.rolled(depth)
            self.emit(depth, f"for (short {c} = 32760 - {self.some(0, 9)}; {c} > 0; {c}++) {{")
            self.touch(depth + 1, f"{c}")
            self.emit(depth, "}")

    def two_counters(self, depth):
        i, j = self.fresh("i"), self.fresh("j")
        kind = self.rng.choice(["int", "int", "unsigned"])
        self.rolled(depth)
        self.emit(depth, f"for ({kind} {i} = {self.some()}, {j} = {self.some(10, 60)}; {i} < {j}; {i} += "
                  f"{self.rng.choice([1, 1, 2])}, {j} -= {self.rng.choice([1, 1, 3]) if kind == 'int' else 1}) {{")
        self.touch(depth + 1, i)
        self.touch(depth + 1, self.rng.choice([j, f"{i} + {j}", f"{j} - {i}", f"{i} * {j}"]))
        self.emit(depth, "}")

    def changing_step(self, depth):
        k, s = self.fresh("k"), self.fresh("s")
        self.emit(depth, f"int {s} = {self.some(1, 4)};")
        self.rolled(depth)
        form = self.rng.randrange(3)
        step = [s, f"{k} / 2 + 1", f"({self.data_text(k)}) + 1"][form]
        self.emit(depth, f"for (int {k} = {self.some()}; {k} < {self.some(0, 60)}; {k} += {step}) {{")
        self.touch(depth + 1, k)
        if form == 0:
            self.emit(depth + 1, f"{s} = {self.rng.choice([f'{s} % 3 + 1', f'{s} + 1', f'({s} & 3) + 1', f'3 - ({s} & 1)'])};"
                      if not self.one_in(4) else f"{s} = ({s} & 7) + 1;")
        self.emit(depth, "}")

    # ---- nests ----

    def triangle(self, depth):
        i, j = self.fresh("i"), self.fresh("j")
        by_thread = self.one_in(2)
        n = self.rng.choice([self.known_scalar(1, 16), "7", self.known_scalar(0, 40)])
        if by_thread:
            self.emit(depth, f"int {i} = {self.thread()};")
            self.emit(depth, f"if ({i} < {n}) {{")
        else:
            self.emit(depth, f"for (int {i} = 0; {i} < min({n}, 20); {i}++) {{")
        inner = self.rng.choice([f"int {j} = 0; {j} <= {i}", f"int {j} = 0; {j} < {i}",
                                 f"int {j} = {i}; {j} < {n}", f"int {j} = {i} + 1; {j} < {n}",
                                 f"int {j} = {n} - {i}; {j} < {n}"])
        self.rolled(depth + 1)
        self.emit(depth + 1, f"for ({inner}; {j}++) {{")
        self.touch(depth + 2, self.rng.choice([f"{i} * ({i} + 1) / 2 + {j}", f"{i} * {n} + {j}", f"{j} * {n} + {i}",
                                               f"{i} * {n} - {i} * ({i} + 1) / 2 + {j}", f"{j} - {i}",
                                               f"{j} * ({j} - 1) / 2 + {i}"]))
        self.emit(depth + 1, "}")
        self.emit(depth, "}")

    def dependent_nest(self, depth):
        i, j = self.fresh("i"), self.fresh("j")
        self.head(depth, i, self.rng.choice(["0", self.some(0, 5)]))
        self.rolled(depth + 1)
        self.emit(depth + 1, f"for (int {j} = {self.of_round(i)}; {j} < {self.rng.choice([self.some(), f'{i} * 2', f'{i} + 5', f'{self.of_round(i)}'])}; "
                  f"{j} += {self.rng.choice(['1', '2', f'({i} & 3) + 1', '1'])}) {{")
        self.touch(depth + 2, self.rng.choice([f"{i} * 16 + {j}", j, f"{j} - {i}", f"{i} + {j}"]))
        if self.one_in(4):
            self.emit(depth + 2, f"if ({self.condition_on(j)}) break;")
            self.touch(depth + 2, j)
        self.emit(depth + 1, "}")
        self.emit(depth, "}")

    def after_nest(self, depth):
        i, j, a = self.fresh("i"), self.fresh("j"), self.fresh("a")
        self.emit(depth, f"int {i}, {j} = {self.some()}, {a} = {self.some()};")
        self.rolled(depth)
        self.emit(depth, f"for ({i} = 0; {i} < {self.bumps()}; {i}++) {{")
        if self.one_in(2):
            self.emit(depth + 1, f"for ({j} = {self.rng.choice(['0', i, self.some()])}; {j} < {self.bumps()}; {j}++) {{")
        else:
            self.emit(depth + 1, f"for (; {j} < {i} * {self.some(0, 5)}; {j}++) {{")
        self.touch(depth + 2, self.rng.choice([j, f"{a} + {j}", f"{i} * 8 + {j}"]))
        if self.one_in(2):
            self.emit(depth + 2, f"{a} = {self.rng.choice([self.of_round(j), self.of_round(i), f'{i} + {j}'])};")
        if self.one_in(4):
            self.emit(depth + 2, f"if ({self.condition_on(j)}) break;")
        self.emit(depth + 1, "}")
        if self.one_in(2):
            self.touch(depth + 1, self.rng.choice([j, a, f"{i} + {a}"]))
        if self.one_in(5):
            self.emit(depth + 1, f"if ({self.condition_on(i)}) break;")
        self.emit(depth, "}")
        self.touch(depth, self.rng.choice([j, a, i, f"{j} + {i}"]))

    def phases(self, depth):
        """Loops one after the other over the same variables."""
        k, a = self.fresh("k"), self.fresh("a")
        self.emit(depth, f"int {k} = {self.some(0, 9)}, {a} = {self.some()};")
        for _ in range(self.rng.randint(2, 3)):
            self.rolled(depth)
            form = self.rng.randrange(4)
            if form == 0:
                self.emit(depth, f"for (; {k} < {self.some(0, 60)}; {k} += {self.rng.choice([1, 2, 3])}) {{")
            elif form == 1:
                self.emit(depth, f"for (; {k} > {self.some()}; {k}--) {{")
            elif form == 2:
                self.emit(depth, f"for (; {k} < {self.some()} && {self.data_text(k)} > 2; {k}++) {{")
            else:
                self.emit(depth, f"for (int c = 0; c < {self.bumps()}; c++, {k} += {self.rng.choice(['1', '2', '-1'])}) {{")
            self.touch(depth + 1, self.rng.choice([k, f"{k} + {a}", f"{k} - {a}"]))
            if self.one_in(3):
                self.emit(depth + 1, f"{a} = {self.of_round(k)};")
            self.emit(depth, "}")
            if self.one_in(3):
                self.emit(depth, f"if ({k} > {self.some()}) {k} = {self.some()};")
        self.touch(depth, k)

    # ---- values ----

    def bits(self, depth):
        x = self.rng.choice([self.thread(), self.some(), f"({self.thread()} + {self.some()})"])
        text, low, high = self.rng.choice([
            (f"(int)(__brev((unsigned){x}) >> 24)", 0, 255), (f"__popc({x})", 0, 32),
            (f"__clz({x})", 0, 32), (f"__ffs({x})", 0, 32), (f"(int)(__brev({x}) >> 27)", 0, 31),
            (f"(1 << __popc({x} & 15))", 1, 16), (f"31 - __clz({x} | 1)", 0, 31),
            (f"__popc({x} & ((1u << (threadIdx.x & 31)) - 1))", 0, 32),
            (f"(int)__byte_perm({x}, 0, 0x4321)", None, None), (f"__popcll((long long){x} << 20)", 0, 64),
            (f"(int)__funnelshift_l({x}, {self.some()}, 5)", None, None)])
        self.touch(depth, text, low, high)
        self.touch(depth, f"{text} * 3 + {self.some()}")

    def bisection(self, depth):
        low, high, middle = self.fresh("b"), self.fresh("e"), self.fresh("m")
        self.emit(depth, f"int {low} = {self.rng.choice(['0', self.some(0, 5)])}, {high} = {self.known_scalar(0, 1000)};")
        self.rolled(depth)
        self.emit(depth, f"while ({low} < {high}) {{")
        self.emit(depth + 1, f"int {middle} = {self.rng.choice([f'({low} + {high}) / 2', f'{low} + ({high} - {low}) / 2', f'({low} + {high}) >> 1'])};")
        self.touch(depth + 1, middle)
        test = self.rng.choice([f"{self.data_text(middle)} < 7", f"{middle} * 3 < {self.thread()}",
                                f"{middle} < {self.some()}"])
        self.emit(depth + 1, f"if ({test}) {low} = {middle} + 1; else {high} = {middle};")
        self.emit(depth, "}")
        self.touch(depth, low)

    def struct_table(self, depth):
        written = [p for p in self.pointers if p.written]
        p = self.rng.choice(written) if written else self.written_pointer()
        alike = [q for q in self.pointers if q.element == p.element and q.written]
        count, name, kind = self.rng.choice([2, 3, 4]), self.fresh("t"), self.fresh("entry")
        rows = ", ".join(f"{{{self.rng.choice(alike).text}, {self.some()}, {self.rng.randint(0, 9)}}}"
                         for _ in range(count))
        self.emit(depth, f"struct {kind} {{ {p.element} *at; int first; int step; }};")
        self.emit(depth, f"{kind} {name}[{count}] = {{{rows}}};")
        k = self.fresh("k")
        form = self.rng.randrange(3)
        if form == 0:
            self.rolled(depth)
            self.emit(depth, f"for (int {k} = 0; {k} < {count}; {k}++) {{")
        elif form == 1:
            self.emit(depth, f"{{ int {k} = (unsigned)({self.some()}) % {count}u;")
        else:
            self.emit(depth, f"{{ int {k} = (unsigned)({self.thread()}) % {count}u;")
            self.emit(depth + 1, f"{name}[{k}].first += {self.some()};")
        q = type(p)(f"{name}[{k}].at", p.element)
        self.put_store(depth + 1, q, f"({name}[{k}].first + {name}[{k}].step * {self.some()}) & 2047")
        self.emit(depth, "}")

    def on_data(self, depth):
        k, c = self.fresh("k"), self.fresh("c")
        form = self.rng.randrange(3)
        self.emit(depth, f"int {k} = {self.some()};")
        self.rolled(depth)
        if form == 0:
            self.emit(depth, f"while ({k} < {self.some()} && {self.data_text(k)} > {self.rng.choice([0, 1, 3])}) {{")
            self.touch(depth + 1, k)
            self.emit(depth + 1, f"{k} += {self.rng.choice([1, 1, 2])};")
        elif form == 1:
            self.emit(depth, f"for (int {c} = 0; {c} < 9; {c}++) {{")
            self.touch(depth + 1, f"{k} + {c}")
            self.emit(depth + 1, f"{k} = {self.data_text(k)} * 4;")
            if self.one_in(2):
                self.emit(depth + 1, f"if ({k} < 4) break;")
        else:
            self.emit(depth, f"for (int {c} = {self.data_text(k)}; {c} < {self.some()}; {c} += {self.data_text(k)} + 1) {{")
            self.touch(depth + 1, c)
            self.emit(depth + 1, f"{k}++;")
        self.emit(depth, "}")
        self.touch(depth, k)

    def called_loops(self, depth):
        ints = [p for p in self.pointers if p.element == "int" and p.written]
        p = self.rng.choice(ints) if ints else self.add_pointer("int", False)
        for _ in range(2):
            form, name = self.rng.randrange(5), self.fresh("u")
            calls = [f"sweep({p.text}, {self.some()}, {self.some(0, 60)}, {self.some(1, 4)})",
                     f"sweep_inline({p.text}, {self.thread()}, {self.some(0, 300)}, {self.rng.choice(['1', '3', 'blockDim.x'])})",
                     f"halvings({self.some()})", f"first_above({p.text}, {self.some()}, {self.rng.choice([3, 9, 14])})",
                     f"first_multiple({self.some()}, {self.some()}, {self.some(1, 9)})"]
            if form == 0:  # a step that is a variable's must not be 0
                calls[0] = calls[0][:calls[0].rindex(",")] + f", {self.rng.choice(['1', '2', '5'])})"
            self.emit(depth, f"int {name} = {calls[form]};")
            self.touch(depth, self.rng.choice([name, f"{name} + {self.some()}"]))

    def switched_value(self, depth):
        v, k = self.fresh("v"), self.fresh("k")
        self.emit(depth, f"int {v} = {self.some()};")
        looped = self.one_in(2)
        if looped:
            self.head(depth, k)
        what = self.rng.choice([self.thread(), self.some()] + [k, k] * looped)
        self.emit(depth, f"switch ({what} {self.rng.choice(['& 3', '% 5', '& 7', ''])}) {{")
        for c in self.rng.sample(range(8), self.rng.randint(2, 6)):
            self.emit(depth, f"case {c}: {v} = {self.rng.choice([self.some(), self.thread(), f'{v} + 3', str(c * 10)])};"
                      + (" break;" if not self.one_in(4) else ""))
        if self.one_in(2):
            self.emit(depth, f"default: {v} = {self.some()};")
        self.emit(depth, "}")
        self.touch(depth, v)
        if looped:
            self.emit(depth, "}")

    def choosing(self, depth):
        p = self.written_pointer()
        alike = [q.text for q in self.pointers if q.element == p.element and q.written]
        a, b = self.rng.choice(alike), self.rng.choice(alike)
        k, q = self.fresh("k"), self.fresh("q")
        self.head(depth, k)
        self.emit(depth + 1, f"{p.element} *{q} = ({self.condition_on(k)}) ? {a} : {b} + {self.some()};")
        if self.one_in(2):
            self.emit(depth + 1, f"if ({self.condition_on(k)}) {q} += {self.some()};")
        self.put_store(depth + 1, type(p)(q, p.element), self.rng.choice([k, f"{k} * 4", self.some()]))
        self.emit(depth, "}")

    def shifted(self, depth):
        k = self.fresh("k")
        self.head(depth, k, "0", f"min({self.known_scalar(0, 40)}, 12)")
        x = self.rng.choice([self.thread(), self.some(), f"({self.thread()} - 9)"])
        self.touch(depth + 1, self.rng.choice([f"1 << {k}", f"{x} >> {k}", f"{x} << {k}", f"({x} >> {k}) & 1",
                                               f"{x} & ((1 << {k}) - 1)", f"{x} ^ (1 << {k})",
                                               f"({x} >> {k} << {k})", f"(unsigned){x} >> ({self.some()} & 31)",
                                               f"({x} & ~(1 << {k})) | ({k} & 1) << {k}",
                                               f"2 * {x} - ({x} & ((1 << {k}) - 1))"]))
        self.emit(depth, "}")

    def negative_division(self, depth):
        x = f"({self.rng.choice([self.thread(), self.some()])} - {self.some()})"
        d = self.rng.choice(["3", "4", "5", "16", "(-3)", self.known_scalar(1, 16), f"(-{self.known_scalar(1, 16)})"])
        form = self.rng.choice([f"{x} / {d} + 40", f"{x} % {d} + 16", f"({x} / {d}) * {d} + {x} % {d} + 64",
                                f"{x} / {d} * 8 + ({x} & 7)", f"({x} >> 2) + 40", f"({x} % {d} + {d}) % {d}",
                                f"abs({x} % {d})", f"(int)((unsigned){x} / 7u)"])
        self.touch(depth, form)

    def mixed_signs(self, depth):
        x = f"({self.rng.choice([self.thread(), self.some()])} - {self.some()})"
        n = self.some()
        condition = self.rng.choice([
            f"(unsigned){x} < {n}", f"(unsigned)({x}) < 10u", f"{x} < blockDim.x", f"(long long){x} < (unsigned){n}",
            f"{x} + threadIdx.x > {n}", f"(short){x} < (unsigned short){n}", f"(unsigned char){x} < {n}",
            f"(long long)(unsigned){x} >= {n}", f"(unsigned long long){x} > 5ull", f"(unsigned){x} % 7u == 3u"])
        self.emit(depth, f"if ({condition}) {{")
        self.touch(depth + 1, f"{x} + {self.rng.choice([0, 64, 100])}")
        self.emit(depth, "} else {")
        self.touch(depth + 1, f"{x} * 2")
        self.emit(depth, "}")

    def euclid(self, depth):
        a, b, t = self.fresh("a"), self.fresh("b"), self.fresh("t")
        self.emit(depth, f"unsigned {a} = {self.some()}, {b} = {self.some()};")
        self.emit(depth, f"while ({b}) {{")
        self.touch(depth + 1, self.rng.choice([a, b, f"{a} + {b}"]))
        self.emit(depth + 1, f"unsigned {t} = {a} % {b}; {a} = {b}; {b} = {t};")
        self.emit(depth, "}")
        self.touch(depth, a)
