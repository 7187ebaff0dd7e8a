"""Loops of random kernels, of statements: for generate.py's Kernel, which takes the makers in."""
from expressions import INTEGERS, Expression


class Loops:
    def small(self):
        """A trip count of a dozen or so."""
        usable = [v for v in self.values if 0 <= v.high <= 64 and v.low >= -64]
        if usable and self.one_in(2):
            return self.rng.choice(usable)
        if self.one_in(8) and self.pointers:
            e = self.data()
            return Expression(f"({e.text} & 7)", "int", 0, 7)
        n = self.rng.choice([1, 2, 3, 4, 5, 8, 10, 16])
        return Expression(str(n), "int", n, n)

    def pragma(self, depth):
        if self.one_in(3):
            self.emit(depth, "#pragma unroll " + self.rng.choice(["1", "2", "4", "8"]))

    def loop(self, depth):
        if self.trips > 100:
            self.store(depth)
            return
        maker = self.rng.choice([self.count_loop] * 4 + [self.stride_loop] * 3 +
                                [self.down_loop, self.down_loop, self.geometric_loop,
                                 self.span_loop, self.while_loop])
        maker(depth)

    def body(self, depth, index, trips):
        """The statements of a loop, between braces."""
        saved, self.trips, top, self.top = len(self.indices), self.trips * trips, self.top, False
        pointers = len(self.pointers)
        self.indices.append(index)
        for _ in range(self.rng.randint(1, 2)):
            self.statement(depth + 1)
        if self.one_in(8):
            self.emit(depth + 1, f"if {self.condition(0)} {self.rng.choice(['break', 'continue'])};")
            self.statement(depth + 1)
        del self.indices[saved:]
        self.drop_pointers(pointers)
        self.trips, self.top = self.trips // trips, top
        self.emit(depth, "}")

    def drop_pointers(self, count):
        """Names of an inner scope end with it; parameters found inside stay."""
        self.pointers[count:] = [p for p in self.pointers[count:] if p.text[0] == "p"]

    def count_loop(self, depth):
        k, b = self.fresh("k"), self.small()
        kind = self.rng.choice(["int", "int", "int", "unsigned", "long long", "short", "size_t"])
        step = self.rng.choice([1, 1, 1, 1, 2, 3])
        start = self.rng.choice([0, 0, 0, 1, 2])
        a = Expression(str(start), "int", start, start)
        if self.one_in(5):
            a = self.rng.choice([v for v in self.values if v.low >= 0 and v.high < 300] or [a])
        if not INTEGERS[kind][1] and b.low < 0:
            kind = "int"
        comparison = self.rng.choice(["<"] * 5 + ["<=", "!="] if step == 1 and a.text == "0" and
                                     b.low >= 0 and INTEGERS[kind][0] >= 4 else ["<"] * 5 + ["<="])
        self.pragma(depth)
        self.emit(depth, f"for ({kind} {k} = {a.text}; {k} {comparison} ({kind}){b.text}; "
                  f"{k} += {step}) {{")
        self.body(depth, Expression(k, kind, min(a.low, b.high), max(b.high + 1, a.high)),
                  max(2, b.high // step))

    def stride_loop(self, depth):
        """for (i = global index; i < n; i += number of threads)"""
        i = self.fresh("i")
        wanted = [v for v in self.values if v.high <= 5000 and v.high >= 100 and v.low >= 0 and
                  v.text.startswith("n")]
        n = self.rng.choice(wanted) if wanted else self.add_scalar(0, 2000, "int")
        kind = self.rng.choice(["int", "int", "unsigned", "size_t"])
        if self.one_in(2):
            start, step = "blockIdx.x * blockDim.x + threadIdx.x", "gridDim.x * blockDim.x"
            trips = 8
        else:
            start, step = "threadIdx.x", "blockDim.x"
            trips = 16
        if trips * n.high / 256 > 200:
            trips = 64
        self.pragma(depth)
        self.emit(depth, f"for ({kind} {i} = {start}; {i} < {n.text}; {i} += {step}) {{")
        self.body(depth, Expression(i, kind, 0, max(n.high, 3000)), trips)

    def down_loop(self, depth):
        k, b = self.fresh("k"), self.small()
        step = self.rng.choice([1, 1, 2])
        self.pragma(depth)
        self.emit(depth, f"for (int {k} = (int){b.text} - 1; {k} >= 0; {k} -= {step}) {{")
        self.body(depth, Expression(k, "int", 0, max(b.high - 1, 0)), max(2, b.high // step))

    def geometric_loop(self, depth):
        s = self.fresh("g")
        if self.one_in(2):
            self.emit(depth, f"for (unsigned {s} = blockDim.x / 2; {s} > 0; {s} >>= 1) {{")
            self.body(depth, Expression(s, "unsigned", 1, max(1, self.block[0] // 2)), 8)
        else:
            limit = self.rng.choice(["blockDim.x", "100", "16"])
            form = self.rng.choice([f"{s} *= 2", f"{s} <<= 1", f"{s} = {s} * 3"])
            self.emit(depth, f"for (int {s} = 1; {s} < (int){limit}; {form}) {{")
            self.body(depth, Expression(s, "int", 1, 256), 8)

    def span_loop(self, depth):
        """Each thread its own stretch."""
        k, n = self.fresh("k"), self.small()
        start = self.linear(0)
        name, stop = self.fresh("b"), self.fresh("e")
        self.emit(depth, f"int {name} = (int)({start.text}) * {n.text}, {stop} = "
                  f"min({name} + (int){n.text}, {self.rng.choice(['2000', '100000', '500'])});")
        self.pragma(depth)
        self.emit(depth, f"for (int {k} = {name}; {k} < {stop}; {k}++) {{")
        self.body(depth, Expression(k, "int", -64, (start.high + 1) * max(n.high, 1)), 16)

    def while_loop(self, depth):
        k, n = self.fresh("k"), self.small()
        self.emit(depth, f"int {k} = 0;")
        if self.one_in(2):
            self.emit(depth, f"while ({k} < (int){n.text}) {{")
            self.emit(depth + 1, f"{k} += {self.rng.choice([1, 1, 2, 3])};")
        else:
            self.emit(depth, f"for (;;) {{ if ({k}++ >= (int){n.text}) break;")
        self.body(depth, Expression(k, "int", 0, max(n.high, 0) + 3), max(2, n.high))
