import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import { decodeSlotValue } from '../chain/eth/proof.js'
import { STRING, writeHeader } from '../chain/eth/rlpBytes.js'
import { EMPTY_TRIE_ROOT } from '../chain/eth/trie.js'
import { concatBytes } from '../lib/bytes.js'
import { endOfFields, HAS_CODE, HASH_BYTES, packAccountRlp } from './accountFields.js'
import { LEAF, MAX_REFERENCE, type TrieNodeRef } from './nodeFormat.js'
import type { ValueRlp } from './nodeHashing.js'
import type { NodeSet } from './nodeSet.js'
import { createPagedTries, type PagedTries } from './stateTrie.js'
import { createAccountUpdate, type StateUpdates } from './stateUpdates.js'
import type { SortedChanges } from './trieChanges.js'
import type { TriePages } from './trieWriter.js'
import type { MissingNode, UnknownNodes } from './unknownNodes.js'

/** The tries of a state (Yellow Paper, 4.1): accounts, and the storage tries in the leaves of contracts. All share the
 *  same pages. */
export interface StateTries {
  /** Keys are address hashes, values are accounts as of accountFields.ts. */
  readonly accounts: PagedTries
  /** Keys are slot hashes, values have no leading zeros. */
  readonly storage: PagedTries
}

/** Nodes for the unknown ones of a partial state: see `UnknownNodes`. Changes of slots are counted over all
 *  accounts. */
export interface UnknownStateNodes {
  nodes: NodeSet
  onMissing(missing: MissingNode & { isSlot: boolean }): void
}

/** Creates the tries of a state in `pages`, with `unknown` those of a partial one. */
export function createStateTries(pages: TriePages, unknown?: UnknownStateNodes): StateTries {
  const unknownOf = (isSlot: boolean): UnknownNodes | undefined =>
    unknown && { nodes: unknown.nodes, onMissing: (missing) => unknown.onMissing({ ...missing, isSlot }) }
  const storage = createPagedTries(pages, SLOT_VALUES, unknownOf(true))
  return { accounts: createPagedTries(pages, createAccountValues(storage), unknownOf(false)), storage }
}

// The longest string that a leaf may contain, with its header.
const slotRlp = new Uint8Array(3 + 0xffff)

const SLOT_VALUES: ValueRlp = {
  out: slotRlp,
  encode: (bytes, from, to) => {
    let at = 0
    if (to - from !== 1 || bytes[from] >= STRING) at = writeHeader(slotRlp, 0, STRING, to - from)
    for (let i = from; i < to; i++) slotRlp[at++] = bytes[i]
    return at
  },
  decode: decodeSlotValue,
}

/** The storage trie of an encoded account. */
export function storageOfPacked(stored: Uint8Array): TrieNodeRef | undefined {
  const at = endOfFields(stored, 0)
  return at === stored.length ? undefined : stored.subarray(at)
}

/** Nonce, balance, storage root and code hash of an encoded account. */
function createAccountValues(storage: PagedTries): ValueRlp {
  // List header, nonce and balance of up to 33 bytes with headers, two hashes with headers.
  const out = new Uint8Array(2 + 34 + 34 + 33 + 33)
  const writeInteger = (bytes: Uint8Array, from: number, to: number, at: number): number => {
    let end = at
    if (to - from !== 1 || bytes[from] >= STRING) out[end++] = STRING + to - from
    for (let i = from; i < to; i++) out[end++] = bytes[i]
    return end
  }
  const writeHash = (bytes: Uint8Array, from: number, at: number): number => {
    out[at] = STRING + HASH_BYTES
    for (let i = 0; i < HASH_BYTES; i++) out[at + 1 + i] = bytes[from + i]
    return at + 1 + HASH_BYTES
  }
  const writeStorageRoot = (bytes: Uint8Array, top: number, to: number, at: number): number => {
    if (top === to) return writeHash(EMPTY_TRIE_ROOT, 0, at)
    // Kind, length and first byte of a reference that is a hash.
    if (bytes[top] !== LEAF && bytes[top + 1] === MAX_REFERENCE) return writeHash(bytes, top + 3, at)
    return writeHash(storage.root(bytes.subarray(top, to)), 0, at)
  }
  const encode = (bytes: Uint8Array, from: number, to: number): number => {
    const nonceEnd = from + 2 + (bytes[from] & 0xf)
    const balanceEnd = nonceEnd + bytes[from + 1]
    let at = writeInteger(bytes, from + 2, nonceEnd, 2)
    at = writeInteger(bytes, nonceEnd, balanceEnd, at)
    at = writeStorageRoot(bytes, endOfFields(bytes, from), to, at)
    at = bytes[from] & HAS_CODE ? writeHash(bytes, balanceEnd, at) : writeHash(EMPTY_CODE_HASH, 0, at)
    // With two hashes it is longer than 55 bytes, and never longer than 255.
    out[0] = 0xf8
    out[1] = at - 2
    return at
  }
  return { out, encode, decode: packAccountRlp }
}

// Most storage tries are pages: their top node is a link.
const FIRST_ACCOUNT_BYTES = 512

/** Updates a state. `top` is that of its accounts; returns the new one. Calls `count` with 1 for a created account,
 *  with -1 for a deleted one. */
export function updateState(
  { accounts, storage }: StateTries,
  top: TrieNodeRef | undefined,
  { updates, count }: { updates: StateUpdates; count(difference: number): void },
): TrieNodeRef | undefined {
  let encoded = new Uint8Array(FIRST_ACCOUNT_BYTES)
  const update = createAccountUpdate()
  const { account } = update
  const change: SortedChanges['change'] = (index, value) => {
    updates.read(index, update)
    const { bytes, from, to } = value
    const [isNew, isGone] = [from === to, account.from === account.to]
    const at = isNew ? to : endOfFields(bytes, from)
    let tree = isNew ? update.storage : at === to ? undefined : bytes.subarray(at, to)
    if ((update.cleared || isGone) && tree !== undefined) {
      storage.free(tree)
      tree = undefined
    }
    if (isNew !== isGone) count(isNew ? 1 : -1)
    if (!isGone) tree = storage.apply(tree, updates.slots, { from: update.slotsFrom, to: update.slotsTo })
    const fieldsEnd = account.to - account.from
    const end = fieldsEnd + (tree?.length ?? 0)
    if (end > encoded.length) encoded = new Uint8Array(2 * end)
    for (let i = 0; i < fieldsEnd; i++) encoded[i] = account.bytes[account.from + i]
    if (tree !== undefined) for (let i = fieldsEnd; i < end; i++) encoded[i] = tree[i - fieldsEnd]
    value.bytes = encoded
    value.from = 0
    value.to = end
  }
  return accounts.apply(top, { keys: updates.keys, change }, { from: 0, to: updates.count })
}

/** Fills a partial state with the nodes on the paths of accounts and slots, as far as they are available. Changes
 *  neither values nor the root; the values of the updates do not matter. */
export function expandState(
  { accounts, storage }: StateTries,
  top: TrieNodeRef | undefined,
  updates: StateUpdates,
): TrieNodeRef | undefined {
  const update = createAccountUpdate()
  const slots = { keys: updates.slots.keys, change: () => {} }
  const change: SortedChanges['change'] = (index, value) => {
    const { bytes, from, to } = value
    const at = from === to ? to : endOfFields(bytes, from)
    if (at === to) return
    updates.read(index, update)
    const tree = storage.apply(bytes.subarray(at, to), slots, { from: update.slotsFrom, to: update.slotsTo })
    value.bytes = concatBytes(bytes.subarray(from, at), tree!)
    value.from = 0
    value.to = value.bytes.length
  }
  return accounts.apply(top, { keys: updates.keys, change }, { from: 0, to: updates.count })
}
