import {
  asBytes,
  asFixed,
  asHash,
  asList,
  asListOf,
  asUint,
  DecodeError,
  decodeRlp,
  encodeRlp,
  type RlpItem,
} from '../../chain/eth/rlp.js'
import { EMPTY_BYTES } from '../../lib/bytes.js'
import { UsageError } from '../../lib/errors.js'
import { readBinaryFile } from '../../sources/files/fileBytes.js'
import type { StateKeys } from '../../trie/missingNodes.js'
import { ANCESTORS } from './ancestorHashes.js'

/** Name of the file of a fixture directory with the state that the recorded blocks need. */
export const RECORDED_STATE = 'fixture.state'

/** What the blocks of a recording need of the state after the block before them, with what proves it. */
export interface RecordedState {
  /** RLP of the headers before the first block whose hashes BLOCKHASH can ask for, newest first: at most 256. */
  readonly ancestors: readonly Uint8Array[]
  /** Accounts and slots. */
  readonly keys: readonly StateKeys[]
  /** RLP of nodes of the state trie and of storage tries: those on the paths of the keys, and siblings that move when
   *  blocks delete keys. */
  readonly nodes: readonly Uint8Array[]
  /** Hashes of nodes that are not recorded and are known to be branches. */
  readonly branches: readonly Uint8Array[]
  /** Codes of the accounts. */
  readonly codes: readonly Uint8Array[]
}

/** Largest file: it is read into memory. */
export const MAX_RECORDED_BYTES = 2 ** 30

/** Most accounts, slots, nodes and codes together: 0.7 GB as decoded items. */
export const MAX_RECORDED_ITEMS = 2 ** 22

const VERSION = 1
const PARTS = 6

/** Encodes the content of `fixture.state`: the RLP of [version, ancestors, keys, nodes, branches, codes], each key as
 *  [address, slots]. */
export function encodeRecordedState({ ancestors, keys, nodes, branches, codes }: RecordedState): Uint8Array {
  const accounts = keys.map(({ address, slots }) => [address, slots])
  return encodeRlp([VERSION, ancestors, accounts, nodes, branches, codes])
}

/** Inverse of `encodeRecordedState`; hashes are not verified. @throws DecodeError */
export function decodeRecordedState(bytes: Uint8Array): RecordedState {
  const parts = asList(decodeRlp(bytes, 'state', MAX_RECORDED_ITEMS), 'state')
  const version = asUint(parts[0] ?? EMPTY_BYTES, 8, 'version')
  if (version !== BigInt(VERSION)) throw new DecodeError('version', `expected ${VERSION}, got ${version}`)
  if (parts.length !== PARTS) throw new DecodeError('state', `expected a list of ${PARTS}, got one of ${parts.length}`)
  const [, ancestors, keys, nodes, branches, codes] = parts
  return {
    ancestors: asListOf(ancestors, 'ancestors', asBytes, ANCESTORS),
    keys: asListOf(keys, 'keys', asKeys),
    nodes: asListOf(nodes, 'nodes', asBytes),
    branches: asListOf(branches, 'branches', asHash),
    codes: asListOf(codes, 'codes', asBytes),
  }
}

function asKeys(item: RlpItem, path: string): StateKeys {
  const [address, slots] = asList(item, path, 2, 2)
  return { address: asFixed(address, 20, `${path}.address`), slots: asListOf(slots, `${path}.slots`, asHash) }
}

/** Reads a file with recorded state. @throws UsageError when it cannot be read, is larger than 1 GiB, or is
 *  malformed */
export function readRecordedState(path: string): RecordedState {
  const bytes = readBinaryFile(path, MAX_RECORDED_BYTES)
  try {
    return decodeRecordedState(bytes)
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
    throw new UsageError(`${path}: ${cause.message}`, { cause })
  }
}
