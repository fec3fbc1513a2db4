import { EMPTY_BYTES, equalBytes, keyOfBytes } from '../../../src/lib/bytes.js'
import type { TrieNodeRef } from '../../../src/trie/nodeFormat.js'
import type { ValueRlp } from '../../../src/trie/nodeHashing.js'
import { createMemoryPages, createPagedTries } from '../../../src/trie/stateTrie.js'
import type { TriePages } from '../../../src/trie/trieWriter.js'

// The maximum length of a leaf's value.
const MAX_VALUE = 0xffff
const plainOut = new Uint8Array(MAX_VALUE)

/** Encoding of values that are stored as they are hashed. */
export const PLAIN_VALUES: ValueRlp = {
  out: plainOut,
  encode: (bytes, from, to) => {
    plainOut.set(bytes.subarray(from, to))
    return to - from
  },
  decode: (rlp) => rlp,
}

/** A trie in memory, hashed when its root is requested. */
export interface StateTrie {
  /** Sets the value of a 32-byte key; an empty value removes it. */
  put(key: Uint8Array, value: Uint8Array): void
  /** 32 bytes. */
  root(): Uint8Array
}

/** An empty trie. */
export function createStateTrie(pages: TriePages = createMemoryPages()): StateTrie {
  const tries = createPagedTries(pages, PLAIN_VALUES)
  let top: TrieNodeRef | undefined
  let pending = new Map<string, { key: Uint8Array; value: Uint8Array }>()
  return {
    put: (key, value) => void pending.set(keyOfBytes(key), { key, value }),
    root: () => {
      const updates = Array.from(pending.values(), ({ key, value }) => ({
        key,
        change: () => (equalBytes(value, EMPTY_BYTES) ? undefined : value),
      }))
      pending = new Map()
      top = tries.update(top, updates)
      return tries.root(top)
    },
  }
}
