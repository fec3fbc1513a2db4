import {
  type Code,
  call,
  get,
  i32,
  i32s,
  i64,
  i64s,
  memoryCopy,
  memoryFill,
  set,
  v128s,
} from '../../../wasm/assembler.js'
import { INPUT_AT, OUTPUT_AT } from '../../../wasm/keccakModule.js'
import { CALLS } from './arithmetic.js'
import { KECCAK, LONGEST_HASHED, MASKS } from './layout.js'
import { findKeptHashes, isEntryOf, MAPPING_KEY_BYTES, readHash, writeEntry } from './mappingKeys.js'
import { anyOf, type Case, type CoreWriter, limb, NONE, range, register } from './writer.js'

// Longer ranges gain little from being copied here.
const LONGEST_COPIED = 1024

/** Instructions on stack, memory, calldata and code. */
export function frameCases(w: CoreWriter): Case[] {
  return [...memory(w), copyCallData(w), keccak(w), ...jumps(w), ...pushes(w), ...copies(w), ...numbers(w)]
}

function memory(w: CoreWriter): Case[] {
  const { f } = w
  /** Leaves the loop for offsets of `top` and above; otherwise sets `t` to the address. */
  const address = (base: 'memory' | 'input', top: 'memoryTop' | 'inputTop') => {
    w.operands()
    f.goToWhen('leave', w.isBeyond(i64s.of(register(top))))
    f.put(set(w.t, i32s.add(register(base), i32s.low(limb(w.a, 0)))))
  }
  /** Sets `t` to the address of a memory word, up to which memory is extended. */
  const wordAddress = () => {
    w.operands()
    f.when(w.isBeyond(i64s.of(register('memoryTop'))), () => {
      f.goToWhen('leave', w.isBeyond(i64s.of(register('memoryRoom'))))
      w.extendMemory(i32s.add(i32s.low(limb(w.a, 0)), i32(32)), get(w.gas))
    })
    f.put(set(w.t, i32s.add(register('memory'), i32s.low(limb(w.a, 0)))))
  }
  return [
    {
      codes: [0x51], // MLOAD
      write: () => {
        wordAddress()
        w.writeReversed(get(w.t), get(w.a))
        w.next(0)
      },
    },
    {
      codes: [0x52], // MSTORE
      write: () => {
        wordAddress()
        w.writeReversed(get(w.b), get(w.t))
        w.next(-2)
      },
    },
    {
      codes: [0x53], // MSTORE8
      write: () => {
        address('memory', 'memoryTop')
        f.put(i64s.store8(get(w.t), 0, limb(w.b, 0)))
        w.next(-2)
      },
    },
    {
      codes: [0x35], // CALLDATALOAD
      write: () => {
        address('input', 'inputTop')
        w.writeReversed(get(w.t), get(w.a))
        w.next(0)
      },
    },
  ]
}

/** CALLDATACOPY of short ranges. Where jumps leave the loop, it leaves it too, because the deadline must be checked. */
function copyCallData(w: CoreWriter): Case {
  const { f } = w
  const [length, from, there] = w.x
  const size = w.b
  return {
    codes: [0x37],
    write: () => {
      w.operands()
      f.goToWhen('leave', w.isBeyond(i64s.of(register('memoryRoom'))))
      f.put(set(length, limb(w.b, 0)), set(from, i64s.of(register('inputLength'))))
      f.goToWhen('leave', i32s.isZero(i64s.isZero(anyOf(limb(w.b, 1), limb(w.b, 2), limb(w.b, 3)))))
      // Beyond the calldata there are zeros, wherever it is.
      f.when(i32s.isZero(i64s.isMore(get(length), get(from))), () => f.put(set(from, get(length))))
      f.put(set(w.t, i32s.sub(get(w.sp), i32(96))), set(length, limb(w.t, 0)))
      f.goToWhen('leave', i32s.isZero(i64s.isZero(anyOf(limb(w.t, 1), limb(w.t, 2), limb(w.t, 3)))))
      f.goToWhen('leave', i64s.isMore(i64s.sub(get(length), i64(1n)), i64(BigInt(LONGEST_COPIED - 1))))
      w.payForWords(get(length), 3n)
      f.put(set(w.t, i32s.low(limb(w.a, 0))), set(size, i32s.low(get(length))))
      const end = i32s.add(get(w.t), get(size))
      f.when(
        i32s.isMore(end, register('memorySize')),
        () => w.extendMemory(end, get(w.paid)),
        () => f.put(set(w.gas, get(w.paid))),
      )
      f.put(set(there, i64s.sub(i64s.of(register('inputLength')), get(from))))
      f.when(i64s.isMore(get(there), get(length)), () => f.put(set(there, get(length))))
      f.put(set(w.t, i32s.add(register('memory'), get(w.t))))
      f.put(memoryCopy(get(w.t), i32s.add(register('input'), i32s.low(get(from))), i32s.low(get(there))))
      f.when(i64s.isMore(get(length), get(there)), () => {
        const rest = i32s.low(i64s.sub(get(length), get(there)))
        f.put(memoryFill(i32s.add(get(w.t), i32s.low(get(there))), i32(0), rest))
      })
      w.next(-3)
    },
  }
}

/** KECCAK256 of moderately sized ranges in existing memory. Where jumps leave the loop, it leaves it too, because the
 *  deadline must be checked. */
function keccak(w: CoreWriter): Case {
  const { f } = w
  const [length] = w.x
  const entry = w.flag
  /** Hashes the bytes at `t` to the word at `b`. */
  const hash = () => {
    f.put(memoryCopy(i32(KECCAK + INPUT_AT), get(w.t), i32s.low(get(length))))
    f.put(call(CALLS.keccak, i32s.low(get(length)), i32(0), i32(1)))
    w.writeReversed(i32(KECCAK + OUTPUT_AT), get(w.b))
  }
  return {
    codes: [0x20],
    write: () => {
      w.operands()
      f.goToWhen('leave', w.isBeyond(i64s.of(register('memoryTop'))))
      const isLong = i64s.isMore(limb(w.b, 0), i64(BigInt(LONGEST_HASHED)))
      const high = anyOf(limb(w.b, 1), limb(w.b, 2), limb(w.b, 3))
      f.goToWhen('leave', i32s.or(i32s.isZero(i64s.isZero(high)), isLong))
      f.put(set(length, limb(w.b, 0)))
      f.goToWhen('leave', i64s.isMore(i64s.add(limb(w.a, 0), get(length)), i64s.of(register('memorySize'))))
      w.payForWords(get(length), 6n)
      f.put(set(w.gas, get(w.paid)), set(w.t, i32s.add(register('memory'), i32s.low(limb(w.a, 0)))))
      f.block('hashed', () => {
        const isMappingKey = i64s.equal(get(length), i64(BigInt(MAPPING_KEY_BYTES)))
        f.when(isMappingKey, () => {
          findKeptHashes(w, entry, w.t)
          for (const second of [0, 1] as const) {
            f.when(isEntryOf(entry, w.t, second), () => {
              readHash(w, { entry, second, to: w.b })
              f.goTo('hashed')
            })
          }
          hash()
          writeEntry(w, entry, { from: w.t, hash: w.b })
          f.goTo('hashed')
        })
        hash()
      })
      w.next(-1)
    },
  }
}

function jumps(w: CoreWriter): Case[] {
  const { f } = w
  /** Jumps to the word on top. Executes the JUMPDEST, too; its gas is checked at the next instruction. */
  const jump = (words: number) => {
    f.goToWhen('leave', w.isBeyond(i64s.of(register('codeLength'))))
    f.put(set(w.t, i32s.low(limb(w.a, 0))))
    const bits = i32s.loadByte(i32s.add(register('targets'), i32s.right(get(w.t), i32(3))))
    const bit = i32s.and(i32s.right(bits, i32s.and(get(w.t), i32(7))), i32(1))
    f.goToWhen('leave', i32s.isZero(bit))
    f.goToWhen('leave', i64s.isLessSigned(i64s.sub(get(w.gas), i64(1n)), get(w.checkAt)))
    f.put(set(w.gas, i64s.sub(get(w.gas), i64(1n))), set(w.pc, i32s.add(get(w.code), get(w.t))))
    w.next(words)
  }
  return [
    {
      codes: [0x56], // JUMP
      write: () => {
        w.operands()
        jump(-1)
      },
    },
    {
      codes: [0x57], // JUMPI
      write: () => {
        w.operands()
        f.when(w.isZero(w.b), () => w.next(-2))
        jump(-2)
      },
    },
    { codes: [0x5b], write: () => w.next(0) }, // JUMPDEST
  ]
}

function pushes(w: CoreWriter): Case[] {
  const { f } = w
  const number = (code: number, value: Code): Case => ({
    codes: [code],
    write: () => {
      w.setNumber(w.sp, value)
      w.next(1, i32(code - 0x5f))
    },
  })
  return [
    number(0x5f, NONE),
    number(0x60, i64s.load8(get(w.pc), 1)),
    number(0x61, i64s.or(i64s.left(i64s.load8(get(w.pc), 1), i64(8n)), i64s.load8(get(w.pc), 2))),
    {
      codes: range(0x62, 0x7f),
      write: () => {
        // The 32 bytes that end with the immediate data; the bytes before it are masked.
        f.put(set(w.b, i32s.sub(get(w.op), i32(0x5f))))
        f.put(set(w.t, i32s.sub(i32s.add(get(w.pc), get(w.b)), i32(31))))
        f.put(set(w.a, i32s.sub(i32(MASKS + 32), get(w.b))))
        for (const [from, to] of [
          [16, 0],
          [0, 16],
        ]) {
          f.put(set(w.low, v128s.load(get(w.t), from)))
          const bytes = v128s.and(v128s.reverse(get(w.low)), v128s.load(get(w.a), to))
          f.put(v128s.store(get(w.sp), to, bytes))
        }
        w.next(1, get(w.b))
      },
    },
  ]
}

function copies(w: CoreWriter): Case[] {
  const { f } = w
  return [
    {
      codes: range(0x80, 0x8f), // DUP1 to DUP16
      write: () => {
        f.put(set(w.t, i32s.sub(get(w.sp), i32s.left(i32s.sub(get(w.op), i32(0x7f)), i32(5)))))
        for (const at of [0, 16]) f.put(v128s.store(get(w.sp), at, v128s.load(get(w.t), at)))
        w.next(1)
      },
    },
    {
      codes: range(0x90, 0x9f), // SWAP1 to SWAP16
      write: () => {
        w.operands()
        f.put(set(w.t, i32s.sub(get(w.sp), i32s.left(i32s.sub(get(w.op), i32(0x8e)), i32(5)))))
        for (const at of [0, 16]) {
          f.put(
            set(w.low, v128s.load(get(w.t), at)),
            set(w.high, v128s.load(get(w.a), at)),
            v128s.store(get(w.t), at, get(w.high)),
            v128s.store(get(w.a), at, get(w.low)),
          )
        }
        w.next(0)
      },
    },
    { codes: [0x50], write: () => w.next(-1) }, // POP
  ]
}

/** Instructions that push register values or the gas left. */
function numbers(w: CoreWriter): Case[] {
  const number = (code: number, value: Code): Case => ({
    codes: [code],
    write: () => {
      w.setNumber(w.sp, value)
      w.next(1)
    },
  })
  return [
    number(0x36, i64s.of(register('inputLength'))), // CALLDATASIZE
    number(0x38, i64s.of(register('codeLength'))), // CODESIZE
    number(0x3d, i64s.of(register('returnLength'))), // RETURNDATASIZE
    number(0x58, i64s.of(i32s.sub(get(w.pc), get(w.code)))), // PC
    number(0x59, i64s.of(register('memorySize'))), // MSIZE
    {
      codes: [0x5a], // GAS
      write: () => {
        w.f.goToWhen('leave', register('gasBeyond'))
        w.setNumber(w.sp, get(w.gas))
        w.next(1)
      },
    },
  ]
}
