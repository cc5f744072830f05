"""The numbers of TASO's substitution files (`include/taso/ops.h`)."""

from __future__ import annotations

from enum import IntEnum


class Operator(IntEnum):
    """`OpType`: what an operator is."""

    INPUT = 0
    WEIGHT = 1
    ANY = 2
    CONV2D = 3
    DROPOUT = 4
    LINEAR = 5
    POOL2D_MAX = 6
    POOL2D_AVG = 7
    RELU = 8
    SIGMOID = 9
    TANH = 10
    BATCHNORM = 11
    CONCAT = 12
    SPLIT = 13
    RESHAPE = 14
    TRANSPOSE = 15
    EW_ADD = 16
    EW_MUL = 17
    MATMUL = 18
    MUL = 19
    ENLARGE = 20
    MERGE_GCONV = 21
    CONSTANT_IMM = 22
    CONSTANT_ICONV = 23
    CONSTANT_ONE = 24
    CONSTANT_POOL = 25


class Parameter(IntEnum):
    """`PMParameter`: what a parameter says of an operator."""

    OP_TYPE = 0
    NUM_INPUTS = 1
    NUM_OUTPUTS = 2
    GROUP = 3
    KERNEL_H = 4
    KERNEL_W = 5
    STRIDE_H = 6
    STRIDE_W = 7
    PAD = 8
    ACTI = 9
    NUMDIM = 10
    AXIS = 11
    PERM = 12
    OUTSHUFFLE = 13
    MERGE_GCONV_COUNT = 14


class Activation(IntEnum):
    """`ActiMode`: what follows an operator."""

    NONE = 0
    SIGMOID = 1
    RELU = 2
    TANH = 3


class Padding(IntEnum):
    """`PaddingMode`."""

    SAME = 0
    VALID = 1
