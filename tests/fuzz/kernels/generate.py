#!/usr/bin/env python3
"""Writes random CUDA C++ kernels, and what a launch of each may be given.

    generate.py SEED COUNT OUT.cu OUT.spec

The kernels differ in how they make addresses: index expressions, guards, loops, pointers and where
those come from. What they compute is of no interest. Every integer expression carries the interval
its value lies in, so that most addresses stay inside the 8 MiB that the runner puts round every
pointer; those that do not only end the launch early. Divisors are never zero, since PTX leaves the
result open; anything else that C++ leaves open is settled once the kernel is PTX.

OUT.spec, one line each, which specification.c reads:

    kernel NAME BLOCK_X BLOCK_Y BLOCK_Z GRID_X GRID_Y GRID_Z SHARED   the largest launch, bytes
    pointer PARAMETER OFFSET ALIGNMENT    8 bytes at OFFSET of the parameter: into a buffer
    table PARAMETER OFFSET COUNT          into a buffer that holds COUNT pointers
    scalar PARAMETER OFFSET BYTES LOW HIGH
    float PARAMETER OFFSET BYTES
"""
import random
import sys

import expressions
import loops
import shapes
from expressions import INTEGERS, Expression

# Elements: name -> (bytes, alignment, ways to read one as a double, ways to write one).
# `{}` is the element; `{v}` the value written.
ELEMENTS = {
    "char": (1, 1, ["{}"], ["{} = (char){v}"]),
    "unsigned char": (1, 1, ["{}"], ["{} = (unsigned char){v}"]),
    "short": (2, 2, ["{}"], ["{} = (short){v}"]),
    "int": (4, 4, ["{}"], ["{} = (int){v}"]),
    "unsigned": (4, 4, ["{}"], ["{} = (unsigned){v}"]),
    "float": (4, 4, ["{}"], ["{} = (float){v}"]),
    "double": (8, 8, ["{}"], ["{} = {v}"]),
    "long long": (8, 8, ["{}"], ["{} = (long long){v}"]),
    "float2": (8, 8, ["{}.x", "{}.y", "sum({})"],
               ["{}.x = (float){v}", "{} = make_float2((float){v}, 1.0f)"]),
    "float4": (16, 16, ["{}.x", "{}.w", "sum({})"],
               ["{}.y = (float){v}", "{} = make_float4((float){v}, 0.0f, 1.0f, 2.0f)"]),
    "int4": (16, 16, ["{}.z", "sum({})"], ["{} = make_int4((int){v}, 1, 2, 3)"]),
    "short2": (4, 4, ["{}.x", "{}.x + {}.y"], ["{} = make_short2((short){v}, 3)"]),
    "uchar4": (4, 4, ["{}.y", "{}.x + {}.w"],
               ["{}.w = 7", "{} = make_uchar4((unsigned char){v}, 1, 2, 3)"]),
    "rgb": (3, 1, ["{}.r", "{}.g + {}.b"], ["{}.g = (unsigned char){v}"]),
    "record": (16, 8, ["{}.weight", "{}.tag", "{}.weight + {}.id"],
               ["{}.weight = {v}", "{}.tag = (short){v}", "{}.id = 1, {}.tag = 2"]),
}
SCALARS = ["int", "unsigned", "float", "double", "char", "short", "long long"]

PRELUDE = """// Written by generate.py {arguments}
struct rgb { unsigned char r, g, b; };
struct record { double weight; int id; short tag; };
__device__ inline double sum(float2 v) { return v.x + v.y; }
__device__ inline double sum(float4 v) { return v.x + v.y + v.z + v.w; }
__device__ inline double sum(int4 v) { return (double)v.x + v.y + v.z + v.w; }
__device__ int scratch[4096];
__device__ float weights[64][32];
__constant__ int steps[16] = {1, 2, 3, 5, 8, 13, 21, 34, 1, 1, 2, 2, 3, 3, 4, 4};
__device__ __noinline__ void put_int(int *to, long long at, int value) { to[at] = value; }
__device__ __noinline__ float get_float(const float *from, int at) { return from[at]; }
__device__ __noinline__ int scaled(int a, int b) { return a * b + 3; }
__device__ __noinline__ int descend(int *to, int at, int depth)
{
    to[at] = depth;
    return depth > 0 ? descend(to, at + 2, depth - 1) + 1 : 0;
}
""" + shapes.FUNCTIONS


class Pointer:
    def __init__(self, text, element, written=True):
        self.text, self.element, self.written = text, element, written


class Kernel(expressions.Expressions, loops.Loops, shapes.Shapes):
    def __init__(self, name, rng):
        self.name, self.rng = name, rng
        self.parameters, self.specification = [], []
        self.values, self.pointers, self.indices = [], [], []
        self.outside, self.lines = [], []
        self.names = 0
        self.trips = 1  # of the loops around
        self.top = True
        self.shared = 0
        self.plain = self.one_in(2)  # addresses and guards as most programs have them
        self.sum_kind = rng.choice(["int", "int", "int", "float", "long long"])

    # ---- small helpers ----

    def one_in(self, n):
        return self.rng.randrange(n) == 0

    def fresh(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    def emit(self, depth, text):
        self.lines.append("    " * depth + text)

    # ---- what the launch is given ----

    def choose_launch(self):
        self.block, self.grid = self.rng.choice([
            ((256, 1, 1), (6, 1, 1)), ((128, 1, 1), (12, 1, 1)), ((64, 1, 1), (6, 2, 1)),
            ((4, 1, 1), (300, 1, 1)), ((1, 1, 1), (70, 3, 1)), ((16, 16, 1), (4, 4, 1)),
            ((32, 8, 1), (3, 5, 1)), ((8, 4, 4), (3, 3, 2)), ((33, 3, 2), (3, 2, 2)),
        ])
        for k, axis in enumerate("xyz"):
            if self.block[k] > 1 or self.one_in(8):
                self.values.append(Expression(f"threadIdx.{axis}", "unsigned", 0,
                                              self.block[k] - 1))
                self.values.append(Expression(f"blockDim.{axis}", "unsigned", 1, self.block[k]))
            if self.grid[k] > 1 or self.one_in(8):
                self.values.append(Expression(f"blockIdx.{axis}", "unsigned", 0, self.grid[k] - 1))
                if self.one_in(2):
                    self.values.append(Expression(f"gridDim.{axis}", "unsigned", 1, self.grid[k]))

    def add_scalar(self, low=None, high=None, kind=None):
        kind = kind or self.rng.choice(["int"] * 6 + ["unsigned"] * 3 + list(INTEGERS))
        size, signed = INTEGERS[kind]
        if low is None:
            low, high = self.rng.choice([(0, 40), (1, 64), (0, 300), (0, 1000), (1, 16), (0, 3),
                                         (-20, 60), (-3, 3), (0, 5000)])
            if self.one_in(12):  # any value at all
                low = -(1 << (size * 8 - 1)) if signed else 0
                high = low + (1 << (size * 8)) - 1
        if not signed:
            low = max(low, 0)
        if size == 1:
            low, high = max(low, -100), min(high, 100)
        high = max(low, min(high, (1 << 63) - 1))
        name = self.fresh("n")
        self.specification.append(f"scalar {len(self.parameters)} 0 {size} {low} {high}")
        self.parameters.append(f"{kind} {name}")
        value = Expression(name, kind, low, high)
        self.values.append(value)
        return value

    def add_float(self):
        kind = self.rng.choice(["float", "float", "double"])
        name = self.fresh("z")
        size = 4 if kind == "float" else 8
        self.specification.append(f"float {len(self.parameters)} 0 {size}")
        self.parameters.append(f"{kind} {name}")
        return name

    def add_pointer(self, element=None, constant=None):
        element = element or self.rng.choice(SCALARS * 3 + list(ELEMENTS))
        constant = self.one_in(3) if constant is None else constant
        name = self.fresh("p")
        restrict = "__restrict__ " if self.one_in(3) else ""
        self.specification.append(f"pointer {len(self.parameters)} 0 {ELEMENTS[element][1]}")
        self.parameters.append(f"{'const ' if constant else ''}{element} *{restrict}{name}")
        pointer = Pointer(name, element, not constant)
        self.pointers.append(pointer)
        return pointer

    def add_struct(self):
        """A struct by value: pointers, offsets, and sometimes an array of pointers."""
        name, kind = self.fresh("s"), f"{self.name}_struct{self.names}"
        index, offset, fields = len(self.parameters), 0, []
        self.parameters.append(None)  # its place: fields may need parameters of their own
        for _ in range(self.rng.randint(1, 4)):
            choice = self.rng.randrange(3)
            field = self.fresh("f")
            if choice == 0:
                element = self.rng.choice(list(ELEMENTS))
                offset = (offset + 7) // 8 * 8
                fields.append(f"{element} *{field};")
                self.specification.append(f"pointer {index} {offset} {ELEMENTS[element][1]}")
                self.pointers.append(Pointer(f"{name}.{field}", element))
                offset += 8
            elif choice == 1:
                scalar = self.rng.choice(["int", "unsigned", "long long", "short"])
                size = INTEGERS[scalar][0]
                offset = (offset + size - 1) // size * size
                fields.append(f"{scalar} {field};")
                high = self.rng.choice([3, 40, 500])
                self.specification.append(f"scalar {index} {offset} {size} 0 {high}")
                self.values.append(Expression(f"{name}.{field}", scalar, 0, high))
                offset += size
            else:
                element, count = self.rng.choice(SCALARS), self.rng.choice([2, 3, 4])
                offset = (offset + 7) // 8 * 8
                fields.append(f"{element} *{field}[{count}];")
                for k in range(count):
                    self.specification.append(
                        f"pointer {index} {offset + 8 * k} {ELEMENTS[element][1]}")
                offset += 8 * count
                which = self.rng.randrange(count) if self.one_in(3) else None
                if which is None:
                    e = self.value(1)
                    which = f"(unsigned)({e.text}) % {count}u"
                self.pointers.append(Pointer(f"{name}.{field}[{which}]", element))
        self.outside.append(f"struct {kind} {{ {' '.join(fields)} }};")
        self.parameters[index] = f"{kind} {name}"

    def add_table(self):
        """Pointers that lie in memory."""
        element, count = self.rng.choice(SCALARS), self.rng.choice([2, 4, 7])
        name = self.fresh("t")
        self.specification.append(f"table {len(self.parameters)} 0 {count}")
        self.parameters.append(f"{element} **{name}")
        which = self.rng.randrange(count)
        if self.one_in(2):
            which = f"(unsigned)({self.value(1).text}) % {count}u"
        self.pointers.append(Pointer(f"{name}[{which}]", element))

    # ---- accesses ----

    def index(self, element):
        """An index for elements of that type: within 4 MiB, seldom below 0."""
        size = ELEMENTS[element][0]
        if self.pointers and self.one_in(25):
            return self.data().text
        e = self.value(self.rng.choice([0, 1, 1, 2, 2, 2, 3, 3]))
        least = -(512 << 10) // size if self.one_in(15) else -64
        if least <= e.low and e.high <= (4 << 20) // size or self.one_in(60):
            return e.text
        limit = self.rng.choice([1, 3, 64, 100, 1000, 1024, 4096, 30000])
        if self.one_in(2):
            mask = (1 << limit.bit_length()) - 1
            return f"({e.text} & {mask})"
        kind = "unsigned long long" if INTEGERS[e.kind][0] == 8 else "unsigned"
        return f"(({kind})({e.text}) % {limit}u)"

    def element_of(self, p):
        at = self.index(p.element)
        form = self.rng.randrange(12)
        if form == 0:
            return f"(*({p.text} + {at}))"
        if form == 1 and p.element in SCALARS:
            return f"(*(volatile {p.element} *)&{p.text}[{at}])"
        if form == 2:
            shift = self.rng.choice([1, 2, 8])
            return f"({p.text} + {at})[{shift}]"
        if form == 3:
            other = [o for o in self.pointers
                     if o.element == p.element and (o.written or not p.written)]
            o = self.rng.choice(other)
            return f"({self.condition(0)} ? {p.text} : {o.text})[{at}]"
        return f"{p.text}[{at}]"

    def put_load(self, depth, p, text):
        way = self.rng.choice(ELEMENTS[p.element][2])
        name = self.fresh("v")
        self.emit(depth, f"{p.element} {name} = {p.text}[{text}];")
        self.emit(depth, "sum_ += " + way.replace("{}", name) + ";")

    def put_store(self, depth, p, text):
        name = self.fresh("r")
        way = self.rng.choice(ELEMENTS[p.element][3])
        self.emit(depth, f"{p.element} &{name} = {p.text}[{text}];")
        self.emit(depth, way.replace("{}", name).replace("{v}", "1") + ";")

    def load(self, depth):
        p = self.rng.choice(self.pointers)
        if p.element == "float" and self.one_in(8):
            self.emit(depth, f"sum_ += get_float({p.text}, (int)({self.index('float')}));")
            return
        if p.element in ("int", "float", "unsigned", "double", "float4") and self.one_in(6):
            how = self.rng.choice(ELEMENTS[p.element][2])
            load = f"__ldg(&{p.text}[{self.index(p.element)}])"
            self.emit(depth, "sum_ += " + how.replace("{}", load) + ";")
            return
        way = self.rng.choice(ELEMENTS[p.element][2])
        if way.count("{}") > 1 or self.one_in(2):
            name = self.fresh("v")
            self.emit(depth, f"{p.element} {name} = {self.element_of(p).replace('volatile ', '')};")
            self.emit(depth, "sum_ += " + way.replace("{}", name) + ";")
        else:
            self.emit(depth, "sum_ += " + way.replace("{}", self.element_of(p)) + ";")

    def written_pointer(self):
        written = [p for p in self.pointers if p.written]
        return self.rng.choice(written) if written else self.add_pointer(constant=False)

    def store(self, depth):
        p = self.written_pointer()
        if p.element == "int" and self.one_in(8):
            self.emit(depth, f"put_int({p.text}, {self.index('int')}, 5);")
            return
        if p.element in ("int", "unsigned") and self.one_in(10):
            self.assembly_store(depth, p)
            return
        way = self.rng.choice(ELEMENTS[p.element][3])
        value = self.rng.choice(["1", "sum_", "sum_", "(sum_ + 1)"])
        at = self.element_of(p)
        if way.count("{}") > 1:
            name = self.fresh("r")
            self.emit(depth, f"{p.element} &{name} = {at};")
            at = name
        self.emit(depth, way.replace("{}", at).replace("{v}", value) + ";")
        if self.one_in(6):
            self.emit(depth, f"sum_ = {self.rng.choice(['0', 'sum_ * 0.5', '1'])};")

    def assembly_store(self, depth, p):
        """A predicated store, which the compiler itself never writes."""
        self.emit(depth, '{ asm volatile("{ .reg .pred q; setp.ne.s32 q, %2, 0; '
                  '@q st.global.b32 [%0], %1; }" ')
        self.emit(depth, f'  :: "l"(__cvta_generic_to_global(&{p.text}[{self.index("int")}])), "r"(7), '
                  f'"r"((int){self.condition(0)}) : "memory"); }}')

    def update(self, depth):
        usable = [p for p in self.pointers if p.written and
                  p.element in ("int", "unsigned", "float", "double")]
        if not usable:
            usable = [self.add_pointer(self.rng.choice(["int", "unsigned"]), False)]
        p = self.rng.choice(usable)
        scope = self.rng.choice(["", "", "", "_block", "_system"])
        at = f"&{p.text}[{self.index(p.element)}]"
        if p.element in ("float", "double"):
            call = f"atomicAdd{scope}({at}, ({p.element})1)"
        else:
            name = self.rng.choice(["Add", "Max", "Min", "Or", "Exch", "CAS"])
            call = f"atomic{name}{scope}({at}, {'1, ' if name == 'CAS' else ''}({p.element})3)"
        self.emit(depth, f"sum_ += {call};" if self.one_in(2) else f"{call};")

    def variable_access(self, depth):
        form = self.rng.randrange(4)
        at = f"(({self.value(2).text}) & {self.rng.choice([63, 255, 2047])})"
        if form == 0:
            self.emit(depth, f"scratch[{at}] = 3;")
        elif form == 1:
            self.emit(depth, f"sum_ += scratch[{at} + 7];")
        elif form == 2:
            self.emit(depth, f"weights[{at} & 63][({self.value(1).text}) & 31] = 1.0f;")
        else:
            self.emit(depth, f"sum_ += steps[{at} & 15];")

    # ---- pointers ----

    def derived_pointer(self, depth):
        """A name for p + offset, or a choice of two, or one out of a local array."""
        p = self.rng.choice(self.pointers)
        name = self.fresh("q")
        const = "" if p.written else "const "
        form = self.rng.randrange(6)
        alike = [o for o in self.pointers if o.element == p.element and o.written == p.written]
        if form == 0 and len(alike) > 1:
            others = [self.rng.choice(alike).text for _ in range(self.rng.randint(2, 4))]
            array = self.fresh("a")
            self.emit(depth, f"{const}{p.element} *{array}[] = {{{', '.join(others)}}};")
            which = f"(unsigned)({self.value(1).text}) % {len(others)}u"
            self.emit(depth, f"{const}{p.element} *{name} = {array}[{which}];")
        elif form == 1 and len(alike) > 1:
            o = self.rng.choice(alike)
            self.emit(depth, f"{const}{p.element} *{name} = {self.condition(0)} ? {p.text} : "
                      f"{o.text};")
        elif form == 2:  # a row of a matrix whose pitch is in bytes
            size = ELEMENTS[p.element][0]
            pitch = self.add_scalar(8, 200, self.rng.choice(["int", "size_t"]))
            self.emit(depth, f"{const}{p.element} *{name} = ({const}{p.element} *)(({const}char *)"
                      f"{p.text} + {self.linear(0).text} * {pitch.text} * {size});")
        elif form == 3 and p.text[0] == "p" and depth == 1:
            self.emit(depth, f"{p.text} += {self.index(p.element)};")
            return
        else:
            self.emit(depth, f"{const}{p.element} *{name} = {p.text} + {self.index(p.element)};")
        self.pointers.append(Pointer(name, p.element, p.written))

    def bump_loop(self, depth):
        """A pointer as the induction variable."""
        p = self.written_pointer()
        name, count = self.fresh("w"), self.small()
        step = self.rng.choice(["++", " += 2", " += blockDim.x", " += 1"])
        self.emit(depth, f"{p.element} *{name} = {p.text} + {self.index(p.element)};")
        counter = self.fresh("c")
        way = self.rng.choice(ELEMENTS[p.element][3])
        body = way.replace("{}", f"(*{name})").replace("{v}", "1")
        if self.one_in(2):
            limit = self.fresh("e")
            self.emit(depth, f"{p.element} *{limit} = {name} + {count.text};")
            self.emit(depth, f"for (; {name} < {limit}; {name}{step}) {{ {body}; }}")
        else:
            self.emit(depth, f"for (int {counter} = 0; {counter} < {count.text}; {counter}++, "
                      f"{name}{step}) {{ {body}; }}")

    def swap_loop(self, depth):
        """Two pointers that change places."""
        a = self.written_pointer()
        alike = [o for o in self.pointers if o.element == a.element and o.written]
        b = self.rng.choice(alike)
        if a.element not in SCALARS:
            return
        x, y, z, k = (self.fresh(s) for s in "xyzk")
        self.emit(depth, f"{a.element} *{x} = {a.text}, *{y} = {b.text};")
        self.emit(depth, f"for (int {k} = 0; {k} < {self.small().text}; {k}++) {{")
        self.emit(depth + 1, f"{x}[{self.index(a.element)}] = {y}[{self.index(a.element)} ];")
        self.emit(depth + 1, f"{a.element} *{z} = {x}; {x} = {y}; {y} = {z};")
        self.emit(depth, "}")

    # ---- other statements ----

    def guard(self, depth):
        pointers, top, self.top = len(self.pointers), self.top, False
        condition = f"({self.data().text} > 3)" if self.one_in(10) else self.condition(2)
        self.emit(depth, f"if {condition} {{")
        for _ in range(self.rng.randint(1, 2)):
            self.statement(depth + 1)
        self.drop_pointers(pointers)
        while self.one_in(3):
            self.emit(depth, f"}} else if {self.condition(1)} {{")
            self.statement(depth + 1)
            self.drop_pointers(pointers)
        if self.one_in(3):
            self.emit(depth, "} else {")
            self.statement(depth + 1)
            self.drop_pointers(pointers)
        self.emit(depth, "}")
        self.top = top

    def early_return(self, depth):
        self.emit(depth, f"if {self.condition(1)} return;")
        self.top = False

    def switch(self, depth):
        pointers, top, self.top = len(self.pointers), self.top, False
        self.emit(depth, f"switch (({self.value(1).text}) & 7) {{")
        for k in range(self.rng.randint(2, 6)):
            self.emit(depth, f"case {k}: {{")
            self.statement(depth + 1)
            self.drop_pointers(pointers)
            self.emit(depth, "}" if self.one_in(4) else "} break;")
        self.emit(depth, "}")
        self.top = top

    def local_value(self, depth):
        if self.indices:
            return self.store(depth)
        e, name = self.value(3), self.fresh("l")
        kind = self.rng.choice(["int", "int", "unsigned", "long long", "size_t", e.kind])
        if depth == 1:
            self.emit(depth, f"{kind} {name} = {e.text};")
            self.values.append(Expression(name, kind, e.low, e.high))
        return None

    def tile(self, depth):
        """A guarded element of a matrix with a pitch."""
        x, y = self.fresh("x"), self.fresh("y")
        p = self.rng.choice([q for q in self.pointers if q.written] or [self.written_pointer()])
        width = self.add_scalar(1, 100, "int")
        height = self.add_scalar(1, 60, self.rng.choice(["int", "unsigned"]))
        pitch = self.add_scalar(100, 200, "int") if self.one_in(2) else width
        second = "y" if self.block[1] * self.grid[1] > 1 else "x"
        kind = self.rng.choice(["int", "int", "unsigned"])
        self.emit(depth, f"{kind} {x} = blockIdx.x * blockDim.x + threadIdx.x;")
        self.emit(depth, f"{kind} {y} = blockIdx.{second} * blockDim.{second} + "
                  f"threadIdx.{second};")
        self.emit(depth, f"if ({x} < {width.text} && {y} < {height.text}) {{")
        form = self.rng.randrange(4)
        at = f"{y} * {pitch.text} + {x}"
        if form == 1:
            at = f"({y} + 1) * {pitch.text} + {x} + 1"
        elif form == 2:
            at = f"{x} * {pitch.text} + {y}"
        elif form == 3:
            at = f"({pitch.text} * {y} + {x}) * 3 + {self.rng.randrange(3)}"
        way = self.rng.choice(ELEMENTS[p.element][3])
        name = self.fresh("r")
        self.emit(depth + 1, f"{p.element} &{name} = {p.text}[{at}];")
        self.emit(depth + 1, way.replace("{}", name).replace("{v}", "sum_") + ";")
        q = self.rng.choice(self.pointers)
        read = self.rng.choice(ELEMENTS[q.element][2])
        near = self.rng.choice([at, f"{y} * {pitch.text} + {x} - 1", f"({y} + 2) * {pitch.text} + {x}"])
        self.emit(depth + 1, "sum_ += " + read.replace("{}", f"{q.text}[{near}]") + ";")
        self.emit(depth, "}")

    def box(self, depth):
        """A guarded element of a volume, some with a loop over one of its sides."""
        p = self.written_pointer()
        sides = [self.add_scalar(1, 20, "int") for _ in range(3)]
        names = [self.fresh(s) for s in "xyz"]
        looped = self.rng.randrange(4)
        for k in range(3):
            axis = "xyz"[k]
            if k != looped:
                self.emit(depth, f"int {names[k]} = blockIdx.{axis} * blockDim.{axis} + "
                          f"threadIdx.{axis};")
        guards = [f"{names[k]} {self.rng.choice(['<', '<', '<', '>='])} {sides[k].text}"
                  for k in range(3) if k != looped]
        inverted = any(">=" in g for g in guards)
        if inverted:
            guards = [g.replace("<", ">=") if ">=" not in g else g for g in guards]
            self.emit(depth, f"if ({' || '.join(guards)}) return;")
            self.top = False
        else:
            self.emit(depth, f"if ({' && '.join(guards)}) {{")
        if looped < 3:
            self.emit(depth + 1, f"for (int {names[looped]} = {self.rng.choice([0, 0, 1])}; "
                      f"{names[looped]} < {sides[looped].text}; {names[looped]}++) {{")
        x, y, z = names if self.one_in(2) else self.rng.sample(names, 3)
        way = self.rng.choice(ELEMENTS[p.element][3])
        name = self.fresh("r")
        self.emit(depth + 2, f"{p.element} &{name} = {p.text}[({z} * {sides[1].text} + {y}) * "
                  f"{sides[0].text} + {x}];")
        self.emit(depth + 2, way.replace("{}", name).replace("{v}", "sum_") + ";")
        self.emit(depth + 1, ("}" if looped < 3 else "") + ("" if inverted else "}"))

    def panel(self, depth):
        """Tiles loaded one after the other, as in a matrix product."""
        readable = [p for p in self.pointers if p.element in SCALARS]
        if not readable or self.trips > 1:
            return self.load(depth)
        p = self.rng.choice(readable)
        t, width = self.fresh("t"), self.add_scalar(1, 100, "int")
        row, column = self.rng.choice([("y", "x"), ("x", "y"), ("x", "x")])
        step = self.rng.choice(["blockDim.x", "16", "8"])
        self.emit(depth, f"for (int {t} = 0; {t} < {width.text}; {t} += {step}) {{")
        at = self.rng.choice([
            f"(blockIdx.{row} * blockDim.{row} + threadIdx.{row}) * {width.text} + {t} + "
            f"threadIdx.{column}",
            f"({t} + threadIdx.{row}) * {width.text} + blockIdx.{column} * blockDim.{column} + "
            f"threadIdx.{column}"])
        guard = self.rng.choice(["", f"if ({t} + threadIdx.{column} < {width.text}) "])
        if p.written and self.one_in(3):
            self.emit(depth + 1, f"{guard}{p.text}[{at}] = ({p.element})sum_;")
        else:
            self.emit(depth + 1, f"{guard}sum_ += {p.text}[{at}];")
        self.emit(depth, "}")
        return None

    def wide(self, depth):
        """Four elements at a time, and the rest one by one."""
        usable = [p for p in self.pointers if p.element == "float4" and p.written]
        p = self.rng.choice(usable) if usable else self.add_pointer("float4", False)
        n, i = self.add_scalar(0, 3000, "int"), self.fresh("i")
        self.emit(depth, f"int {i} = blockIdx.x * blockDim.x + threadIdx.x;")
        self.emit(depth, f"if ({i} < {n.text} / 4) {p.text}[{i}] = make_float4(sum_, 1, 2, 3);")
        self.emit(depth, f"if ({i} < {n.text} % 4) ((float *){p.text})[{n.text} / 4 * 4 + {i}] = "
                  "sum_;")

    def share(self, depth):
        """Through shared memory or between lanes, where all threads are."""
        if not self.top or depth != 1:
            return self.store(depth)
        name, form = self.fresh("h"), self.rng.randrange(4)
        flat = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))"
        if form == 0:
            self.emit(depth, f"__shared__ int {name}[256];")
            self.emit(depth, f"{name}[{flat} & 255] = (int)({self.value(1).text});")
            self.emit(depth, "__syncthreads();")
            self.emit(depth, f"sum_ += {name}[({self.value(2).text}) & 255];")
            self.values.append(Expression(f"({name}[{flat} & 255] & 1023)", "int", 0, 1023))
        elif form == 1:
            self.shared = 1024
            self.emit(depth, f"dynamic[{flat} & 255] = (float)sum_;")
            self.emit(depth, "__syncthreads();")
            self.emit(depth, f"sum_ += dynamic[({self.value(2).text}) & 255];")
        elif form == 2:
            self.emit(depth, f"int {name} = __shfl_sync(__activemask(), "
                      f"(int)({self.value(1).text}), 0) & 511;")
            self.values.append(Expression(name, "int", 0, 511))
        else:
            self.emit(depth, f"unsigned {name} = __ballot_sync(__activemask(), "
                      f"{self.condition(0)});")
            self.values.append(Expression(f"(unsigned)__popc({name})", "unsigned", 0, 32))
        return None

    def recursive(self, depth):
        usable = [p for p in self.pointers if p.element == "int" and p.written]
        if not usable or self.trips > 8:
            return self.store(depth)
        p = self.rng.choice(usable)
        self.emit(depth, f"sum_ += descend({p.text}, (int){self.index('int')}, "
                  f"{self.rng.choice([0, 2, 5])});")
        return None

    def asynchronous(self, depth):
        usable = [p for p in self.pointers if p.element in ("float4", "float", "int", "int4")]
        if not usable:
            return self.load(depth)
        p, name = self.rng.choice(usable), self.fresh("h")
        size = ELEMENTS[p.element][0]
        form = "cg" if size == 16 and self.one_in(2) else "ca"
        self.emit(depth, f"{{ __shared__ {p.element} {name}[256];")
        self.emit(depth, f'  asm volatile("cp.async.{form}.shared.global [%0], [%1], {size};" :: '
                  f'"r"((unsigned)__cvta_generic_to_shared(&{name}[threadIdx.x & 255])), '
                  f'"l"(__cvta_generic_to_global(&{p.text}[{self.index(p.element)}])) : "memory");')
        self.emit(depth, '  asm volatile("cp.async.wait_all;" ::: "memory"); }')
        return None

    def statement(self, depth):
        if depth > 4:
            self.store(depth)
            return
        makers = [(self.store, 8), (self.load, 6), (self.guard, 5), (self.loop, 6),
                  (self.update, 2), (self.variable_access, 1), (self.derived_pointer, 2),
                  (self.bump_loop, 1), (self.swap_loop, 1), (self.early_return, 1),
                  (self.switch, 1), (self.local_value, 3), (self.tile, 2), (self.box, 1),
                  (self.panel, 1), (self.wide, 1), (self.share, 1),
                  (self.recursive, 1), (self.shape, 9), (self.asynchronous, 1 if ASYNCHRONOUS else 0)]
        maker = self.rng.choices([m for m, _ in makers], [w for _, w in makers])[0]
        maker(depth)

    def generate(self):
        self.choose_launch()
        for _ in range(self.rng.randint(1, 3)):
            self.add_pointer()
        for _ in range(self.rng.randint(0, 4)):
            self.add_scalar()
        if self.one_in(4):
            self.add_struct()
        if self.one_in(15):
            self.add_table()
        if not self.pointers:
            self.add_pointer()
        for _ in range(self.rng.choice([1, 1, 2, 2, 3, 4, 5])):
            self.statement(1)
        p = self.written_pointer()
        way = ELEMENTS[p.element][3][-1]
        name = self.fresh("r")
        self.emit(1, f"{p.element} &{name} = {p.text}[{self.index(p.element)}];")
        self.emit(1, way.replace("{}", name).replace("{v}", "sum_") + ";")

    def text(self):
        lines = [f"// kernel {self.name}"] + self.outside
        lines.append(f'extern "C" __global__ void {self.name}({", ".join(self.parameters)})')
        lines.append("{")
        if self.shared:
            lines.append("    extern __shared__ float dynamic[];")
        return "\n".join(lines + [f"    {self.sum_kind} sum_ = 1;"] + self.lines + ["}", "// end", ""])

    def spec(self):
        sizes = " ".join(str(n) for n in self.block + self.grid)
        return "\n".join([f"kernel {self.name} {sizes} {self.shared}"] + self.specification)


ASYNCHRONOUS = False  # cp.async needs sm_80


def main():
    global ASYNCHRONOUS
    arguments = [a for a in sys.argv[1:] if a != "--async"]
    ASYNCHRONOUS = "--async" in sys.argv
    seed, count = int(arguments[0]), int(arguments[1])
    with open(arguments[2], "w") as source, open(arguments[3], "w") as specification:
        source.write(PRELUDE.replace("{arguments}", " ".join(map(str, sys.argv[1:3]))))
        for n in range(count):
            kernel = Kernel(f"k{n}", random.Random(seed * 1000003 + n))
            kernel.generate()
            source.write("\n" + kernel.text())
            specification.write(kernel.spec() + "\n")


main()
