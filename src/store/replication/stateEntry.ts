import {
  asBytes,
  asFixed,
  asHash,
  asList,
  asListOf,
  DecodeError,
  decodeRlp,
  encodeRlp,
  type RlpItem,
} from '../../chain/eth/rlp.js'
import { trimLeft } from '../../lib/bytes.js'

/* The data of an entry of `state_log` is RLP:
 *
 *   [accounts, nodes, branches, codeHashes]
 *   account: [address, 1 if it got a base row, slots that got base rows, other slots]
 *
 * Values are not in it: a replica reads them from its trie, whose root it knows, once the nodes are in it. Slots are
 * without leading zeros. */

/** Accounts and slots that became known. */
export interface LearnedAccount {
  readonly address: Uint8Array // 20
  /** True if the account got a base row. */
  readonly isBase: boolean
  /** Slots that got base rows; without leading zeros. */
  readonly baseSlots: readonly Uint8Array[]
  /** Slots whose trie nodes became known. */
  readonly slots: readonly Uint8Array[]
}

/** What was added to sparse state at once. */
export interface LearnedState {
  readonly accounts: readonly LearnedAccount[]
  /** RLP of the trie nodes that the writer's trie did not have. */
  readonly nodes: readonly Uint8Array[]
  /** Hashes of nodes that are branches: all that was needed of them. */
  readonly branches: readonly Uint8Array[]
  /** Code hashes of the accounts that got base rows. */
  readonly codeHashes: readonly Uint8Array[]
}

/** Encodes what was added to sparse state. */
export function encodeStateEntry({ accounts, nodes, branches, codeHashes }: LearnedState): Uint8Array {
  return encodeRlp([
    accounts.map(({ address, isBase, baseSlots, slots }) => [
      address,
      isBase ? 1 : 0,
      baseSlots.map(trimLeft),
      slots.map(trimLeft),
    ]),
    nodes,
    branches,
    codeHashes,
  ])
}

/** Decodes what was added to sparse state. Byte fields are views. @throws DecodeError unless the bytes are those that
 *  `encodeStateEntry` returns */
export function decodeStateEntry(data: Uint8Array): LearnedState {
  const [accounts, nodes, branches, codeHashes] = asList(decodeRlp(data, 'state'), 'state', 4, 4)
  return {
    accounts: asListOf(accounts, 'state.accounts', decodeAccount),
    nodes: asListOf(nodes, 'state.nodes', asBytes),
    branches: asListOf(branches, 'state.branches', asHash),
    codeHashes: asListOf(codeHashes, 'state.codeHashes', asHash),
  }
}

function decodeAccount(item: RlpItem, path: string): LearnedAccount {
  const [address, flag, baseSlots, slots] = asList(item, path, 4, 4)
  const isBase = asBytes(flag, `${path}.isBase`)
  if (isBase.length > 1 || (isBase.length === 1 && isBase[0] !== 1)) {
    throw new DecodeError(`${path}.isBase`, 'expected 0 or 1')
  }
  return {
    address: asFixed(address, 20, `${path}.address`),
    isBase: isBase.length === 1,
    baseSlots: asListOf(baseSlots, `${path}.baseSlots`, asSlot),
    slots: asListOf(slots, `${path}.slots`, asSlot),
  }
}

function asSlot(item: RlpItem, path: string): Uint8Array {
  const bytes = asBytes(item, path)
  if (bytes.length > 32) throw new DecodeError(path, `expected at most 32 bytes, got ${bytes.length}`)
  if (bytes[0] === 0) throw new DecodeError(path, 'expected no leading zero, got one')
  return bytes
}
