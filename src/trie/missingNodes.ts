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

/** An update of a partial state trie lacks nodes. Proofs of these keys have them. */
export class MissingTrieNodes extends CairnError {
  /** Accounts and slots to prove in the state before the changes: those whose path is not known. */
  readonly before: readonly StateKeys[]
  /** Deleted accounts and slots to prove in the state after the changes, for `addDeletionHints`. Empty unless `before`
   *  is. */
  readonly after: readonly StateKeys[]
  constructor({ before, after }: { before: readonly StateKeys[]; after: readonly StateKeys[] }) {
    const keys = [...before, ...after]
    const slots = keys.reduce((sum, each) => sum + each.slots.length, 0)
    const state = before.length > 0 ? 'before' : 'after'
    super(
      `the state trie lacks nodes of ${keys.length} accounts and ${slots} slots: they need proofs in the state ${state} the changes`,
    )
    this.before = before
    this.after = after
  }
}
