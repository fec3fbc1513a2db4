import { keccak256 } from '../chain/crypto.js'
import { DecodeError } from '../chain/eth/rlp.js'
import { keyOfBytes } from '../lib/bytes.js'

/** Length of the longest node in a state: a branch of 16 hashes. */
export const MAX_NODE_BYTES = 3 + 16 * 33 + 1

// Two map entries and a small array.
const NODE_OVERHEAD = 250
const MARK_BYTES = 120

/** Trie nodes by the hash of their RLP, from proofs and witnesses. Each is stored under the hash computed here, so a
 *  node is used only where a trie asks for exactly it. */
export class NodeSet {
  #nodes = new Map<string, Uint8Array>()
  #branches = new Set<string>()
  #nodeBytes = 0
  #taken = new Map<string, Uint8Array>()
  #takenBranches = new Map<string, Uint8Array>()

  /** Adds a node, which is kept without a copy. @returns its hash: 32 bytes
   *  @throws DecodeError if it is longer than any node of a state, 532 bytes */
  add(rlp: Uint8Array): Uint8Array {
    if (rlp.length > MAX_NODE_BYTES) {
      throw new DecodeError('node', `expected at most ${MAX_NODE_BYTES} bytes, got ${rlp.length}`)
    }
    const hash = keccak256(rlp)
    const key = keyOfBytes(hash)
    if (!this.#nodes.has(key)) {
      this.#nodes.set(key, rlp)
      this.#nodeBytes += rlp.length
    }
    return hash
  }

  /** The RLP of the node with that hash (32 bytes). */
  get(hash: Uint8Array): Uint8Array | undefined {
    return this.#nodes.get(keyOfBytes(hash))
  }

  /** As `get`, for a trie that stores the node: `taken` has it then. */
  take(hash: Uint8Array): Uint8Array | undefined {
    const rlp = this.get(hash)
    if (rlp !== undefined) this.#taken.set(keyOfBytes(hash), rlp)
    return rlp
  }

  /** As `isBranch`, for a trie that relies on it: `taken` has it then. */
  takeBranch(hash: Uint8Array): boolean {
    if (!this.isBranch(hash)) return false
    this.#takenBranches.set(keyOfBytes(hash), hash)
    return true
  }

  /** Returns what tries took since the set was cleared: RLP of nodes, and hashes of nodes that needed only to be
   *  branches. */
  taken(): { nodes: Uint8Array[]; branches: Uint8Array[] } {
    return { nodes: [...this.#taken.values()], branches: [...this.#takenBranches.values()] }
  }

  /** Notes that the node with that hash is a branch. Unlike a node, a mark is trusted: a wrong one leads to a wrong
   *  root. `addDeletionHints` marks what it has verified. */
  markBranch(hash: Uint8Array): void {
    this.#branches.add(keyOfBytes(hash))
  }

  /** True if the node with that hash is marked as a branch. */
  isBranch(hash: Uint8Array): boolean {
    return this.#branches.has(keyOfBytes(hash))
  }

  /** Returns the RLP of all nodes, in the order in which they were added. */
  list(): Uint8Array[] {
    return [...this.#nodes.values()]
  }

  /** Returns the hashes that were marked, 32 bytes each. */
  branches(): Uint8Array[] {
    return Array.from(this.#branches, (key) => new Uint8Array(Buffer.from(key, 'latin1')))
  }

  /** Number of nodes. */
  get size(): number {
    return this.#nodes.size
  }

  /** Approximate memory. */
  get sizeBytes(): number {
    return this.#nodeBytes + this.#nodes.size * NODE_OVERHEAD + this.#branches.size * MARK_BYTES
  }

  clear(): void {
    this.#nodes = new Map()
    this.#branches = new Set()
    this.#taken = new Map()
    this.#takenBranches = new Map()
    this.#nodeBytes = 0
  }
}
