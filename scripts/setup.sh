#!/bin/bash
# placeholder replaced below
mkdir -p build
echo "CUDA_HOME := /usr/local/cuda" > build/config.mk
