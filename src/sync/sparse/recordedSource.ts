import { keccak256 } from '../../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import { familyOf } from '../../chain/eth/families/families.js'
import type { Family } from '../../chain/eth/families/family.js'
import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import { decodeHeader } from '../../chain/eth/header.js'
import { type ProvedAccount, unreachableNodes } from '../../chain/eth/proof.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import { EMPTY_TRIE_ROOT } from '../../chain/eth/trie.js'
import type { Header } from '../../chain/eth/types.js'
import { concatBytes, equalBytes, keyOfBytes, trimLeft } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { BaseState } from '../../store/rows/stateChanges.js'
import { MissingTrieNode, type StateKeys } from '../../trie/missingNodes.js'
import { NodeSet } from '../../trie/nodeSet.js'
import { readAccountNode, readSlotNode } from '../../trie/readNodes.js'
import { RECORDED_STATE, type RecordedState } from './recordedState.js'
import type { FetchedBlockState, Lacking, StateSource } from './stateSource.js'

/** The state of a recording is not that of its first block, or lacks what a block needs. */
export class InvalidRecordedState extends CairnError {
  constructor(problem: string) {
    super(`${RECORDED_STATE}: ${problem}; record it again`)
  }
}

/** The state of a recording, verified. */
export interface VerifiedRecording {
  /** Hashes of the ancestors, newest first, 32 bytes each. */
  readonly ancestorHashes: Uint8Array
  readonly keys: readonly StateKeys[]
  /** RLP of the nodes on the paths of the keys. */
  readonly nodes: readonly Uint8Array[]
  readonly base: BaseState
  /** The state that deletions need besides. */
  readonly source: StateSource
}

/** Verifies the state of a recording: the ancestors against the header of its first block, all else against the state
 *  root of that. Every node is on a path from the root, every key has its proof, and every account its code. @throws
 *  InvalidRecordedState that names what is wrong */
export function verifyRecordedState(recorded: RecordedState, header: Header, spec: ChainSpec): VerifiedRecording {
  try {
    const ancestorHashes = verifyAncestors(recorded.ancestors, header.parentHash, familyOf(spec))
    const unknown = unreachableNodes(recorded.nodes, header.stateRoot)
    if (unknown > 0) {
      throw new InvalidRecordedState(`nodes: ${unknown} are not of the state after block ${header.number}`)
    }
    const nodes = new VisitedNodes()
    for (const node of recorded.nodes) nodes.add(node)
    const base = readBase(recorded, nodes, header.stateRoot)
    const [visited, rest] = nodes.split(recorded.nodes)
    const source = createRecordedSource({ nodes: rest, branches: recorded.branches, codes: [] })
    return { ancestorHashes, keys: recorded.keys, nodes: visited, base, source }
  } catch (error) {
    if (error instanceof DecodeError) throw new InvalidRecordedState(error.message)
    throw error
  }
}

function verifyAncestors(ancestors: readonly Uint8Array[], parentHash: Uint8Array, family: Family): Uint8Array {
  const hashes: Uint8Array[] = []
  let expected = parentHash
  for (const [i, rlp] of ancestors.entries()) {
    const header = decodeHeader(rlp, `ancestors[${i}]`)
    const hash = family.hashHeader(header)
    if (!equalBytes(hash, expected)) {
      throw new InvalidRecordedState(
        `ancestors[${i}]: expected the hash ${formatData(expected)}, got ${formatData(hash)}`,
      )
    }
    hashes.push(hash)
    expected = header.parentHash
  }
  return concatBytes(...hashes)
}

/** Reads the values of the keys from the nodes. */
function readBase({ keys, codes }: RecordedState, nodes: NodeSet, stateRoot: Uint8Array): BaseState {
  const byHash = new Map(codes.map((bytes) => [keyOfBytes(keccak256(bytes)), bytes]))
  const used = new Map<string, { hash: Uint8Array; bytes: Uint8Array }>()
  const codeOf = (address: Uint8Array, { codeHash }: ProvedAccount) => {
    if (equalBytes(codeHash, EMPTY_CODE_HASH)) return undefined
    const bytes = byHash.get(keyOfBytes(codeHash))
    if (bytes === undefined) throw new InvalidRecordedState(`codes: that of ${formatData(address)} is missing`)
    used.set(keyOfBytes(codeHash), { hash: codeHash, bytes })
    return codeHash
  }
  const accounts: BaseState['accounts'][number][] = []
  const slots: BaseState['slots'][number][] = []
  for (const [i, { address, slots: own }] of keys.entries()) {
    const found = proved(`keys[${i}]: account ${formatData(address)}`, () => readAccountNode(nodes, stateRoot, address))
    const storageRoot = found?.storageRoot ?? EMPTY_TRIE_ROOT
    const hasStorage = !equalBytes(storageRoot, EMPTY_TRIE_ROOT)
    const account = found && { nonce: found.nonce, balance: found.balance, codeHash: codeOf(address, found) }
    accounts.push({ address, account, hasStorage })
    for (const slot of own) {
      const name = `keys[${i}]: slot ${formatData(slot)} of ${formatData(address)}`
      const value = proved(name, () => readSlotNode(nodes, storageRoot, slot))
      // A storage that is empty at the first block has no base rows.
      if (hasStorage) slots.push({ address, slot: trimLeft(slot), value })
    }
  }
  if (used.size < byHash.size) throw new InvalidRecordedState(`codes: ${byHash.size - used.size} are of no account`)
  return { accounts, slots, codes: [...used.values()] }
}

/** @throws InvalidRecordedState when `read` lacks a node of its path */
function proved<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof MissingTrieNode)) throw error
    throw new InvalidRecordedState(`${name} has no proof: ${error.message}`)
  }
}

/** Notes which nodes were read. */
class VisitedNodes extends NodeSet {
  readonly #visited = new Set<string>()

  override get(hash: Uint8Array): Uint8Array | undefined {
    this.#visited.add(keyOfBytes(hash))
    return super.get(hash)
  }

  /** Returns the nodes of a list that were read, and the others. */
  split(list: readonly Uint8Array[]): [visited: Uint8Array[], rest: Uint8Array[]] {
    const parts: [Uint8Array[], Uint8Array[]] = [[], []]
    for (const rlp of list) parts[this.#visited.has(keyOfBytes(keccak256(rlp))) ? 0 : 1].push(rlp)
    return parts
  }
}

/** Returns what a recording has besides the values of its keys to the first attempt of a block that lacks anything. */
function createRecordedSource(rest: FetchedBlockState): StateSource {
  return {
    begin: ({ header }) => {
      let isAsked = false
      return {
        fetch: async (lacking) => {
          if (isAsked || lacking.codes.length > 0) throw new InvalidRecordedState(describe(header.number, lacking))
          isAsked = true
          return rest
        },
      }
    },
  }
}

function describe(blockNumber: number, { before, after, codes }: Lacking): string {
  const [key] = [...before.list(), ...after.list(), ...codes.map(({ address }) => ({ address, slots: [] }))]
  const [slot] = key?.slots ?? []
  const name = key && `${slot ? `slot ${formatData(slot)} of ` : ''}account ${formatData(key.address)}`
  return `block ${blockNumber} needs ${name ?? 'state'}, which is not recorded`
}
