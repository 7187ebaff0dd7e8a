/* PyTorch's operators and memory, declared to csan. The only C++ of csan: PyTorch has no other
 * interface that costs as little. From at::RecordFunction come the operators that its dispatcher
 * runs, with their schemas and tensors; from autograd the backward function that runs, with the
 * number of the operator that made it; from the caching allocator's trace, blocks given out and
 * taken back.
 *
 * What an operator does to its tensors is read from its schema's alias annotations, as PyTorch's
 * own sanitizer reads them, once for each operator: an argument (a!) is written, (a) is a view,
 * which touches no data, any other is read. Memory that the allocator gives out while an operator
 * runs is its output. */
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/ivalue.h>
#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/autograd/function.h>
#ifndef CSAN_NO_ALLOCATOR
#include <c10/cuda/CUDACachingAllocator.h>
#endif

#include <Python.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <csan/csan.h>
#include "forward_stacks.h"

namespace
{

/* ---- Operators ---- */

enum class Use : uint8_t { nothing, reads, writes };

/* An argument that holds indices into another one, by the arguments' places: a row of the table in
 * csan_torch/index_operators.py. */
struct Indexing {
    enum Dimension : uint8_t { ARGUMENT, FIRST, ALL, CLASSES, EACH, NUMBER };
    enum Least : uint8_t { ZERO, FROM_END, ANY };
    enum { NO_PLACE = UINT16_MAX };
    bool known = false;
    Dimension how = FIRST;
    Least least = ZERO;
    uint16_t index = 0, into = 0;
    uint16_t dimension = NO_PLACE, ignored = NO_PLACE;
};

struct Operator {
    std::string name;
    bool skipped = false, composite = false;
    bool view = false; /* makes views and no launch */
    uint8_t bound = CSAN_EXACT;
    struct Touched {
        uint16_t argument;
        Use use;
    };
    c10::SmallVector<Touched, 6> touched; /* the arguments whose data it touches */
    Indexing indexing;
    csan_operator declared{};
    std::string text;
    std::vector<std::string> argument_names; /* and the output */
    std::vector<const char *> argument_pointers;
};
/* Found by the address of the schema's name, which is the schema's own. Entries live for ever. */
class Operators
{
  public:
    const Operator *find(const at::RecordFunction &call)
    {
        const char *name = call.name();
        size_t at = (reinterpret_cast<uintptr_t>(name) * 0x9e3779b97f4a7c15u) >> (64 - SIZE_BITS);
        for (size_t probe = 0; probe < PROBES; probe++) {
            const Slot &found = slot(at + probe);
            const char *key = found.key.load(std::memory_order_acquire);
            if (!key)
                break;
            const Operator *what = found.what.load(std::memory_order_acquire);
            if (key == name && strcmp(what->name.c_str(), name) == 0)
                return what;
        }
        return find_slow(call, at);
    }

  private:
    /* `key` is set last, and once. */
    struct Slot {
        std::atomic<const char *> key;
        std::atomic<const Operator *> what;
    };

    enum { SIZE_BITS = 14, PROBES = 8 };
    Slot &slot(size_t at)
    {
        return slots_[at % ((size_t)1 << SIZE_BITS)];
    }
    const Operator *find_slow(const at::RecordFunction &call, size_t at);
    void remember(const char *name, const Operator *what, size_t at);
    static const Operator *make(const at::RecordFunction &call);

    Slot slots_[(size_t)1 << SIZE_BITS] = {};
    std::mutex mutex_;
    std::unordered_map<std::string, const Operator *> known_;
};

bool may_hold_tensors(const c10::Type &type)
{
    switch (type.kind()) {
    case c10::TypeKind::TensorType:
        return true;
    case c10::TypeKind::ListType:
    case c10::TypeKind::OptionalType:
    case c10::TypeKind::TupleType:
        for (const auto &inner : type.containedTypes())
            if (may_hold_tensors(*inner))
                return true;
        return false;
    default:
        return false;
    }
}

Use use_of(const c10::Argument &argument, bool factory)
{
    const c10::AliasInfo *alias = argument.alias_info();
    if (alias && alias->isWrite())
        return Use::writes;
    return alias || factory ? Use::nothing : Use::reads;
}

/* Whether an argument that is written is this result, too. */
bool is_same(const c10::Argument &argument, const c10::Argument &result)
{
    const c10::AliasInfo *alias = argument.alias_info(), *other = result.alias_info();
    return alias && other && alias->isWrite() && other->beforeSets() == alias->beforeSets();
}

/* Operators that only call others have a kernel for that and none for a GPU. */
bool is_composite(const c10::OperatorName &name)
{
    auto handle = c10::Dispatcher::singleton().findSchema(name);
    return handle && handle->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
           !handle->hasKernelForDispatchKey(c10::DispatchKey::CUDA) &&
           !handle->hasKernelForDispatchKey(c10::DispatchKey::AutogradCUDA) &&
           !handle->hasKernelForDispatchKey(c10::DispatchKey::Autograd);
}

/* Operators that ask for or change what a tensor is, and none of its data: size, resize_. */
bool is_metadata(const c10::OperatorName &name)
{
    static const std::unordered_set<std::string> questions = {"aten::is_pinned",
                                                              "aten::_is_pinned",
                                                              "aten::is_same_size",
                                                              "aten::is_set_to",
                                                              "aten::size",
                                                              "aten::stride",
                                                              "aten::numel",
                                                              "aten::dim",
                                                              "aten::sym_size",
                                                              "aten::sym_stride",
                                                              "aten::sym_numel",
                                                              "aten::sym_storage_offset",
                                                              "aten::storage_offset",
                                                              "aten::is_contiguous",
                                                              "aten::is_non_overlapping_and_dense",
                                                              "aten::is_strides_like_format",
                                                              "aten::_has_same_storage_numel",
                                                              "aten::sparse_dim",
                                                              "aten::dense_dim",
                                                              "aten::_nested_tensor_size"};
    if (questions.count(name.name))
        return true;
    auto handle = c10::Dispatcher::singleton().findSchema(name);
    return handle && handle->hasTag(at::Tag::inplace_view);
}

/* The collectives of torch.distributed work in place without an annotation that says so: those
 * whose name ends in _ write all their tensors but the input. */
bool is_written_by_collective(const std::string &name, const std::string &argument)
{
    return name.rfind("c10d::", 0) == 0 && name.back() == '_' && argument.rfind("input", 0) != 0;
}

/* Whether all that it returns are views, of arguments that it does not touch. Those of PyTorch's
 * own make no launch but by other operators (aten::to). */
bool is_view(const c10::FunctionSchema &schema, const Operator &what)
{
    auto views = [](const c10::Argument &result) {
        return result.alias_info() && !result.alias_info()->isWrite();
    };
    return what.name.rfind("aten::", 0) == 0 && what.touched.empty() && !schema.returns().empty() &&
           std::all_of(schema.returns().begin(), schema.returns().end(), views);
}

/* A row of the table, by its words. */
struct IndexRow {
    std::string index, into, dimension, least, ignored;
};
std::unordered_map<std::string, IndexRow> &index_rows()
{
    static auto *rows = new std::unordered_map<std::string, IndexRow>;
    return *rows;
}

uint16_t place_of(const c10::FunctionSchema &schema, const std::string &name)
{
    auto place = schema.argumentIndexWithName(name);
    return place ? static_cast<uint16_t>(*place) : static_cast<uint16_t>(Indexing::NO_PLACE);
}

Indexing indexing_of(const c10::FunctionSchema &schema)
{
    Indexing found;
    auto row = index_rows().find(schema.name());
    if (row == index_rows().end())
        return found;
    const IndexRow &words = row->second;
    found.index = place_of(schema, words.index);
    found.into = place_of(schema, words.into);
    found.dimension = place_of(schema, words.dimension);
    found.ignored = place_of(schema, words.ignored);
    found.how = found.dimension != Indexing::NO_PLACE ? Indexing::ARGUMENT
                : words.dimension == "all"            ? Indexing::ALL
                : words.dimension == "classes"        ? Indexing::CLASSES
                : words.dimension == "each"           ? Indexing::EACH
                : words.dimension == "number"         ? Indexing::NUMBER
                                                      : Indexing::FIRST;
    found.least = words.least == "0"      ? Indexing::ZERO
                  : words.least == "size" ? Indexing::FROM_END
                                          : Indexing::ANY;
    found.known = found.index != Indexing::NO_PLACE && found.into != Indexing::NO_PLACE &&
                  (found.how != Indexing::FIRST || words.dimension == "0") &&
                  (words.ignored == "-" || found.ignored != Indexing::NO_PLACE);
    return found;
}

const Operator *Operators::make(const at::RecordFunction &call)
{
    auto *what = new Operator;
    what->name = call.name();
    auto schema = call.operator_schema();
    if (!schema || what->name == "aten::record_stream") { /* which works on nothing */
        what->skipped = true;
        return what;
    }
    /* Factories read nothing of the tensors that they are like; as in PyTorch's sanitizer. */
    static const std::regex factories("(.*::)?(new_.*|.*_like)");
    bool factory = std::regex_match(what->name, factories);
    std::ostringstream text;
    text << *schema;
    what->text = text.str();
    bool metadata = is_metadata(schema->operator_name());
    for (const c10::Argument &argument : schema->arguments()) {
        Use use = metadata ? Use::nothing : use_of(argument, factory);
        bool returned = false;
        for (const c10::Argument &result : schema->returns())
            returned |= is_same(argument, result);
        if (use == Use::reads && is_written_by_collective(what->name, argument.name()))
            use = Use::writes;
        if (use != Use::nothing && may_hold_tensors(*argument.type()))
            what->touched.push_back({static_cast<uint16_t>(what->argument_names.size()), use});
        what->argument_names.push_back(argument.name() + (returned ? CSAN_ARGUMENT_RETURNED : ""));
    }
    what->declared.output = static_cast<uint16_t>(what->argument_names.size());
    what->argument_names.push_back(CSAN_ARGUMENT_RETURNED);
    for (const std::string &name : what->argument_names)
        what->argument_pointers.push_back(name.c_str());
    /* Which rank writes is the root's to say. */
    if (what->name == "c10d::broadcast_" || what->name == "c10d::reduce_")
        what->bound = CSAN_BOUND_ANNOTATED;
    what->indexing = indexing_of(*schema);
    what->declared.name = what->text.c_str();
    what->declared.arguments = what->argument_pointers.data();
    what->declared.argument_count = what->argument_pointers.size();
    what->composite = is_composite(schema->operator_name());
    what->view = is_view(*schema, *what);
    return what;
}

/* In the first place that is free, or that name's for an operator whose schema is gone. Where there
 * is none the name is looked up slowly each time. */
void Operators::remember(const char *name, const Operator *what, size_t at)
{
    for (size_t probe = 0; probe < PROBES; probe++) {
        Slot &place = slot(at + probe);
        const char *key = place.key.load(std::memory_order_relaxed);
        if (key && key != name)
            continue;
        place.what.store(what, std::memory_order_release);
        place.key.store(name, std::memory_order_release);
        return;
    }
}

const Operator *Operators::find_slow(const at::RecordFunction &call, size_t at)
{
    static const Operator skipped = [] {
        Operator none;
        none.skipped = true;
        return none;
    }();
    auto name = call.operator_name();
    if (!name) /* no work of the dispatcher's: a part of the program that PyTorch gives a name */
        return &skipped;
    std::lock_guard<std::mutex> lock(mutex_);
    const Operator *&what = known_[c10::toString(*name)];
    if (!what)
        what = make(call);
    remember(call.name(), what, at);
    return what;
}

Operators &operators()
{
    static auto *all = new Operators;
    return *all;
}

/* ---- Tensors ---- */

/* The accesses of one call. Their dims lie in one array, which moves while it grows: until the call
 * is complete an access holds the place of its first one. */
class Accesses
{
  public:
    std::vector<csan_access> device, host;

    void clear()
    {
        device.clear();
        host.clear();
        dims_.clear();
        wrapped = false;
    }

    void add(const at::Tensor &tensor, Use use, uint16_t argument)
    {
        csan_access access;
        if (!tensor.defined() || !describe(tensor, access))
            return;
        access.kind = use == Use::writes ? CSAN_WRITE : CSAN_READ;
        access.argument = argument;
        if (tensor.is_cuda())
            device.push_back(access);
        else if (tensor.is_cpu())
            host.push_back(access);
    }

    void add(const c10::IValue &value, Use use, uint16_t argument)
    {
        if (value.isTensor()) {
            add(value.toTensor(), use, argument);
        } else if (value.isTensorList() || value.isList() || value.isOptionalTensorList()) {
            for (const c10::IValue &item : value.toListRef())
                add(item, use, argument);
        } else if (value.isTuple()) {
            for (const c10::IValue &item : value.toTupleRef().elements())
                add(item, use, argument);
        }
    }

    /* An argument may be a tensor of a kind that has no data to speak of, and says so by throwing.
     */
    void add_argument(const c10::IValue &value, const Operator &what, Operator::Touched touched)
    {
        size_t first = device.size();
        try {
            add(value, touched.use, touched.argument);
        } catch (...) {
        }
        for (size_t i = first; what.bound && i < device.size(); i++)
            device[i].bound = what.bound;
    }

    void complete()
    {
        if (dims_.empty())
            return;
        for (auto *all : {&device, &host})
            for (csan_access &access : *all)
                access.dims = dims_.data() + reinterpret_cast<uintptr_t>(access.dims);
    }

    bool wrapped = false; /* there are wrappers, whose own operators come later */

  private:
    bool describe(const at::Tensor &tensor, csan_access &access);
    void describe_strided(const c10::TensorImpl &impl, csan_access &access);

    std::vector<csan_dim> dims_;
};

/* The bytes of a tensor that is not dense: rows, each in one piece. */
void Accesses::describe_strided(const c10::TensorImpl &impl, csan_access &access)
{
    auto sizes = impl.sizes(), strides = impl.strides();
    auto element = static_cast<int64_t>(impl.itemsize());
    size_t first = dims_.size();
    access.bytes = static_cast<uint64_t>(element);
    for (size_t i = sizes.size(); i-- > 0;) {
        auto count = static_cast<uint64_t>(sizes[i]);
        int64_t stride = strides[i] * element;
        bool inner = dims_.size() == first;
        if (count == 1 || stride == 0)
            continue;
        if (inner && stride == static_cast<int64_t>(access.bytes))
            access.bytes *= count;
        else if (!inner && stride == dims_.back().stride * static_cast<int64_t>(dims_.back().count))
            dims_.back().count *= count;
        else
            dims_.push_back({stride, count});
    }
    if (dims_.size() - first > CSAN_MAX_DIMS) { /* all from the first byte to the last */
        for (size_t i = first; i < dims_.size(); i++)
            access.bytes += static_cast<uint64_t>(dims_[i].stride) * (dims_[i].count - 1);
        dims_.resize(first);
        access.bound = CSAN_BOUND_SHAPE;
    }
    access.dim_count = static_cast<uint8_t>(dims_.size() - first);
}

/* False: it has no memory, or none that is known. */
bool Accesses::describe(const at::Tensor &tensor, csan_access &access)
{
    const c10::TensorImpl &impl = *tensor.unsafeGetTensorImpl();
    if (impl.key_set().has_any(c10::DispatchKeySet(c10::DispatchKey::Python))) {
        wrapped = true;
        return false;
    }
    if (!impl.has_storage() || impl.has_symbolic_sizes_strides() || impl.numel() == 0)
        return false;
    const void *memory = impl.unsafe_storage().unsafeGetStorageImpl()->data();
    if (!memory)
        return false;
    access = csan_access{};
    access.base = reinterpret_cast<uint64_t>(memory) +
                  static_cast<uint64_t>(impl.storage_offset()) * impl.itemsize();
    access.dims = reinterpret_cast<const csan_dim *>(dims_.size());
    if (impl.is_non_overlapping_and_dense_default())
        access.bytes = static_cast<uint64_t>(impl.numel()) * impl.itemsize();
    else
        describe_strided(impl, access);
    return true;
}

/* ---- Indices ---- */

using Indices = c10::SmallVector<csan_indices, 4>;

/* Those of one tensor. */
void indices_add(Indices &all, const Indexing &indexing, const at::Tensor &tensor,
                 int64_t dimension, int64_t size)
{
    const c10::TensorImpl &impl = *tensor.unsafeGetTensorImpl();
    if (!tensor.defined() ||
        impl.key_set().has_any(c10::DispatchKeySet(c10::DispatchKey::Python)) ||
        !impl.has_storage() || impl.has_symbolic_sizes_strides() || size < 0 ||
        (tensor.scalar_type() != at::kLong && tensor.scalar_type() != at::kInt))
        return;
    csan_indices indices{};
    const void *memory = impl.unsafe_storage().unsafeGetStorageImpl()->data();
    if (memory && tensor.is_contiguous() && (tensor.is_cuda() || tensor.is_cpu()))
        indices.base = reinterpret_cast<uint64_t>(memory) +
                       static_cast<uint64_t>(impl.storage_offset()) * impl.itemsize();
    indices.on_host = tensor.is_cpu();
    indices.count = static_cast<uint64_t>(impl.numel());
    indices.high = size;
    indices.low = indexing.least == Indexing::ZERO       ? 0
                  : indexing.least == Indexing::FROM_END ? -size
                                                         : INT64_MIN;
    indices.element_bytes = static_cast<uint16_t>(impl.itemsize());
    indices.argument = indexing.index;
    indices.of = indexing.into;
    indices.dimension = static_cast<int16_t>(dimension);
    indices.dim_count = static_cast<uint16_t>(impl.dim());
    for (int64_t i = 0; i < impl.dim() && i < CSAN_INDICES_DIMS; i++)
        indices.sizes[i] = static_cast<uint64_t>(impl.sizes()[static_cast<size_t>(i)]);
    all.push_back(indices);
}

/* Of no dimension a tensor is like one of one element. */
int64_t size_of(const at::Tensor &tensor, int64_t dimension)
{
    return tensor.dim() == 0                            ? 1
           : dimension < 0 || dimension >= tensor.dim() ? -1
                                                        : tensor.size(dimension);
}

/* Of a list: a tensor of numbers takes one dimension, a mask as many as it has, none takes one. */
void indices_add_each(Indices &all, const Indexing &indexing, const c10::IValue &list,
                      const at::Tensor &into)
{
    int64_t dimension = 0;
    for (const c10::IValue &item : list.toListRef()) {
        bool is_mask =
            item.isTensor() && item.toTensor().defined() && item.toTensor().itemsize() == 1;
        if (item.isTensor() && item.toTensor().defined() && !is_mask)
            indices_add(all, indexing, item.toTensor(), dimension, size_of(into, dimension));
        dimension += is_mask ? item.toTensor().dim() : 1;
    }
}

void indices_find(Indices &all, const Indexing &indexing, at::ArrayRef<const c10::IValue> inputs)
{
    const c10::IValue &index = inputs[indexing.index], &into = inputs[indexing.into];
    if (indexing.how == Indexing::NUMBER) {
        if (into.isInt() && index.isTensor())
            indices_add(all, indexing, index.toTensor(), CSAN_INDICES_OF_NUMBER, into.toInt());
        return;
    }
    if (!into.isTensor() || !into.toTensor().is_cuda())
        return;
    const at::Tensor &tensor = into.toTensor();
    int64_t dimension = 0;
    if (indexing.how == Indexing::EACH) {
        indices_add_each(all, indexing, index, tensor);
        return;
    }
    if (!index.isTensor())
        return;
    if (indexing.how == Indexing::ALL) {
        indices_add(all, indexing, index.toTensor(), CSAN_INDICES_OF_ALL, tensor.numel());
        return;
    }
    if (indexing.how == Indexing::CLASSES)
        dimension = tensor.dim() > 1;
    if (indexing.how == Indexing::ARGUMENT) {
        if (!inputs[indexing.dimension].isInt()) /* a name */
            return;
        dimension = inputs[indexing.dimension].toInt();
        dimension += dimension < 0 ? std::max<int64_t>(tensor.dim(), 1) : 0;
    }
    indices_add(all, indexing, index.toTensor(), dimension, size_of(tensor, dimension));
}

/* Of the operator that has begun. Tensors of some kinds say by throwing that they have no sizes. */
void indices_declare(const Indexing &indexing, const at::RecordFunction &call)
{
    auto inputs = call.inputs();
    auto is_there = [&](uint16_t place) {
        return place == Indexing::NO_PLACE || place < inputs.size();
    };
    if (!is_there(indexing.index) || !is_there(indexing.into) || !is_there(indexing.dimension) ||
        !is_there(indexing.ignored))
        return;
    try {
        Indices all;
        indices_find(all, indexing, inputs);
        for (csan_indices &indices : all)
            if (indexing.ignored != Indexing::NO_PLACE && inputs[indexing.ignored].isInt()) {
                indices.has_ignored = 1;
                indices.ignored = inputs[indexing.ignored].toInt();
            }
        if (!all.empty())
            csan_operator_indices(all.data(), all.size());
    } catch (...) {
    }
}

/* ---- Python ---- */

/* NULL: nothing is known of this interpreter's frames. */
const csan_python_stacks *python = nullptr;

const void *python_top()
{
    return python ? python->top() : nullptr;
}

size_t python_capture(const void **frames, size_t capacity)
{
    return python ? python->source->capture(frames, capacity, 0) : 0;
}

/* A frame that stands for a heading between two stacks. */
enum { HEADING_FORWARD = 1, HEADING_ENGINE, HEADING_NO_FORWARD, HEADINGS };

const void *heading(uint64_t number)
{
    return reinterpret_cast<const void *>((uint64_t)1 << 63 | number);
}

/* ---- Calls ---- */

/* A call of an operator that runs. */
struct Call {
    const at::RecordFunction *record;
    const void *top; /* the Python frame that made it */
    bool declared;   /* to csan */
    Accesses accesses;
};

/* The thread's stack, kept for all that its outermost call does while no Python runs within that:
 * neither its Python frames nor its backward function change meanwhile. */
struct Stack {
    enum { ROOM = 64 };
    const void *frames[ROOM];
    size_t python_count; /* of Python's frames, */
    size_t count;        /* and of all */
    size_t capacity;     /* that `count` is for; 0: not known yet */
    bool known;
};

/* The thread's own. */
struct Thread {
    size_t depth = 0;
    std::vector<std::unique_ptr<Call>> calls; /* what lies beyond depth keeps its room */
    Stack stack{};
};

__thread struct {
    Thread *thread;
    bool ended; /* nothing is followed any more */
} own;

/* In a forked child, whose locks other threads may have held, nothing is followed any more. */
std::atomic<bool> forked{false};

void follow_no_more()
{
    forked = true;
    own.thread = nullptr;
    own.ended = true;
}

struct ThreadEnd {
    ~ThreadEnd()
    {
        delete own.thread;
        own.thread = nullptr;
        own.ended = true;
    }
};

Thread *thread_begin_slow()
{
    if (own.ended || forked)
        return nullptr;
    static thread_local ThreadEnd end;
    static_cast<void>(end);
    return own.thread = new Thread;
}

/* NULL: it is not followed any more. */
Thread *self()
{
    return __builtin_expect(own.thread != nullptr, 1) ? own.thread : thread_begin_slow();
}

/* The stack that is kept, from the time on that it is asked for; NULL where Python runs within the
 * outermost call. `top` is the thread's now. */
Stack *stack_kept(Thread &thread, const void *top)
{
    if (!thread.depth || top != thread.calls[0]->top)
        return nullptr;
    Stack &stack = thread.stack;
    if (!stack.known) {
        stack.python_count = python_capture(stack.frames, Stack::ROOM);
        stack.capacity = 0;
        stack.known = true;
    }
    return &stack;
}

/* Where the operator is called: its backward function will want to know. Operators that make no
 * such function have the number of the next one that does, which comes later and counts; those that
 * it calls have its number, too. */
void remember_forward(const at::RecordFunction &call, Thread &thread)
{
    const Stack *stack = stack_kept(thread, thread.calls[0]->top);
    if (stack->python_count)
        forward_stacks_put(at::RecordFunction::currentThreadId(), call.seqNr(), stack->frames,
                           stack->python_count);
}

/* Where a torch.autograd.Function is applied: PyTorch names a region by its class, with the number
 * that its backward function gets next. Other regions have numbers of earlier calls. */
void remember_function(const at::RecordFunction &region)
{
    const void *frames[FORWARD_FRAMES_MAX];
    if (region.seqNr() < 0 || (uint64_t)region.seqNr() != at::sequence_number::peek())
        return;
    const size_t count = python_capture(frames, FORWARD_FRAMES_MAX);
    if (count)
        forward_stacks_put(at::RecordFunction::currentThreadId(), region.seqNr(), frames, count);
}

void operator_declare(const Operator &what, const at::RecordFunction &call, Accesses &accesses)
{
    accesses.clear();
    auto inputs = call.inputs();
    for (Operator::Touched touched : what.touched)
        if (touched.argument < inputs.size())
            accesses.add_argument(inputs[touched.argument], what, touched);
    accesses.complete();
    csan_operator_call declared{};
    declared.accesses = accesses.device.data();
    declared.count = accesses.device.size();
    declared.host_accesses = accesses.host.data();
    declared.host_count = accesses.host.size();
    declared.composite = what.composite || accesses.wrapped;
    csan_operator_begin(&what.declared, &declared);
    if (what.indexing.known)
        indices_declare(what.indexing, call);
}

void operator_begin(const Operator &what, const at::RecordFunction &record, Thread &thread)
{
    if (thread.depth == thread.calls.size())
        thread.calls.push_back(std::make_unique<Call>());
    Call &call = *thread.calls[thread.depth++];
    call.record = &record;
    call.top = python_top();
    call.declared = !what.view;
    if (thread.depth == 1) {
        thread.stack.known = false;
        if (record.seqNr() >= 0)
            remember_forward(record, thread);
    }
    if (call.declared)
        operator_declare(what, record, call.accesses);
}

/* Structures that PyTorch passes to kernels are filled in part; behind that they have what the
 * stack had, that is, what these callbacks left there. csan takes such words for a part of the
 * launch until it sees that they have no effect. So they are different each time. */
std::atomic<bool> stirs{false};

__attribute__((noinline)) void stack_stir()
{
    enum { WORDS = 1024 };
    static thread_local uint64_t state = 88172645463325252u;
    uint64_t words[WORDS];
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::fill(words, words + WORDS,
              state & 1 ? state : state >> 16 | CSAN_OPERATOR_STACK_MARK << 48);
    asm volatile("" : : "r"(words) : "memory");
}

std::unique_ptr<at::ObserverContext> call_begins(const at::RecordFunction &record)
{
    Thread *thread = self();
    if (!thread)
        return nullptr;
    const Operator *what = operators().find(record);
    if (what->skipped) {
        thread->stack.known = false; /* it may be a backward function's */
        remember_function(record);
    } else {
        operator_begin(*what, record, *thread);
    }
    if (__builtin_expect(stirs.load(std::memory_order_relaxed), 0))
        stack_stir();
    return nullptr;
}

/* Calls end in the reverse order of their beginning, on the same thread. */
void call_ends(const at::RecordFunction &record, at::ObserverContext *)
{
    Thread *thread = self();
    if (!thread)
        return;
    Call *call = thread->depth ? thread->calls[thread->depth - 1].get() : nullptr;
    if (!call || call->record != &record) {
        thread->stack.known = false;
        return;
    }
    if (call->declared)
        csan_operator_end();
    thread->depth--;
    if (__builtin_expect(stirs.load(std::memory_order_relaxed), 0))
        stack_stir();
}

/* ---- Stacks ---- */

/* Of a thread that runs operators and no Python: its native frames would name the engine only, and
 * are not cheap. */
size_t engine_frame(const void **frames)
{
    frames[0] = heading(HEADING_ENGINE);
    return 1;
}

/* Whether operators are followed. */
std::atomic<bool> are_followed{false};

/* The frames of a backward function that runs Python, as a checkpoint's does. While operators rest,
 * its forward call may have been made without anybody noting it. */
size_t without_forward(const void **frames, size_t count)
{
    if (are_followed.load(std::memory_order_relaxed))
        return count;
    frames[count] = heading(HEADING_NO_FORWARD);
    return count + 1;
}

/* The forward call of the backward function that the thread runs, after `count` frames of Python's:
 * how many there are then. */
size_t append_forward(const void **frames, size_t count, size_t capacity, bool in_operator)
{
    auto backward = torch::autograd::get_current_node(); /* the thread's own */
    if (!backward || count + 1 >= capacity)
        return count || !in_operator ? count : engine_frame(frames);
    auto sequence = static_cast<int64_t>(backward->sequence_nr());
    size_t forward = sequence < 0 ? 0
                                  : forward_stacks_get(backward->thread_id(), sequence,
                                                       frames + count + 1, capacity - count - 1);
    if (!forward && count && sequence >= 0)
        return without_forward(frames, count);
    if (!forward)
        return count ? count : engine_frame(frames);
    frames[count] = heading(HEADING_FORWARD);
    return count + 1 + forward;
}

size_t stack_capture(const void **frames, size_t capacity, int)
{
    Thread *thread = self();
    if (!thread)
        return 0;
    Stack *stack = capacity <= Stack::ROOM ? stack_kept(*thread, python_top()) : nullptr;
    if (!stack) {
        size_t count = python_capture(frames, capacity);
        return append_forward(frames, count, capacity, thread->depth != 0);
    }
    if (stack->capacity != capacity) {
        size_t count = std::min(stack->python_count, capacity);
        stack->count = append_forward(stack->frames, count, capacity, true);
        stack->capacity = capacity;
    }
    memcpy(frames, stack->frames, stack->count * sizeof *frames);
    return stack->count;
}

int stack_describe(const void *frame, csan_source_line *line)
{
    static const char *const headings[HEADINGS] = {
        nullptr, "It is part of the backward pass of the operator called at:",
        "  (in a thread of PyTorch's own, which runs no Python)",
        "It is part of the backward pass of an operator whose call csan did not see "
        "(CSAN_OPTIONS=operator_summaries=0 sees all)."};
    for (int number = HEADING_FORWARD; number < HEADINGS; number++) {
        if (frame != heading(number))
            continue;
        *line = csan_source_line{nullptr, headings[number], 0};
        return 1;
    }
    return python->source->describe(frame, line);
}

const csan_stack_source source = {sizeof(csan_stack_source), stack_capture, stack_describe, 0};

/* ---- Races ---- */

struct Races {
    std::mutex mutex;
    std::vector<std::string> reports;
    PyObject *raise = nullptr;
    bool scheduled = false;
};
Races &races = *new Races; /* races may be found until the very end */

/* With the interpreter's lock, in the main thread, between two instructions of its. */
int raise_races(void *)
{
    std::vector<std::string> reports;
    {
        std::lock_guard<std::mutex> lock(races.mutex);
        reports.swap(races.reports);
        races.scheduled = false;
    }
    PyObject *list = PyList_New(0);
    for (const std::string &report : reports) {
        PyObject *text = PyUnicode_DecodeUTF8(report.data(), (Py_ssize_t)report.size(), "replace");
        if (list && text)
            PyList_Append(list, text);
        Py_XDECREF(text);
    }
    PyObject *result = list ? PyObject_CallFunctionObjArgs(races.raise, list, nullptr) : nullptr;
    Py_XDECREF(list);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

int race_found(void *, const csan_race *, const char *report)
{
    if (!self() || !Py_IsInitialized()) /* nobody is left to raise it */
        return 0;
    std::lock_guard<std::mutex> lock(races.mutex);
    if (!races.scheduled)
        races.scheduled = Py_AddPendingCall(raise_races, nullptr) == 0;
    if (races.scheduled)
        races.reports.emplace_back(report);
    return races.scheduled;
}

/* ---- Whether operators are followed ---- */

/* csan says when they need not be (csan_operator_source), on any thread and with locks of its own;
 * it is called by the callbacks themselves, too. An operator that runs keeps the callbacks that it
 * began with. */
struct Following {
    std::mutex mutex;
    bool wanted = false, scheduled = false;
    at::CallbackHandle handle = 0; /* 0: they are not followed */
};
Following &following = *new Following;

void follow_as_wanted()
{
    std::lock_guard<std::mutex> lock(following.mutex);
    if (following.wanted && !following.handle)
        following.handle =
            at::addGlobalCallback(at::RecordFunctionCallback(&call_begins, &call_ends)
                                      .needsInputs(true)
                                      .scopes({at::RecordScope::FUNCTION}));
    if (!following.wanted && following.handle) {
        at::removeCallback(following.handle);
        following.handle = 0;
    }
    are_followed.store(following.handle != 0, std::memory_order_relaxed);
}

/* In the main thread, between two instructions of its: no operator runs there, nor a backward pass
 * that it began. */
int follow_between(void *)
{
    {
        std::lock_guard<std::mutex> lock(following.mutex);
        following.scheduled = false;
    }
    follow_as_wanted();
    return 0;
}

void operators_follow(int now)
{
    {
        std::lock_guard<std::mutex> lock(following.mutex);
        following.wanted = true;
        if (!now && !following.scheduled && Py_IsInitialized())
            following.scheduled = Py_AddPendingCall(follow_between, nullptr) == 0;
        now = now || !following.scheduled;
    }
    if (now)
        follow_as_wanted();
}

void operators_rest()
{
    {
        std::lock_guard<std::mutex> lock(following.mutex);
        following.wanted = false;
    }
    follow_as_wanted();
}

const csan_operator_source operator_source = {sizeof(csan_operator_source), operators_follow,
                                              operators_rest};

#ifndef CSAN_NO_ALLOCATOR

/* ---- Memory ---- */

/* By this name until 2.10, whose own it is, and after, when it became one for all devices. */
using TraceEntry = c10::cuda::CUDACachingAllocator::TraceEntry;

/* Called with the allocator locked. Memory that record_stream keeps from being given out again is
 * taken back when that is over: FREE_COMPLETED. */
void allocator_traced(const TraceEntry &entry)
{
    if (!self())
        return;
    auto *block = reinterpret_cast<const void *>(entry.addr_);
    if (entry.action_ == TraceEntry::ALLOC)
        csan_pool_alloc(block, entry.size_, entry.stream_);
    else if (entry.action_ == TraceEntry::FREE_COMPLETED)
        csan_pool_free(block, entry.stream_);
}

#endif

} // namespace

/* ---- What Python calls, with its lock ---- */

extern "C" {

/* Start: nothing is followed yet. 0: csan is not in this process, or off. */
__attribute__((visibility("default"))) int csan_torch_start(void)
{
    if (!csan_enabled())
        return 0;
    pthread_atfork(nullptr, nullptr, follow_no_more);
    return 1;
}

/* Before operators are followed: those that take indices, one a line, as
 * csan_torch/index_operators.py has them. */
__attribute__((visibility("default"))) void csan_torch_index_operators(const char *table)
{
    std::istringstream lines(table);
    std::string name;
    IndexRow row;
    while (lines >> name >> row.index >> row.into >> row.dimension >> row.least >> row.ignored)
        index_rows()[name] = row;
}

/* `raise` is called with a list of reports and raises an exception for them. 0: stacks are left to
 * another source, since nothing is known of this interpreter's frames. */
__attribute__((visibility("default"))) int csan_torch_follow_operators(PyObject *raise)
{
    Py_INCREF(raise);
    races.raise = raise;
    python = csan_python(reinterpret_cast<const void *>(&Py_GetVersion));
    if (python)
        csan_stack_source_set(&source);
    csan_on_race(race_found, nullptr);
    const int answer = csan_operator_source_set(&operator_source);
    stirs = answer & CSAN_OPERATORS_ARE_SUMMARIZED;
    if (answer & CSAN_OPERATORS_ARE_DECLARED)
        operators_follow(1);
    return python != nullptr;
}

/* Once CUDA is initialised: the caching allocator exists from then on. 0: it cannot be followed. */
__attribute__((visibility("default"))) int csan_torch_follow_allocator(void)
{
#ifdef CSAN_NO_ALLOCATOR
    return 0;
#else
    try {
        c10::cuda::CUDACachingAllocator::attachAllocatorTraceTracker(allocator_traced);
    } catch (...) { /* another allocator, whose memory the driver's own functions report */
        return 0;
    }
    return 1;
#endif
}
}
