"""Integer expressions of random kernels, each with the interval its value lies in: for generate.py's
Kernel, which takes the makers in."""

INTEGERS = {  # name: (bytes, signed)
    "unsigned char": (1, False), "signed char": (1, True), "short": (2, True),
    "unsigned short": (2, False), "int": (4, True), "unsigned": (4, False),
    "long long": (8, True), "unsigned long long": (8, False), "size_t": (8, False),
}


class Expression:
    def __init__(self, text, kind, low, high):
        self.text, self.kind = text, kind
        size, signed = INTEGERS[kind]
        least = -(1 << (size * 8 - 1)) if signed else 0
        most = least + (1 << (size * 8)) - 1
        fits = least <= low and high <= most
        self.low, self.high = (low, high) if fits else (least, most)


def common(a, b):
    """The type of an arithmetic operation on both."""
    size = max(4, INTEGERS[a.kind][0], INTEGERS[b.kind][0])
    unsigned = any(INTEGERS[e.kind] == (size, False) for e in (a, b))
    return {(4, False): "int", (4, True): "unsigned", (8, False): "long long",
            (8, True): "unsigned long long"}[size, unsigned]


def converted(e, kind):
    return Expression(e.text, kind, e.low, e.high)


class Expressions:
    def leaf(self):
        if self.indices and self.one_in(2):
            return self.rng.choice(self.indices)
        if self.one_in(7):
            n = self.rng.choice([0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 64, 100])
            return Expression(str(n), "int", n, n)
        e = self.rng.choice(self.values)
        if self.one_in(5):
            kind = self.rng.choice(["int", "int", "long long", "unsigned", "size_t", "short"])
            e = Expression(f"({kind}){e.text}", kind, e.low, e.high)
        return e

    def divisor(self):
        usable = [v for v in self.values if v.low > 0 and INTEGERS[v.kind][0] >= 4]
        if usable and self.one_in(2):
            return self.rng.choice(usable)
        n = self.rng.choice([1, 2, 3, 4, 5, 7, 8, 10, 16, 32, 33, 100])
        return Expression(str(n) + self.rng.choice(["", "u"]), "int", n, n)

    def value(self, depth):
        if depth <= 0 or self.one_in(5):
            return self.leaf()
        if self.plain and not self.one_in(15):
            maker = self.rng.choice([self.linear, self.linear, self.sum_of, self.sum_of,
                                     self.product, self.shift])
            return maker(depth - 1)
        maker = self.rng.choice([self.sum_of, self.sum_of, self.sum_of, self.product, self.product,
                                 self.shift, self.mask, self.quotient, self.extreme, self.choice,
                                 self.cast, self.linear, self.linear, self.rare])
        return maker(depth - 1)

    def sum_of(self, depth):
        a, b = self.value(depth), self.value(depth)
        if self.one_in(4):
            return Expression(f"({a.text} - {b.text})", common(a, b), a.low - b.high,
                              a.high - b.low)
        return Expression(f"({a.text} + {b.text})", common(a, b), a.low + b.low, a.high + b.high)

    def product(self, depth):
        a, b = self.value(depth), self.leaf()
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return Expression(f"({a.text} * {b.text})", common(a, b), min(ends), max(ends))

    def linear(self, _depth):
        """blockIdx * blockDim + threadIdx and the like"""
        k = self.rng.choice([k for k in range(3) if self.block[k] * self.grid[k] > 1] or [0])
        axis, most = "xyz"[k], self.block[k] * self.grid[k] - 1
        text = f"blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}"
        kind = self.rng.choice(["unsigned", "int", "int", "size_t", "long long"])
        if kind == "unsigned":
            return Expression(f"({text})", kind, 0, most)
        if kind in ("size_t", "long long") and self.one_in(2):
            text = f"({kind})" + text
            return Expression(f"({text})", kind, 0, most)
        return Expression(f"({kind})({text})", kind, 0, most)

    def shift(self, depth):
        a, n = self.value(depth), self.rng.randint(0, 6)
        amount = str(n)
        most = n
        if not self.plain and self.one_in(5):
            b = self.leaf()
            amount, n, most = f"({b.text} & 7)", 0, 7
        kind = common(a, Expression("0", "int", 0, 0))
        if self.one_in(2):
            ends = [a.low >> n, a.low >> most, a.high >> n, a.high >> most]
            return Expression(f"({a.text} >> {amount})", kind, min(ends), max(ends))
        ends = [a.low << n, a.low << most, a.high << n, a.high << most]
        return Expression(f"({a.text} << {amount})", kind, min(ends), max(ends))

    def mask(self, depth):
        a, b = self.value(depth), self.leaf()
        if self.one_in(2):
            n = self.rng.choice([1, 3, 7, 15, 31, 63, 127, 255, 1023, 6, 12, 0xf0, 5])
            b = Expression(str(n), "int", n, n)
        kind = common(a, b)
        top = (1 << max(a.high, b.high, 1).bit_length()) - 1
        if a.low < 0 or b.low < 0:
            positive = [e.high for e in (a, b) if e.low >= 0]
            operator = self.rng.choice("&|^")
            low, high = (0, positive[0]) if operator == "&" and positive else (-1 << 70, 1 << 70)
            return Expression(f"({a.text} {operator} {b.text})", kind, low, high)
        operator = self.rng.choice("&&|^")
        high = min(a.high, b.high) if operator == "&" else top
        if self.one_in(12):
            return Expression(f"({a.text} & ~{b.text})", kind, 0, a.high)
        return Expression(f"({a.text} {operator} {b.text})", kind, 0, high)

    def quotient(self, depth):
        a, b = self.value(depth), self.divisor()
        kind = common(a, b)
        a = converted(a, kind)
        if self.one_in(2):
            most = max(abs(a.low), abs(a.high))
            return Expression(f"({a.text} / {b.text})", kind, -most if a.low < 0 else 0, most)
        return Expression(f"({a.text} % {b.text})", kind, 1 - b.high if a.low < 0 else 0,
                          b.high - 1)

    def extreme(self, depth):
        a, b = self.value(depth), self.value(depth)
        kind = self.rng.choice(["int", "int", "unsigned", "long long"])
        a = Expression(f"({kind})({a.text})", kind, a.low, a.high)
        b = Expression(f"({kind})({b.text})", kind, b.low, b.high)
        if self.one_in(4) and kind == "int":
            high = max(abs(a.low), abs(a.high))
            return Expression(f"abs({a.text})", kind, 0, high)
        if self.one_in(2):
            return Expression(f"min({a.text}, {b.text})", kind, min(a.low, b.low),
                              min(a.high, b.high))
        return Expression(f"max({a.text}, {b.text})", kind, max(a.low, b.low), max(a.high, b.high))

    def choice(self, depth):
        a, b = self.value(depth), self.value(depth)
        return Expression(f"({self.condition(0)} ? {a.text} : {b.text})", common(a, b),
                          min(a.low, b.low), max(a.high, b.high))

    def cast(self, depth):
        a = self.value(depth)
        kind = self.rng.choice(list(INTEGERS))
        return Expression(f"({kind})({a.text})", kind, a.low, a.high)

    def rare(self, depth):
        a = self.value(depth)
        form = self.rng.randrange(9)
        if form == 8:
            return Expression(f"(int)({self.add_float()} * (float)(int)({a.text} & 255))", "int", -300 * 255,
                              300 * 255)
        if form == 0:
            return Expression(f"__popc((unsigned)({a.text}))", "int", 0, 32)
        if form == 1:
            return Expression(f"__clz((int)({a.text}))", "int", 0, 32)
        if form == 2:
            return Expression(f"__umulhi((unsigned)({a.text}), 0x40000000u)", "unsigned", 0, 1 << 30)
        if form == 3:
            return Expression(f"(~{a.text})", common(a, a), -a.high - 1, -a.low - 1)
        if form == 4:
            return Expression(f"(-{a.text})", common(a, a), -a.high, -a.low)
        if form == 5:
            n = self.rng.choice([1, 3, 8])
            return Expression(f"(int)((float)(int)({a.text} & 1023) * 0.{n}f)", "int", 0, 1023)
        if form == 6:
            b = self.leaf()
            return Expression(f"scaled((int)({a.text}), (int)({b.text}))", "int", -1 << 40, 1 << 40)
        return Expression(f"steps[({a.text}) & 15]", "int", 1, 34)

    def data(self):
        """An integer from memory, below 1024."""
        readable = [p for p in self.pointers if p.element in ("int", "unsigned", "short")]
        if not readable:
            readable = [self.add_pointer("int", True)]
        p = self.rng.choice(readable)
        mask = self.rng.choice([7, 63, 1023])
        return Expression(f"({self.element_of(p)} & {mask})", "int", 0, mask)

    def condition(self, depth):
        if depth > 0 and self.one_in(3):
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return f"({a} {self.rng.choice(['&&', '||', '&&'])} {b})"
        if self.one_in(14):
            return f"(!{self.condition(0)})"
        if self.plain and not self.one_in(8):
            operator = self.rng.choice(["<", "<", "<", ">=", "<=", ">"])
            a = self.linear(0) if self.one_in(2) or not self.indices else self.leaf()
            return f"({a.text} {operator} {self.leaf().text})"
        if self.one_in(20):
            return f"({self.add_float()} > 0.25)"
        operator = self.rng.choice(["<"] * 4 + [">", "<=", ">=", ">", "==", "!="])
        a, b = self.leaf(), self.leaf()
        if self.one_in(3):
            a = self.value(2)
        return f"({a.text} {operator} {b.text})"
