//! Reading and writing packed bits.
//!
//! Loads and stores take eight bytes wherever a state has any of them. The caller leaves space for this after the last
//! state and after the last candidate.

use super::emitter::{Emitter, WordFrame, WordStorage};
use super::words::{BitOffset, WORD_BITS, WordLayout, in_words, mask};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};

/// The minimum number of adjacent words of the parent that are copied by a call.
const CALLED_MIN: usize = 32;

/// Flags for loads from the expanded state, which does not change meanwhile.
fn parent_flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap().with_can_move().with_readonly()
}

fn memory_flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// Adjacent bits in one word.
#[derive(Clone, Copy)]
struct BitsOfWord {
    /// The number of the word.
    word: usize,
    /// The first bit.
    bit: u32,
    /// The number of bits.
    bits: u32,
}

impl Emitter<'_, '_> {
    /// Loads eight bytes of the parent in memory order.
    pub fn raw_parent_word(&mut self, word: usize) -> Value {
        let state = self.state;
        self.b.ins().load(types::I64, parent_flags(), state, 8 * word as i32)
    }

    /// Returns a word of the parent.
    pub fn parent_word(&mut self, word: usize) -> Value {
        let raw = self.raw_parent_word(word);
        self.b.ins().bswap(raw)
    }

    /// Stores eight bytes in memory order.
    pub fn store_raw(&mut self, raw: Value, base: Value, word: usize) {
        self.b.ins().store(memory_flags(), raw, base, 8 * word as i32);
    }

    /// Returns a word of the frame.
    fn word(&mut self, frame: &WordFrame, word: usize) -> Value {
        match frame.words[word] {
            WordStorage::Parent => self.parent_word(word),
            WordStorage::Register(variable) => self.b.use_var(variable),
            WordStorage::Memory => {
                let memory = self.memory();
                let raw = self.b.ins().load(types::I64, memory_flags(), memory, 8 * word as i32);
                self.b.ins().bswap(raw)
            }
        }
    }

    fn set_word(&mut self, frame: &WordFrame, word: usize, value: Value) {
        match frame.words[word] {
            WordStorage::Register(variable) => self.b.def_var(variable, value),
            WordStorage::Memory => {
                let memory = self.memory();
                let raw = self.b.ins().bswap(value);
                self.store_raw(raw, memory, word);
            }
            WordStorage::Parent => unreachable!("a footprint covers everything that is written"),
        }
    }

    /// Returns `bits` bits as an integer: at most 64, or `CHUNK_BITS` if their position is dynamic.
    pub fn read(&mut self, frame: &WordFrame, at: BitOffset, bits: u32) -> Value {
        if bits == 0 {
            return self.iconst(0);
        }
        let reach = at.bit..at.bit + at.slack + bits;
        let words = in_words(&reach);
        match at.dynamic {
            None if words.len() == 1 => self.read_in_word(frame, words.start, at.bit, bits),
            None => {
                let low_bits = reach.end % WORD_BITS;
                let high_bits = bits - low_bits;
                let high = self.read_in_word(frame, words.start, at.bit, high_bits);
                let low = self.read_in_word(frame, words.start + 1, reach.end - low_bits, low_bits);
                let high = self.b.ins().ishl_imm_s(high, i64::from(low_bits));
                self.b.ins().bor(high, low)
            }
            Some(dynamic) if words.len() == 1 => {
                let word = self.word(frame, words.start);
                let shift = self.shift_in_word(words.start, at.bit, bits, dynamic);
                let shifted = self.b.ins().ushr(word, shift);
                self.b.ins().band_imm_s(shifted, mask(bits))
            }
            Some(dynamic) => {
                let (address, offset) = self.address(frame, words.start, at.bit, dynamic);
                let flags = match frame.words[words.start] {
                    WordStorage::Parent => parent_flags(),
                    _ => memory_flags(),
                };
                let raw = self.b.ins().load(types::I64, flags, address, 0);
                let word = self.b.ins().bswap(raw);
                let word = self.b.ins().ishl(word, offset);
                self.b.ins().ushr_imm_s(word, i64::from(64 - bits))
            }
        }
    }

    fn read_in_word(&mut self, frame: &WordFrame, word: usize, bit: u32, bits: u32) -> Value {
        let (byte, end_byte) = (bit / 8, (bit + bits - 1) / 8);
        if matches!(frame.words[word], WordStorage::Parent) && byte == end_byte {
            let state = self.state;
            let loaded = self.b.ins().uload8(types::I64, parent_flags(), state, byte as i32);
            return self.cut(loaded, 8, bit % 8, bits);
        }
        let value = self.word(frame, word);
        self.cut(value, 64, bit % WORD_BITS, bits)
    }

    /// Returns `bits` bits of an integer of `width` bits, from `bit` on, counted from the most significant.
    fn cut(&mut self, value: Value, width: u32, bit: u32, bits: u32) -> Value {
        let below = width - bit - bits;
        let shifted = match below {
            0 => value,
            _ => self.b.ins().ushr_imm_s(value, i64::from(below)),
        };
        match bit {
            0 => shifted,
            _ => self.b.ins().band_imm_s(shifted, mask(bits)),
        }
    }

    /// Returns the shift that moves bits of a word to the low end.
    fn shift_in_word(&mut self, word: usize, bit: u32, bits: u32, dynamic: Value) -> Value {
        let below = WORD_BITS * (word as u32 + 1) - bit - bits;
        let below = self.iconst(i64::from(below));
        self.b.ins().isub(below, dynamic)
    }

    /// Returns the address of the byte that contains a bit, and the offset of the bit in it.
    fn address(
        &mut self,
        frame: &WordFrame,
        word: usize,
        bit: u32,
        dynamic: Value,
    ) -> (Value, Value) {
        let base = match frame.words[word] {
            WordStorage::Parent => self.state,
            WordStorage::Memory => self.memory(),
            WordStorage::Register(_) => unreachable!("a footprint keeps wide reaches in memory"),
        };
        let bit = self.b.ins().iadd_imm_s(dynamic, i64::from(bit));
        let byte = self.b.ins().ushr_imm_s(bit, 3);
        let address = self.b.ins().iadd(base, byte);
        (address, self.b.ins().band_imm_s(bit, 7))
    }

    /// Replaces `bits` bits: at most 64, or `CHUNK_BITS` if their position is dynamic. All other bits of the value are
    /// 0.
    pub fn write(&mut self, frame: &WordFrame, at: BitOffset, bits: u32, value: Value) {
        if bits == 0 {
            return;
        }
        let reach = at.bit..at.bit + at.slack + bits;
        let words = in_words(&reach);
        match at.dynamic {
            None if words.len() == 1 => {
                let at = BitsOfWord { word: words.start, bit: at.bit % WORD_BITS, bits };
                self.write_in_word(frame, at, value);
            }
            None => {
                let low_bits = reach.end % WORD_BITS;
                let high_bits = bits - low_bits;
                let high = self.b.ins().ushr_imm_s(value, i64::from(low_bits));
                let first =
                    BitsOfWord { word: words.start, bit: at.bit % WORD_BITS, bits: high_bits };
                self.write_in_word(frame, first, high);
                let low = self.b.ins().band_imm_s(value, mask(low_bits));
                let second = BitsOfWord { word: words.start + 1, bit: 0, bits: low_bits };
                self.write_in_word(frame, second, low);
            }
            Some(dynamic) if words.len() == 1 => {
                let word = self.word(frame, words.start);
                let shift = self.shift_in_word(words.start, at.bit, bits, dynamic);
                let field = self.iconst(mask(bits));
                let field = self.b.ins().ishl(field, shift);
                let value = self.b.ins().ishl(value, shift);
                let kept = self.b.ins().band_not(word, field);
                let word = self.b.ins().bor(kept, value);
                self.set_word(frame, words.start, word);
            }
            Some(dynamic) => {
                let (address, offset) = self.address(frame, words.start, at.bit, dynamic);
                let raw = self.b.ins().load(types::I64, memory_flags(), address, 0);
                let word = self.b.ins().bswap(raw);
                let below = self.iconst(i64::from(64 - bits));
                let shift = self.b.ins().isub(below, offset);
                let field = self.iconst(mask(bits));
                let field = self.b.ins().ishl(field, shift);
                let value = self.b.ins().ishl(value, shift);
                let kept = self.b.ins().band_not(word, field);
                let word = self.b.ins().bor(kept, value);
                let raw = self.b.ins().bswap(word);
                self.b.ins().store(memory_flags(), raw, address, 0);
            }
        }
    }

    /// Replaces bits that lie in one word.
    fn write_in_word(&mut self, frame: &WordFrame, at: BitsOfWord, value: Value) {
        let BitsOfWord { word, bit, bits } = at;
        let below = WORD_BITS - bit - bits;
        let value = match below {
            0 => value,
            _ => self.b.ins().ishl_imm_s(value, i64::from(below)),
        };
        let new = match bits {
            WORD_BITS => value,
            _ => {
                let old = self.word(frame, word);
                let kept = self.b.ins().band_imm_s(old, !(mask(bits) << below));
                self.b.ins().bor(kept, value)
            }
        };
        self.set_word(frame, word, new);
    }

    /// Replaces bits at a known position by known bits.
    pub fn write_known(&mut self, frame: &WordFrame, bit: u32, bits: u32, value: u64) {
        let value = self.iconst(value as i64);
        self.write(frame, BitOffset::fixed(bit), bits, value);
    }

    /// Returns whether the masked bits of a word of the parent equal `expected`. Mask and expected value refer to the
    /// word. The comparison uses the fewest bytes that contain the mask, in memory order.
    pub fn parent_matches(&mut self, word: usize, mask: u64, expected: u64) -> Value {
        let first = mask.leading_zeros() / 8;
        let bytes = 8 - mask.trailing_zeros() / 8 - first;
        let (bytes, ty) = match bytes {
            0 | 1 => (1, types::I8),
            2 => (2, types::I16),
            3 | 4 => (4, types::I32),
            _ => (8, types::I64),
        };
        // The bytes from the first one of the mask on, the first of them least significant.
        let cut = |word: u64| (word << (8 * first)).swap_bytes() & (u64::MAX >> (64 - 8 * bytes));
        let (mask, expected) = (cut(mask) as i64, cut(expected) as i64);
        let (state, offset) = (self.state, 8 * word as i32 + first as i32);
        let loaded = self.b.ins().load(ty, parent_flags(), state, offset);
        let masked = match mask as u64 == u64::MAX >> (64 - 8 * bytes) {
            true => loaded,
            false => {
                let mask = self.b.ins().iconst(ty, mask);
                self.b.ins().band(loaded, mask)
            }
        };
        let expected = self.b.ins().iconst(ty, expected);
        self.b.ins().icmp(IntCC::Equal, masked, expected)
    }

    /// Returns whether any of these bits of a word of the parent is 1.
    pub fn parent_has_any(&mut self, word: usize, bits: u64) -> Value {
        let raw = self.raw_parent_word(word);
        let bits = self.iconst(bits.swap_bytes() as i64);
        let found = self.b.ins().band(raw, bits);
        self.b.ins().icmp_imm_u(IntCC::NotEqual, found, 0)
    }

    /// Stores the whole state of a frame.
    pub fn store(&mut self, frame: &WordFrame, to: Value) {
        let words = &frame.words[..WordLayout::new(self.interp.layout()).state_words];
        let mut word = 0;
        while word < words.len() {
            let of_parent = words[word..].iter().take_while(|it| matches!(it, WordStorage::Parent));
            let run = of_parent.count();
            if run >= CALLED_MIN {
                let offset = 8 * word as i64;
                let [from, to] = [self.state, to].map(|it| self.b.ins().iadd_imm_s(it, offset));
                let bytes = self.iconst(8 * run as i64);
                self.b.call_memcpy(self.imports.config, to, from, bytes);
                word += run;
                continue;
            }
            let pair = words.get(word..word + 2);
            if let Some([WordStorage::Parent, WordStorage::Parent]) = pair {
                let (state, offset) = (self.state, 8 * word as i32);
                let both = self.b.ins().load(types::I8X16, parent_flags(), state, offset);
                self.b.ins().store(memory_flags(), both, to, offset);
                word += 2;
                continue;
            }
            let raw = match words[word] {
                WordStorage::Parent => self.raw_parent_word(word),
                WordStorage::Register(variable) => {
                    let value = self.b.use_var(variable);
                    self.b.ins().bswap(value)
                }
                WordStorage::Memory => {
                    let memory = self.memory();
                    self.b.ins().load(types::I64, memory_flags(), memory, 8 * word as i32)
                }
            };
            self.store_raw(raw, to, word);
            word += 1;
        }
    }
}
