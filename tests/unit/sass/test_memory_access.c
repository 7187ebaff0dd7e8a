/* What memory instructions access: real ones, as nvcc 13.0 makes them, with what nvdisasm prints of
 * them; and the addresses of lanes whose registers are known. make compare-machine-code compares
 * many more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/sass/memory_access.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { NONE = MEMORY_NO_REGISTER };

/* Of one part. The other members of an unknown address are zero. */
struct expected {
    uint32_t architecture;
    uint64_t low, high;
    const char *text;
    enum memory_space space;
    enum memory_action action;
    uint32_t bytes;
    enum { UNKNOWN, SHORT, WIDE } address;
    uint8_t base;
    bool is_base_wide;
    uint8_t uniform, descriptor, scale;
    int32_t offset;
};

static const struct expected loads_and_stores[] = {
    {75, 0x0000000002047381, 0x001eed00, "LDG.E.128.SYS R4, [R2]", MEMORY_GLOBAL, MEMORY_READS, 16,
     WIDE, 2, true, NONE, NONE, 1, 0},
    {75, 0x0000040002050381, 0x001ee900, "@P0 LDG.E.SYS R5, [R2+0x4]", MEMORY_GLOBAL, MEMORY_READS,
     4, WIDE, 2, true, NONE, NONE, 1, 4},
    {75, 0x7ffffc0aff057981, 0x0c1ee900, "LDG.E.SYS R5, [UR10+0x7ffffc]", MEMORY_GLOBAL,
     MEMORY_READS, 4, WIDE, NONE, true, 10, NONE, 1, 0x7ffffc},
    {75, 0x0000000400057981, 0x081ee300, "LDG.E.S8.SYS R5, [R0.U32+UR4]", MEMORY_GLOBAL,
     MEMORY_READS, 1, WIDE, 0, false, 4, NONE, 1, 0},
    {80, 0x7ffffc0c040d7981, 0x0c1e1900, "LDG.E R13, [R4.64+0x7ffffc]", MEMORY_GLOBAL, MEMORY_READS,
     4, WIDE, 4, true, NONE, 12, 1, 0x7ffffc},
    {90, 0x0000060602007981, 0x0c1e1500, "LDG.E.U16 R0, desc[UR6][R2.64+0x6]", MEMORY_GLOBAL,
     MEMORY_READS, 2, WIDE, 2, true, NONE, 6, 1, 6},
    {100, 0x0000080c021a7981, 0x0c1e1b00, "LDG.E.64 R26, desc[UR12][R2.64+0x8]", MEMORY_GLOBAL,
     MEMORY_READS, 8, WIDE, 2, true, NONE, 12, 1, 8},
    {100, 0xfe0000040204797e, 0x08121908, "LDG.E.ENL2.256 R8, R4, desc[UR4][R2.64]", MEMORY_GLOBAL,
     MEMORY_READS, 32, WIDE, 2, true, NONE, 4, 1, 0},
    {100, 0xf80001040c08797f, 0x0f121804, "STG.E.ENL2.256 desc[UR4][R12.64+0x20], R4, R8",
     MEMORY_GLOBAL, MEMORY_WRITES, 32, WIDE, 12, true, NONE, 4, 1, 0x20},
    {75, 0x0006300804007386, 0x0010ed00, "STG.E.128.SYS [R4+0x630], R8", MEMORY_GLOBAL,
     MEMORY_WRITES, 16, WIDE, 4, true, NONE, NONE, 1, 0x630},
    {75, 0x0000000704007986, 0x0810e90c, "STG.E.SYS [R4.U32+UR12], R7", MEMORY_GLOBAL,
     MEMORY_WRITES, 4, WIDE, 4, false, 12, NONE, 1, 0},
    {90, 0x0000630704007986, 0x0c101104, "STG.E.U8 desc[UR4][R4.64+0x63], R7", MEMORY_GLOBAL,
     MEMORY_WRITES, 1, WIDE, 4, true, NONE, 4, 1, 0x63},
    {75, 0x0000001002087980, 0x0010ed00, "LD.E.128.SYS R8, [R2+0x10]", MEMORY_GENERIC, MEMORY_READS,
     16, WIDE, 2, true, NONE, NONE, 1, 0x10},
    {75, 0x0000010403007980, 0x0810e100, "LD.E.U8.SYS R0, [R3.U32+UR4+0x1]", MEMORY_GENERIC,
     MEMORY_READS, 1, WIDE, 3, false, 4, NONE, 1, 1},
    {90, 0x0000001802067980, 0x00100b00, "LD.E.64 R6, [R2+0x18]", MEMORY_GENERIC, MEMORY_READS, 8,
     WIDE, 2, true, NONE, NONE, 1, 0x18},
    {90, 0x0000040404007980, 0x0c101900, "LD.E R0, desc[UR4][R4.64+0x4]", MEMORY_GENERIC,
     MEMORY_READS, 4, WIDE, 4, true, NONE, 4, 1, 4},
    {75, 0x0000001804007385, 0x0010e903, "ST.E.SYS [R4+0x18], R3", MEMORY_GENERIC, MEMORY_WRITES, 4,
     WIDE, 4, true, NONE, NONE, 1, 0x18},
    {90, 0x00000010ff007985, 0x08100904, "ST.E [RZ.U32+UR4], R16", MEMORY_GENERIC, MEMORY_WRITES, 4,
     WIDE, NONE, false, 4, NONE, 1, 0},
    {100, 0x0000180506007985, 0x0c101908, "ST.E desc[UR8][R6.64+0x18], R5", MEMORY_GENERIC,
     MEMORY_WRITES, 4, WIDE, 6, true, NONE, 8, 1, 0x18},
    {75, 0x00001c0007067984, 0x00005800, "LDS.U R6, [R7.X4+0x1c]", MEMORY_SHARED, MEMORY_READS, 4,
     SHORT, 7, false, NONE, NONE, 4, 0x1c},
    {90, 0xfffff805ff147984, 0x08000800, "LDS R20, [UR5+-0x8]", MEMORY_SHARED, MEMORY_READS, 4,
     SHORT, NONE, false, 5, NONE, 1, -8},
    {100, 0x00001c0405067984, 0x08000800, "LDS R6, [R5+UR4+0x1c]", MEMORY_SHARED, MEMORY_READS, 4,
     SHORT, 5, false, 4, NONE, 1, 0x1c},
    {80, 0x000000040c007388, 0x0000cc00, "STS.128 [R12.X16], R4", MEMORY_SHARED, MEMORY_WRITES, 16,
     SHORT, 12, false, NONE, NONE, 16, 0},
    {80, 0x0000000409007388, 0x00008a00, "STS.64 [R9.X8], R4", MEMORY_SHARED, MEMORY_WRITES, 8,
     SHORT, 9, false, NONE, NONE, 8, 0},
    {90, 0xffffe016ff007988, 0x08000805, "STS [UR5+-0x20], R22", MEMORY_SHARED, MEMORY_WRITES, 4,
     SHORT, NONE, false, 5, NONE, 1, -0x20},
    {75, 0x0000340001147983, 0x00100800, "LDL R20, [R1+0x34]", MEMORY_LOCAL, MEMORY_READS, 4, SHORT,
     1, false, NONE, NONE, 1, 0x34},
    {100, 0xffffac2cff007983, 0x08100800, "LDL R0, [UR44+-0x54]", MEMORY_LOCAL, MEMORY_READS, 4,
     SHORT, NONE, false, 44, NONE, 1, -0x54},
    {90, 0x0000200401007387, 0x00100c00, "STL.128 [R1+0x20], R4", MEMORY_LOCAL, MEMORY_WRITES, 16,
     SHORT, 1, false, NONE, NONE, 1, 0x20},
    {100, 0xffff3c00ff007987, 0x08100838, "STL [UR56+-0xc4], R0", MEMORY_LOCAL, MEMORY_WRITES, 4,
     SHORT, NONE, false, 56, NONE, 1, -0xc4},
};

static const struct expected atomics[] = {
    {75, 0x000008040608738a, 0x001145ff, "ATOM.E.ADD.64.STRONG.GPU P0, R8, [R6+0x8], R4",
     MEMORY_GENERIC, MEMORY_UPDATES, 8, WIDE, 6, true, NONE, NONE, 1, 8},
    {80, 0x000008040608798a, 0x0810e5c4, "ATOM.E.ADD.64.STRONG.GPU P0, R8, [R6.64+0x8], R4",
     MEMORY_GENERIC, MEMORY_UPDATES, 8, WIDE, 6, true, NONE, 4, 1, 8},
    {90, 0x000008040608798a, 0x0810e5c6,
     "ATOM.E.ADD.64.STRONG.GPU P0, R8, desc[UR6][R6.64+0x8], R4", MEMORY_GENERIC, MEMORY_UPDATES, 8,
     WIDE, 6, true, NONE, 6, 1, 8},
    {100, 0x800008040608798a, 0x0810f50a,
     "ATOM.E.ADD.64.STRONG.GPU P0, R8, desc[UR10][R6.64+0x8], R4", MEMORY_GENERIC, MEMORY_UPDATES,
     8, WIDE, 6, true, NONE, 10, 1, 8},
    {90, 0x00000004ffff098a, 0x081ee104, "@P0 ATOM.E.ADD.STRONG.GPU PT, RZ, [RZ.U32+UR4], R4",
     MEMORY_GENERIC, MEMORY_UPDATES, 4, WIDE, NONE, false, 4, NONE, 1, 0},
    {100, 0x8000180506ff79a2, 0x0c10e108,
     "ATOM.E.ADD.F16x2.RN.STRONG.GPU P0, RZ, desc[UR8][R6.64+0x18], R5", MEMORY_GENERIC,
     MEMORY_UPDATES, 4, WIDE, 6, true, NONE, 8, 1, 0x18},
    {90, 0x0000180c0206738b, 0x0010e50e, "ATOM.E.CAS.64.STRONG.GPU P0, R6, [R2+0x18], R12, R14",
     MEMORY_GENERIC, MEMORY_UPDATES, 8, WIDE, 2, true, NONE, NONE, 1, 0x18},
    {75, 0x00001810ff0679a8, 0x0c1f4546, "ATOMG.E.EXCH.64.STRONG.GPU PT, R6, [UR6+0x18], R16",
     MEMORY_GLOBAL, MEMORY_UPDATES, 8, WIDE, NONE, true, 6, NONE, 1, 0x18},
    {80, 0x00000008060879a8, 0x081eedc6, "ATOMG.E.ADD.F64.RN.STRONG.GPU PT, R8, [R6.64], R8",
     MEMORY_GLOBAL, MEMORY_UPDATES, 8, WIDE, 6, true, NONE, 6, 1, 0},
    {90, 0x000000040a0879a3, 0x081ef7c4,
     "ATOMG.E.ADD.F32x4.FTZ.RN.STRONG.GPU PT, R8, desc[UR4][R10.64], R4", MEMORY_GLOBAL,
     MEMORY_UPDATES, 16, WIDE, 10, true, NONE, 4, 1, 0},
    {100, 0x80003814040479a8, 0x0c1ef906,
     "ATOMG.E.EXCH.128.STRONG.GPU PT, R4, desc[UR6][R4.64+0x38], R20", MEMORY_GLOBAL,
     MEMORY_UPDATES, 16, WIDE, 4, true, NONE, 6, 1, 0x38},
    {100, 0xc0000812021209a8, 0x081ef50a,
     "@P0 ATOMG.E.ADD.64.STRONG.GPU PT, R18, desc[UR10][R2.64+-0x3ffff8], R18", MEMORY_GLOBAL,
     MEMORY_UPDATES, 8, WIDE, 2, true, NONE, 10, 1, -0x3ffff8},
    {75, 0x00001010040473a9, 0x001f4512, "ATOMG.E.CAS.64.STRONG.GPU PT, R4, [R4+0x10], R16, R18",
     MEMORY_GLOBAL, MEMORY_UPDATES, 8, WIDE, 4, true, NONE, NONE, 1, 0x10},
    {90, 0x00000008020c73a9, 0x001ee90c, "ATOMG.E.CAS.128.STRONG.GPU PT, R12, [R2], R8, R12",
     MEMORY_GLOBAL, MEMORY_UPDATES, 16, WIDE, 2, true, NONE, NONE, 1, 0},
    {75, 0x000014060200798e, 0x00110100, "RED.E.ADD.STRONG.CTA [R2+0x14], R6", MEMORY_GLOBAL,
     MEMORY_UPDATES, 4, WIDE, 2, true, NONE, NONE, 1, 0x14},
    {75, 0x00004006ff00798e, 0x0c114d06, "RED.E.ADD.F64.RN.STRONG.GPU [UR6+0x40], R6",
     MEMORY_GLOBAL, MEMORY_UPDATES, 8, WIDE, NONE, true, 6, NONE, 1, 0x40},
    {80, 0x000218100200798e, 0x0d10eb86, "RED.E.MAX.S64.STRONG.GPU [R2.64+0x218], R16",
     MEMORY_GLOBAL, MEMORY_UPDATES, 8, WIDE, 2, true, NONE, 6, 1, 0x218},
    {90, 0x000000050600798e, 0x0c10e184, "REDG.E.ADD.STRONG.GPU desc[UR4][R6.64], R5",
     MEMORY_GLOBAL, MEMORY_UPDATES, 4, WIDE, 6, true, NONE, 4, 1, 0},
    {100, 0x0002180e0200798e, 0x0d12e70a, "REDG.E.MAX.S64.STRONG.GPU desc[UR10][R2.64+0x218], R14",
     MEMORY_GLOBAL, MEMORY_UPDATES, 8, WIDE, 2, true, NONE, 10, 1, 0x218},
    {100, 0x00000004080079a6, 0x0c12e504, "REDG.E.ADD.F16x8.RN.STRONG.GPU desc[UR4][R8.64], R4",
     MEMORY_GLOBAL, MEMORY_UPDATES, 16, WIDE, 8, true, NONE, 4, 1, 0},
    {75, 0x0000200d0405738c, 0x040040ff, "ATOMS.EXCH R5, [R4.X4+0x20], R13", MEMORY_SHARED,
     MEMORY_UPDATES, 4, SHORT, 4, false, NONE, NONE, 4, 0x20},
    {90, 0x00004006ff06798c, 0x0c000405, "ATOMS.EXCH.64 R6, [UR5+0x40], R6", MEMORY_SHARED,
     MEMORY_UPDATES, 8, SHORT, NONE, false, 5, NONE, 1, 0x40},
    {90, 0x0000000000ff7f8c, 0x0d80003f, "ATOMS.POPC.INC.32 RZ, [R0+URZ]", MEMORY_SHARED,
     MEMORY_UPDATES, 4, SHORT, 0, false, NONE, NONE, 1, 0},
    {100, 0x000018060200758d, 0x01800007, "ATOMS.CAST.SPIN P0, [R2+0x18], R6, R7", MEMORY_SHARED,
     MEMORY_UPDATES, 4, SHORT, 2, false, NONE, NONE, 1, 0x18},
    {80, 0x0000380cff02738d, 0x0000040e, "ATOMS.CAS.64 R2, [0x38], R12, R14", MEMORY_SHARED,
     MEMORY_UPDATES, 8, SHORT, NONE, false, NONE, NONE, 1, 0x38},
    {90, 0x00000004093f75b2, 0x08000100, "SYNCS.EXCH.64 URZ, [UR9], UR4", MEMORY_SHARED,
     MEMORY_UPDATES, 8, SHORT, NONE, false, 9, NONE, 1, 0},
    {100, 0x000000ffffff79a7, 0x08100009, "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR9], RZ", MEMORY_SHARED,
     MEMORY_UPDATES, 8, SHORT, NONE, false, 9, NONE, 1, 0},
};

/* Real ones with a bit of another value, as nvdisasm prints those. */
static const struct expected varied[] = {
    {75, 0x0000000400057981, 0x081ef300, "LDG.E.S8.SYS.PRIVATE R5, [R0.U32+UR4]", MEMORY_GLOBAL,
     MEMORY_READS, 1, WIDE, 0, false, 4, NONE, 1, 0},
    {100, 0x0100000402ff797e, 0x08121911,
     "LDG.E.ENL2.256 R17, RZ, desc[UR4][R2.64+-0x200000], 0x80", MEMORY_GLOBAL, MEMORY_READS, 32,
     WIDE, 2, true, NONE, 4, 1, -0x200000},
    {100, 0xf90000040c08797f, 0x0f121804, "STG.E.ENL2.256 desc[UR4][R12.64+0x200000], R4, R8",
     MEMORY_GLOBAL, MEMORY_WRITES, 32, WIDE, 12, true, NONE, 4, 1, 0x200000},
    {100, 0x00000000020579a5, 0x080359bf, "LDGMC.E.ADD.F32.RN.STRONG.SYS R5, [R2.64+UR191]",
     MEMORY_GLOBAL, MEMORY_READS, 4, WIDE, 2, true, 191, NONE, 1, 0},
    {100, 0x00000000020579a5, 0x080159ff, "LDGMC.E.ADD.F32.RN.STRONG.SYS R5, [R2.U32+URZ]",
     MEMORY_GLOBAL, MEMORY_READS, 4, WIDE, 2, false, NONE, NONE, 1, 0},
    {90, 0x00000000020579a5, 0x0801593e, "LDGMC.E.ADD.F32.RN.STRONG.SYS R5, [R2.U32+UR62]",
     MEMORY_GLOBAL, MEMORY_READS, 4, WIDE, 2, false, 62, NONE, 1, 0},
    {90, 0x0000340701147983, 0x08101800, "LDL R20, desc[UR7][R1+0x34]", MEMORY_LOCAL, MEMORY_READS,
     4, SHORT, 1, false, NONE, 7, 1, 0x34},
    {90, 0x0000000d040d7844, 0x08000100, "STSM.16.M88.2 [R4+UR0], R13", MEMORY_SHARED,
     MEMORY_WRITES, 16, SHORT, 4, false, 0, NONE, 1, 0},
    {100, 0x00000000ff0075a7, 0x080e11ff, "SYNCS.PHASECHK.TRANS64.TRYWAIT PT, [URZ], R0",
     MEMORY_SHARED, MEMORY_UPDATES, 8, SHORT, NONE, false, NONE, NONE, 1, 0},
};

static const struct expected others[] = {
    {75, 0x00002000000b783b, 0x00000000, "LDSM.16.M88 R11, [R0+0x20]", MEMORY_SHARED, MEMORY_READS,
     16, SHORT, 0, false, NONE, NONE, 1, 0x20},
    {90, 0x000040040d007844, 0x00004000, "STSM.16.MT88 [R13+0x40], R4", MEMORY_SHARED,
     MEMORY_WRITES, 16, SHORT, 13, false, NONE, NONE, 1, 0x40},
    {90, 0x00000000020579a5, 0x0801597f, "LDGMC.E.ADD.F32.RN.STRONG.SYS R5, [R2.64+URZ]",
     MEMORY_GLOBAL, MEMORY_READS, 4, WIDE, 2, true, NONE, NONE, 1, 0},
    {100, 0x00000000020579a5, 0x080359ff, "LDGMC.E.ADD.F32.RN.STRONG.SYS R5, [R2.64+URZ]",
     MEMORY_GLOBAL, MEMORY_READS, 4, WIDE, 2, true, NONE, NONE, 1, 0},
    {90, 0x00000800020879a4, 0x0801457f, "LDGMC.E.ADD.64.STRONG.SYS R8, [R2.64+URZ+0x8]",
     MEMORY_GLOBAL, MEMORY_READS, 8, WIDE, 2, true, NONE, NONE, 1, 8},
    {100, 0x00000c00020e79a4, 0x088343ff, "LDGMC.E.MIN.S32.STRONG.SYS R14, [R2.64+URZ+0xc]",
     MEMORY_GLOBAL, MEMORY_READS, 4, WIDE, 2, true, NONE, NONE, 1, 0xc},
    {75, 0x000000800200798f, 0x00000100, "CCTL.E.PF1 [R2+0x80]", MEMORY_GENERIC, MEMORY_CACHES, 0,
     WIDE, 2, true, NONE, NONE, 1, 0x80},
    {75, 0x00c0000000097b82, 0x00000800, "LDC R9, c[0x3][R0]", MEMORY_CONSTANT, MEMORY_READS, 4,
     SHORT, 0, false, NONE, NONE, 1, 0},
    {100, 0x0000df00ff017b82, 0x00000800, "LDC R1, c[0x0][0x37c]", MEMORY_CONSTANT, MEMORY_READS, 4,
     SHORT, NONE, false, NONE, NONE, 1, 0x37c},
    {90, 0x0000820000047ab9, 0x00000a00, "ULDC.64 UR4, c[0x0][0x208]", MEMORY_CONSTANT,
     MEMORY_READS, 8, SHORT, NONE, false, NONE, NONE, 1, 0x208},
    {100, 0x00007100040777ac, 0x08000800, "LDCU UR7, c[0x0][UR4+0x388]", MEMORY_CONSTANT,
     MEMORY_READS, 4, SHORT, NONE, false, 4, NONE, 1, 0x388},
    {90, 0x0000000306007dbd, 0x0c00083f, "STAS [R6.64], R3", MEMORY_SHARED, MEMORY_WRITES, 4,
     UNKNOWN, 0, false, 0, 0, 0, 0},
    {100, 0x000000050a007dbe, 0x080001ff, "REDAS.ADD [R10.64], R5", MEMORY_SHARED, MEMORY_UPDATES,
     4, UNKNOWN, 0, false, 0, 0, 0, 0},
    {75, 0x70005c000a057b99, 0x001f0900, "SULD.D.BA.2D.STRONG.CTA.TRAP R5, [R10], 0x0, 0x5c",
     MEMORY_SURFACE, MEMORY_READS, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {90, 0x7000040608007f9d, 0x0810a900, "SUST.D.BA.2D.STRONG.SM.TRAP [R8], R6, UR4, 0x0",
     MEMORY_SURFACE, MEMORY_WRITES, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {100, 0x68ff040b0e007f9f, 0x08114100, "SURED.D.BA.2D.ADD.STRONG.SYS [R14], R11, UR4",
     MEMORY_SURFACE, MEMORY_UPDATES, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {90, 0x2000040a04057f60, 0x099e01ff, "TEX.LL RZ, R5, R4, R10, UR4, 0x0, 2D, 0x1",
     MEMORY_TEXTURE, MEMORY_READS, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {75, 0x10005aff0b007b66, 0x009e01ff, "TLD.SCR.LZ RZ, R0, R11, 0x0, 0x5a, 1D, 0x1",
     MEMORY_TEXTURE, MEMORY_READS, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {75, 0x3800000a14147361, 0x019e0f16, "TEX.SCR.B.LL R22, R20, R20, R10, 2D", MEMORY_TEXTURE,
     MEMORY_READS, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {75, 0x3800000a04207364, 0x009e0f22, "TLD4.SCR.G.B R34, R32, R4, R10, 2D", MEMORY_TEXTURE,
     MEMORY_READS, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {75, 0x280000280c0c736d, 0x001e0f0e, "TXD.B R14, R12, R12, R40, 2D", MEMORY_TEXTURE,
     MEMORY_READS, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {75, 0x70005c0c12007b9b, 0x00110f00, "SUST.P.2D.STRONG.CTA.TRAP [R18], R12, 0x0, 0x5c",
     MEMORY_SURFACE, MEMORY_WRITES, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {75, 0x700000142e00799e, 0x00110d13, "SUST.D.BA.2D.128.STRONG.CTA.TRAP [R46], R20, R19",
     MEMORY_SURFACE, MEMORY_WRITES, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {75, 0xb00000000828799a, 0x001f0d13, "SULD.D.BA.3D.128.STRONG.CTA.TRAP R40, [R8], R19",
     MEMORY_SURFACE, MEMORY_READS, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {75, 0x70000008320073a0, 0x00916313, "SURED.D.BA.2D.MIN.S32.STRONG.SYS.TRAP [R50], R8, R19",
     MEMORY_SURFACE, MEMORY_UPDATES, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {100, 0x70ff060c10007f9b, 0x0810af00, "SUST.P.2D.STRONG.SM.TRAP [R16], R12, UR6",
     MEMORY_SURFACE, MEMORY_WRITES, 0, UNKNOWN, 0, false, 0, 0, 0, 0},
    {75, 0x00000000100c7381, 0x001e6f00, "LDG.E.U.128.CONSTANT.SYS R12, [R16]", MEMORY_GLOBAL,
     MEMORY_READS, 16, WIDE, 16, true, NONE, NONE, 1, 0},
};

static struct memory_access access_of(uint32_t architecture, uint64_t low, uint64_t high)
{
    return memory_access_of((struct instruction){low, high}, architecture);
}

static bool is_address(const struct memory_address *address, const struct expected *expected)
{
    if (expected->address == UNKNOWN || !address->is_known)
        return (expected->address != UNKNOWN) == address->is_known;
    return address->is_wide == (expected->address == WIDE) && address->base == expected->base &&
           address->is_base_wide == expected->is_base_wide &&
           address->uniform == expected->uniform && address->descriptor == expected->descriptor &&
           address->scale == expected->scale && address->offset == expected->offset;
}

static void expect_all(const struct expected *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct memory_access access = access_of(all[i].architecture, all[i].low, all[i].high);
        const struct memory_part *part = &access.parts[0];
        if (access.count != 1 || access.is_bulk || part->space != all[i].space ||
            part->action != all[i].action || part->bytes != all[i].bytes ||
            !is_address(&part->address, &all[i]))
            fail_msg("sm_%u: %s", all[i].architecture, all[i].text);
        assert_int_equal(access.guard.number, strncmp(all[i].text, "@P0", 3) == 0 ? 0 : 7);
    }
}

static void loads_and_stores_are_decoded(void **state)
{
    (void)state;
    expect_all(loads_and_stores, COUNT(loads_and_stores));
}

static void atomics_are_decoded(void **state)
{
    (void)state;
    expect_all(atomics, COUNT(atomics));
}

static void others_are_decoded(void **state)
{
    (void)state;
    expect_all(varied, COUNT(varied));
    expect_all(others, COUNT(others));
}

static void what_accesses_nothing_is_known(void **state)
{
    static const struct {
        uint32_t architecture;
        uint64_t low, high;
    } none[] = {{90, 0x00000000000473c4, 0x0000c000} /* REDUX.SUM UR4, R0 */,
                {90, 0x0000000006ff73aa, 0x00000500} /* QSPC.E.S P0, RZ, [R6] */,
                {90, 0x0000000000007918, 0} /* NOP */,
                {80, 0x0080000000027625, 0x078e0203} /* IMAD.WIDE R2, R0, R3, c[0x2][0x0] */};
    (void)state;
    for (size_t i = 0; i < COUNT(none); i++)
        assert_int_equal(access_of(none[i].architecture, none[i].low, none[i].high).count, 0);
}

static void guards_are_decoded(void **state)
{
    (void)state;
    /* @!P0 RED.E.OR.STRONG.GPU [R4], R11 */
    const struct memory_predicate red = access_of(75, 0x0000000b0400898e, 0x03114100).guard;
    /* @!PT LDS RZ, [RZ] */
    const struct memory_predicate never = access_of(90, 0x00000000fffff984, 0x00000800).guard;
    /* LDCU UR7, c[0x0][0x388], of which the predicate is uniform; @UP2 */
    const struct memory_predicate uniform = access_of(100, 0x00007100ff0727ac, 0x08000800).guard;
    assert_true(red.number == 0 && red.is_negated && !red.is_uniform);
    assert_true(never.number == MEMORY_NO_PREDICATE && never.is_negated);
    assert_true(uniform.number == 2 && !uniform.is_negated && uniform.is_uniform);
    /* @!UP2 UBLKCP.S.G [UR8], [UR4], UR10 */
    const struct memory_access copy = access_of(90, 0x000000080400a3ba, 0x0800020a);
    struct memory_lane lane = {.uniform_predicates = 4, .uniform_predicates_known = 4};
    bool is_accessed = true;
    assert_true(copy.guard.number == 2 && copy.guard.is_negated && copy.guard.is_uniform);
    assert_true(memory_part_is_accessed(&copy, &copy.parts[0], &lane, &is_accessed));
    assert_false(is_accessed);
    lane.uniform_predicates_known = 0;
    lane.predicates_known = 0x7f;
    assert_false(memory_part_is_accessed(&copy, &copy.parts[0], &lane, &is_accessed));
}

/* Before sm_100 and from then on. */
static void an_asynchronous_copy_has_two_addresses(void **state)
{
    static const struct {
        uint32_t architecture, bytes;
        uint64_t low, high;
        uint8_t to, from, descriptor, predicate;
        int32_t to_offset, from_offset;
    } copies[] = {
        /* LDGSTS.E.64 [R9+0x40], [R2.64+0x80] */
        {80, 8, 0x0004008002097fae, 0x0b921a44, 9, 2, 4, 7, 0x40, 0x80},
        /* LDGSTS.E.BYPASS.128 [R9+0x400], [R2.64+-0x100] */
        {80, 16, 0x00400f0002097fae, 0x0b901c44, 9, 2, 4, 7, 0x400, -0x100},
        /* LDGSTS.E.ZFILL [R9], [R6.64], P0 */
        {80, 4, 0x0000000006097fae, 0x08161844, 9, 6, 4, 0, 0, 0},
        /* LDGSTS.E.BYPASS.128 [R11+0x400], desc[UR4][R6.64+-0x100] */
        {100, 16, 0x00400f00060b7fae, 0x0b981804, 11, 6, 4, 7, 0x400, -0x100},
        /* LDGSTS.E [R9+-0x80000], desc[UR6][R2.64] */
        {90, 4, 0x8000000002097fae, 0x0b921846, 9, 2, 6, 7, -0x80000, 0},
        /* LDGSTS.E.ZFILL [R9], desc[UR6][R6.64], P0 */
        {120, 4, 0x0000000006097fae, 0x081e1006, 9, 6, 6, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(copies); i++) {
        const struct memory_access access =
            access_of(copies[i].architecture, copies[i].low, copies[i].high);
        const struct memory_part *to = &access.parts[0], *from = &access.parts[1];
        assert_int_equal(access.count, 2);
        assert_false(access.is_bulk);
        assert_int_equal(to->space, MEMORY_SHARED);
        assert_int_equal(to->action, MEMORY_WRITES);
        assert_int_equal(to->bytes, copies[i].bytes);
        assert_int_equal(to->address.base, copies[i].to);
        assert_int_equal(to->address.offset, copies[i].to_offset);
        assert_int_equal(to->predicate.number, MEMORY_NO_PREDICATE);
        assert_int_equal(from->space, MEMORY_GLOBAL);
        assert_int_equal(from->action, MEMORY_READS);
        assert_int_equal(from->bytes, copies[i].bytes);
        assert_true(from->address.is_wide && from->address.is_base_wide);
        assert_int_equal(from->address.base, copies[i].from);
        assert_int_equal(from->address.descriptor, copies[i].descriptor);
        assert_int_equal(from->address.offset, copies[i].from_offset);
        assert_int_equal(from->predicate.number, copies[i].predicate);
    }
}

static void bulk_copies_are_decoded(void **state)
{
    static const struct {
        uint64_t low, high;
        enum memory_space to;
        enum memory_action action;
        enum memory_space from;
    } copies[] = {
        /* UBLKCP.G.S [UR6], [UR8], UR10 */
        {0x00000006080073ba, 0x0800040a, MEMORY_GLOBAL, MEMORY_WRITES, MEMORY_SHARED},
        /* UBLKCP.S.G [UR8], [UR4], UR10 */
        {0x00000008040073ba, 0x0800020a, MEMORY_SHARED, MEMORY_WRITES, MEMORY_GLOBAL},
        /* UBLKCP.S.S [UR6], [UR8], UR10 */
        {0x00000006080073ba, 0x0800060a, MEMORY_SHARED, MEMORY_WRITES, MEMORY_SHARED},
        /* UBLKRED.G.S.ADD [UR6], [UR8], UR10 */
        {0x00000006080073bb, 0x0800040a, MEMORY_GLOBAL, MEMORY_UPDATES, MEMORY_SHARED},
        {0x00000000000073b4, 0x08000000, MEMORY_SHARED, MEMORY_WRITES, MEMORY_GLOBAL}, /* UTMALDG */
        {0x00000000000073b5, 0x08000000, MEMORY_GLOBAL, MEMORY_WRITES, MEMORY_SHARED}, /* UTMASTG */
        {0x00000000000073b6, 0x08000000, MEMORY_GLOBAL, MEMORY_UPDATES, MEMORY_SHARED}};
    uint64_t found;
    (void)state;
    for (size_t i = 0; i < COUNT(copies); i++) {
        const struct memory_access access = access_of(90, copies[i].low, copies[i].high);
        assert_int_equal(access.count, 2);
        assert_true(access.is_bulk);
        assert_int_equal(access.parts[0].space, copies[i].to);
        assert_int_equal(access.parts[0].action, copies[i].action);
        assert_int_equal(access.parts[1].space, copies[i].from);
        assert_int_equal(access.parts[1].action, MEMORY_READS);
        assert_false(
            memory_address_find(&access.parts[0].address, &(struct memory_lane){0}, &found));
    }
    /* UBLKPF.L2 [UR4], UR10 */
    const struct memory_access prefetch = access_of(90, 0x00000000040073bc, 0x0800000a);
    assert_int_equal(prefetch.count, 1);
    assert_int_equal(prefetch.parts[0].action, MEMORY_CACHES);
}

/* ---- Lanes ---- */

static uint32_t registers[32], uniform[16];

static struct memory_lane a_lane(void)
{
    for (uint32_t i = 0; i < COUNT(registers); i++)
        registers[i] = 0x1000 * i;
    for (uint32_t i = 0; i < COUNT(uniform); i++)
        uniform[i] = 0x100000 * i;
    return (struct memory_lane){.registers = registers,
                                .uniform = uniform,
                                .register_count = COUNT(registers),
                                .uniform_count = COUNT(uniform),
                                .predicates_known = 0x7f};
}

static void expect_address(const struct memory_lane *lane, uint32_t architecture, uint64_t low,
                           uint64_t high, uint64_t expected)
{
    const struct memory_access access = access_of(architecture, low, high);
    uint64_t found = 0;
    assert_true(memory_address_find(&access.parts[0].address, lane, &found));
    assert_true(found == expected);
}

static void addresses_of_a_lane_are_found(void **state)
{
    const struct memory_lane lane = a_lane();
    (void)state;
    registers[2] = 0xfffffff8;
    registers[3] = 0x7f12;
    uniform[4] = 0x80000000;
    uniform[5] = 0x7f00;
    /* LDG.E.U16 R0, desc[UR6][R2.64+0x6]; +0x8: it carries */
    expect_address(&lane, 90, 0x0000060602007981, 0x0c1e1500, 0x7f12fffffffe);
    expect_address(&lane, 90, 0x0000080602007981, 0x0c1e1500, 0x7f1300000000);
    /* and -0x8 */
    expect_address(&lane, 90, 0xfffff80602007981, 0x0c1e1500, 0x7f12fffffff0);
    /* LDG.E.S8.SYS R5, [R2.U32+UR4] */
    expect_address(&lane, 75, 0x0000000402057981, 0x081ee300, 0x7f017ffffff8);
    /* LDG.E.SYS R5, [UR4+0x7ffffc] */
    expect_address(&lane, 75, 0x7ffffc04ff057981, 0x0c1ee900, 0x7f00807ffffc);
    /* LDG.E R5, [R2.64+UR4] */
    expect_address(&lane, 90, 0x0000000402057981, 0x0c1e0900, 0xfe137ffffff8);
    /* ST.E.SYS [R2+-0x80000000], R3 */
    expect_address(&lane, 75, 0x8000000002007385, 0x0010e903, 0x7f127ffffff8);
    /* LD.E.STRONG.SYS R0, [0x1000] */
    expect_address(&lane, 75, 0x00001000ff007980, 0x00116900, 0x1000);
    /* LDS.U R6, [R7.X4+0x1c]; LDS R6, [R5+UR4+0x1c]; STS [UR5+-0x20] */
    expect_address(&lane, 75, 0x00001c0007067984, 0x00005800, 0x1c01c);
    expect_address(&lane, 90, 0x00001c0405067984, 0x08000800, 0x8000501c);
    expect_address(&lane, 90, 0xffffe016ff007988, 0x08000805, 0x7ee0);
    /* LDL R20, [R1+0x34] */
    expect_address(&lane, 90, 0x0000340001147983, 0x00100800, 0x1034);
    /* LDC R9, c[0x3][R0+-0x8000], whose offset has a sign; LDCU UR7, c[0x0][UR1+0x388] */
    registers[0] = 0x8010;
    expect_address(&lane, 75, 0x00e0000000097b82, 0x00000800, 0x10);
    expect_address(&lane, 100, 0x00007100010777ac, 0x08000800, 0x100388);
}

static void what_is_missing_leaves_the_address_open(void **state)
{
    struct memory_lane lane = a_lane();
    /* LDG.E R5, [R2.64+UR4] and LDG.E.U16 R0, desc[UR6][R2.64+0x6] */
    const struct memory_access both = access_of(90, 0x0000000402057981, 0x0c1e0900),
                               described = access_of(90, 0x0000060602007981, 0x0c1e1500);
    uint64_t found;
    (void)state;
    lane.uniform_count = 5; /* UR5 is the upper half */
    assert_false(memory_address_find(&both.parts[0].address, &lane, &found));
    assert_true(memory_address_find(&described.parts[0].address, &lane, &found));
    lane.uniform_count = 6;
    assert_true(memory_address_find(&both.parts[0].address, &lane, &found));
    lane.register_count = 3;
    assert_false(memory_address_find(&both.parts[0].address, &lane, &found));
    assert_false(memory_address_find(&described.parts[0].address, &lane, &found));
    lane = (struct memory_lane){0};
    assert_false(memory_address_find(&both.parts[0].address, &lane, &found));
}

static void predicates_decide_what_is_accessed(void **state)
{
    struct memory_lane lane = a_lane();
    /* @P0 LDG.E.SYS R5, [R2+0x4] and LDGSTS.E.ZFILL [R9], [R6.64], P0 */
    const struct memory_access load = access_of(75, 0x0000040002050381, 0x001ee900),
                               copy = access_of(80, 0x0000000006097fae, 0x08161844),
                               /* @!PT LDS RZ, [RZ] */
        never = access_of(90, 0x00000000fffff984, 0x00000800);
    bool is_accessed = true;
    (void)state;
    assert_true(memory_part_is_accessed(&load, &load.parts[0], &lane, &is_accessed));
    assert_false(is_accessed);
    lane.predicates = 1;
    assert_true(memory_part_is_accessed(&load, &load.parts[0], &lane, &is_accessed));
    assert_true(is_accessed);
    lane.predicates = 0;
    assert_true(memory_part_is_accessed(&copy, &copy.parts[0], &lane, &is_accessed));
    assert_true(is_accessed);
    assert_true(memory_part_is_accessed(&copy, &copy.parts[1], &lane, &is_accessed));
    assert_false(is_accessed);
    lane.predicates_known = 0x7e;
    assert_false(memory_part_is_accessed(&load, &load.parts[0], &lane, &is_accessed));
    assert_true(memory_part_is_accessed(&never, &never.parts[0], &lane, &is_accessed));
    assert_false(is_accessed);
}

static void constants_are_of_a_bank(void **state)
{
    (void)state;
    /* LDC R9, c[0x3][R0] and ULDC.64 UR4, c[0x0][0x208] */
    assert_int_equal(access_of(75, 0x00c0000000097b82, 0x00000800).parts[0].address.bank, 3);
    assert_int_equal(access_of(90, 0x0000820000047ab9, 0x00000a00).parts[0].address.bank, 0);
    /* LDC.IL R7, c[0x3][R0], whose address is another one */
    assert_false(access_of(75, 0x00c0000000077b82, 0x00004800).parts[0].address.is_known);
}

/* LDG's own predicate, of which the encoding's zeros are the one that always holds:
 * LDG.E R13, desc[UR4][R6.64], P6 and !PT. */
static void a_load_has_a_predicate_of_its_own(void **state)
{
    const struct memory_access sixth = access_of(90, 0x00000004060d7981, 0x0c1e1901),
                               never = access_of(90, 0x00000004060d7981, 0x0c1e1908);
    (void)state;
    assert_int_equal(sixth.parts[0].predicate.number, 6);
    assert_false(sixth.parts[0].predicate.is_negated);
    assert_int_equal(never.parts[0].predicate.number, MEMORY_NO_PREDICATE);
    assert_true(never.parts[0].predicate.is_negated);
}

/* LDSM.16.M88 and .2 and .4, LDSM.8.MT1616 and .2, STSM.16.M88.4 */
static void rows_of_matrices_are_of_the_first_lanes(void **state)
{
    static const struct {
        uint64_t low, high;
        uint32_t lanes;
    } matrices[] = {{0x000020000d04783b, 0x00000, 8},  {0x000200000d0e783b, 0x04100, 16},
                    {0x000000000d04783b, 0x00200, 32}, {0x000020001516783b, 0x13800, 16},
                    {0x000020001504783b, 0x13900, 32}, {0x000000080d007844, 0x00200, 32}};
    struct memory_lane lane = a_lane();
    bool is_accessed;
    (void)state;
    for (size_t i = 0; i < COUNT(matrices); i++) {
        const struct memory_access access = access_of(100, matrices[i].low, matrices[i].high);
        assert_int_equal(access.parts[0].lanes, matrices[i].lanes);
        lane.number = matrices[i].lanes - 1;
        assert_true(memory_part_is_accessed(&access, &access.parts[0], &lane, &is_accessed));
        assert_true(is_accessed);
        lane.number = matrices[i].lanes;
        assert_true(memory_part_is_accessed(&access, &access.parts[0], &lane, &is_accessed));
        assert_false(is_accessed);
    }
}

/* Whatever the bits are, decoded values stay within their bounds. */
static void random_bits_are_taken(void **state)
{
    static const uint32_t architectures[] = {70, 75, 80, 89, 90, 100, 121};
    uint64_t random = 88172645463325252u;
    uint32_t accesses = 0;
    (void)state;
    for (uint32_t i = 0; i < 1 << 18; i++) {
        uint64_t words[2];
        for (int k = 0; k < 2; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            words[k] = random;
        }
        const struct memory_access access =
            access_of(architectures[i % COUNT(architectures)], words[0], words[1]);
        struct memory_lane lane = a_lane();
        uint64_t found;
        assert_true(access.count <= 2);
        accesses += access.count > 0;
        for (uint32_t k = 0; k < access.count; k++)
            memory_address_find(&access.parts[k].address, &lane, &found);
    }
    assert_true(accesses > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores_are_decoded),
        cmocka_unit_test(atomics_are_decoded),
        cmocka_unit_test(others_are_decoded),
        cmocka_unit_test(what_accesses_nothing_is_known),
        cmocka_unit_test(guards_are_decoded),
        cmocka_unit_test(an_asynchronous_copy_has_two_addresses),
        cmocka_unit_test(bulk_copies_are_decoded),
        cmocka_unit_test(addresses_of_a_lane_are_found),
        cmocka_unit_test(what_is_missing_leaves_the_address_open),
        cmocka_unit_test(predicates_decide_what_is_accessed),
        cmocka_unit_test(constants_are_of_a_bank),
        cmocka_unit_test(a_load_has_a_predicate_of_its_own),
        cmocka_unit_test(rows_of_matrices_are_of_the_first_lanes),
        cmocka_unit_test(random_bits_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
