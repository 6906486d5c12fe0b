#pragma once

/// Kernels that simulate the work of an op on a GPU, as PTX text for the driver to compile. All work on single bytes,
/// so they need no alignment, and with any grid size.
///
/// - hash_bytes: slot += the sum over all bytes of a hash of the byte, its position and the salt; the order of bytes
/// does
///   not matter.
/// - write_bytes: writes bytes that depend on the slot, the salt and the position.
/// - wait: waits for a number of clock ticks, so that streams drift apart.
namespace stowage::testing {

inline constexpr const char* kShadowPtx = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .entry hash_bytes(.param .u64 bytes, .param .u64 count, .param .u64 slot, .param .u64 salt) {
  .reg .pred %done;
  .reg .b32 %block, %threads, %thread, %blocks, %byte;
  .reg .b64 %base, %count, %slot, %salt, %at, %step, %thread64, %address, %value, %shifted, %sum;
  ld.param.u64 %base, [bytes];
  ld.param.u64 %count, [count];
  ld.param.u64 %slot, [slot];
  ld.param.u64 %salt, [salt];
  cvta.to.global.u64 %base, %base;
  cvta.to.global.u64 %slot, %slot;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %blocks, %nctaid.x;
  cvt.u64.u32 %thread64, %thread;
  mad.wide.u32 %at, %block, %threads, %thread64;
  mul.wide.u32 %step, %blocks, %threads;
  mov.u64 %sum, 0;
next:
  setp.ge.u64 %done, %at, %count;
  @%done bra end;
  add.u64 %address, %base, %at;
  ld.global.u8 %byte, [%address];
  cvt.u64.u32 %value, %byte;
  add.u64 %value, %value, %salt;
  mad.lo.u64 %value, %at, 0x9e3779b97f4a7c15, %value;
  mul.lo.u64 %value, %value, 0xc2b2ae3d27d4eb4f;
  shr.u64 %shifted, %value, 29;
  xor.b64 %value, %value, %shifted;
  mul.lo.u64 %value, %value, 0x9e3779b97f4a7c15;
  add.u64 %sum, %sum, %value;
  add.u64 %at, %at, %step;
  bra next;
end:
  red.global.add.u64 [%slot], %sum;
  ret;
}

.visible .entry write_bytes(.param .u64 bytes, .param .u64 count, .param .u64 slot, .param .u64 salt) {
  .reg .pred %done;
  .reg .b32 %block, %threads, %thread, %blocks, %byte;
  .reg .b64 %base, %count, %slot, %salt, %at, %step, %thread64, %address, %value, %shifted, %key;
  ld.param.u64 %base, [bytes];
  ld.param.u64 %count, [count];
  ld.param.u64 %slot, [slot];
  ld.param.u64 %salt, [salt];
  cvta.to.global.u64 %base, %base;
  cvta.to.global.u64 %slot, %slot;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %blocks, %nctaid.x;
  cvt.u64.u32 %thread64, %thread;
  mad.wide.u32 %at, %block, %threads, %thread64;
  mul.wide.u32 %step, %blocks, %threads;
  ld.global.u64 %key, [%slot];
  mad.lo.u64 %key, %salt, 0x9e3779b97f4a7c15, %key;
next:
  setp.ge.u64 %done, %at, %count;
  @%done bra end;
  add.u64 %value, %key, %at;
  mul.lo.u64 %value, %value, 0xc2b2ae3d27d4eb4f;
  shr.u64 %shifted, %value, 29;
  xor.b64 %value, %value, %shifted;
  mul.lo.u64 %value, %value, 0x9e3779b97f4a7c15;
  shr.u64 %value, %value, 56;
  cvt.u32.u64 %byte, %value;
  add.u64 %address, %base, %at;
  st.global.u8 [%address], %byte;
  add.u64 %at, %at, %step;
  bra next;
end:
  ret;
}

.visible .entry wait(.param .u64 ticks) {
  .reg .pred %early;
  .reg .b64 %ticks, %start, %now;
  ld.param.u64 %ticks, [ticks];
  mov.u64 %start, %clock64;
next:
  mov.u64 %now, %clock64;
  sub.u64 %now, %now, %start;
  setp.lt.u64 %early, %now, %ticks;
  @%early bra next;
  ret;
}
)";

}  // namespace stowage::testing
