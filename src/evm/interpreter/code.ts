import { keccak256 } from '../../chain/crypto.js'
import { delegationOf } from '../../chain/eth/delegation.js'
import { createByteLru } from '../../lib/byteLru.js'
import { EMPTY_BYTES, keyOfBytes } from '../../lib/bytes.js'

/** Code as the interpreter runs it. There is one object per code, so analysis results are kept with it. */
export interface Code {
  /** The code followed by at least 33 zero bytes: running off the end is a STOP, and a PUSH there reads zeros. */
  readonly padded: Uint8Array
  /** Bytes of the code itself. */
  readonly length: number
  /** Keccak-256 of the code, 32 bytes; empty for init code, whose hash nothing reads. */
  readonly hash: Uint8Array
  /** One bit per byte: set for a JUMPDEST outside push data; see `jumpTargets`. */
  targets: Int32Array | undefined
  /** Its slot in the wasm core's memory, valid while that slot still contains it; see `createCodeSlots`. */
  place: number
  placedIn: number
  /** EIP-7702: the address, 20 bytes, that the code delegates to. */
  readonly delegation: Uint8Array | undefined
}

const PADDING = 33

/** A code object with a copy of the bytes. `hash` is their Keccak-256; computed if absent. */
export function createCode(bytes: Uint8Array, hash: Uint8Array = keccak256(bytes)): Code {
  const padded = new Uint8Array(bytes.length + PADDING)
  padded.set(bytes)
  const delegation = delegationOf(bytes)
  return { padded, length: bytes.length, hash, targets: undefined, place: 0, placedIn: 0, delegation }
}

/** The code of accounts that have none. */
export const EMPTY_CODE: Code = createCode(EMPTY_BYTES)

/** The bytes of the code: a view that must not be written to. */
export function codeBytes({ padded, length }: Code): Uint8Array {
  return padded.subarray(0, length)
}

const JUMPDEST = 0x5b
const PUSH1 = 0x60
const PUSH32 = 0x7f

/** Valid jump destinations: bit p & 31 of element p >>> 5 says whether byte p is one. Analysed at the first jump. */
export function jumpTargets(code: Code): Int32Array {
  if (code.targets !== undefined) return code.targets
  const { padded, length } = code
  const targets = new Int32Array((length >>> 5) + 1)
  for (let i = 0; i < length; i++) {
    const op = padded[i]
    if (op === JUMPDEST) targets[i >>> 5] |= 1 << (i & 31)
    else if (op >= PUSH1 && op <= PUSH32) i += op - PUSH1 + 1
  }
  code.targets = targets
  return targets
}

/** LRU cache of code objects by hash. */
export interface CodeObjects {
  /** Returns the code of that hash, from the cache or its source. */
  get(hash: Uint8Array): Code
}

/** Creates a code cache over `read`, which returns the bytes of a hash. Stores about `maxBytes` at most. */
export function createCodeObjects(read: (hash: Uint8Array) => Uint8Array, maxBytes: number): CodeObjects {
  // The object, its arrays and its bitmap: about a ninth more than the code, and 400 bytes.
  const cache = createByteLru<Code>({ maxBytes, sizeOf: (_, { length }) => 400 + length + (length >>> 3) })
  return {
    get(hash) {
      const key = keyOfBytes(hash)
      let code = cache.get(key)
      if (code === undefined) {
        code = createCode(read(hash), hash)
        cache.set(key, code)
      }
      return code
    },
  }
}
