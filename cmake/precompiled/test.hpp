// Precompiled for every test (STOWAGE_PCH): see library.hpp.
#include "library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
