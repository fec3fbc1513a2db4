import { CairnError } from '../lib/errors.js'
import { formatData } from '../lib/hex.js'

/** An account and slots of it. */
export interface StateKeys {
  readonly address: Uint8Array // 20
  readonly slots: readonly Uint8Array[] // 32 bytes each
}

/** A partial trie lacks a node. */
export class MissingTrieNode extends CairnError {
  /** Keccak-256 of the node's RLP: 32 bytes. */
  readonly hash: Uint8Array
  constructor(hash: Uint8Array) {
    super(`the trie node ${formatData(hash)} is not known`)
    this.hash = hash
  }
}

/** A node that replaces its parent when all other children of that are deleted. */
export interface SiblingPlace {
  /** The account whose storage trie has it; undefined: it is in the trie of accounts. */
  readonly address: Uint8Array | undefined // 20
  /** The nibbles that lead to it. */
  readonly path: Uint8Array
}

/** An update of a partial state trie lacks nodes. Proofs of these keys have them. */
export class MissingTrieNodes extends CairnError {
  /** Accounts and slots to prove in the state before the changes: those whose path is not known. */
  readonly before: readonly StateKeys[]
  /** Deleted accounts and slots to prove in the state after the changes, for `addDeletionHints`. Empty unless `before`
   *  is. */
  readonly after: readonly StateKeys[]
  /** Where the nodes are that replace deleted ones: a proof of any key there has them, too. Empty unless `before`
   *  is. */
  readonly siblings: readonly SiblingPlace[]
  constructor({
    before,
    after,
    siblings = [],
  }: {
    before: readonly StateKeys[]
    after: readonly StateKeys[]
    siblings?: readonly SiblingPlace[]
  }) {
    const keys = [...before, ...after]
    const slots = keys.reduce((sum, each) => sum + each.slots.length, 0)
    const state = before.length > 0 ? 'before' : 'after'
    super(
      `the state trie lacks nodes of ${keys.length} accounts and ${slots} slots: they need proofs in the state ${state} the changes`,
    )
    this.before = before
    this.after = after
    this.siblings = siblings
  }
}
