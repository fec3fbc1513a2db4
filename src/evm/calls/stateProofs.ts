import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import type { Deadline } from '../../lib/deadline.js'
import type { ChainReader } from '../../store/rows/types.js'
import type { StateReader } from '../../store/state/stateReader.js'
import { MissingTrieNode, MissingTrieNodes } from '../../trie/missingNodes.js'
import type { StateProof, StateRoot } from '../../trie/stateRoot.js'
import type { TouchedAccount } from '../../trie/touchedAccount.js'
import { StateUnavailable } from '../errors.js'
import type { PastTries } from '../state/pastTries.js'

/** An account with proofs of it and of slots (EIP-1186). For a missing account, fields are zero and hashes are those of
 *  empty data. */
export interface AccountProof extends StateProof {
  nonce: bigint
  balance: bigint
  codeHash: Uint8Array // 32
  /** False for a missing account. */
  exists: boolean
}

/** The account (20 bytes) and slots (32 bytes each) to prove. */
export interface ProofRequest {
  address: Uint8Array
  slots: readonly Uint8Array[]
}

/** Proves accounts of stored states. @throws StateUnavailable, PastTrieTooFar, DeadlineExceeded; with sparse state
 *  MissingTrieNodes */
export type ProveAccount = (request: ProofRequest, blockNumber: number, deadline: Deadline) => AccountProof

/** Hashes changes on top of stored states. @throws StateUnavailable, PastTrieTooFar, DeadlineExceeded */
export type HashStates = (
  changes: readonly (readonly TouchedAccount[])[],
  blockNumber: number,
  deadline: Deadline,
) => Uint8Array[]

/** Returns the state roots after consecutive changes. */
export function createStateHasher({ chain, tries }: { chain: ChainReader; tries: PastTries }): HashStates {
  return (changes, blockNumber, deadline) => {
    const block = chain.blockByNumber(blockNumber)
    if (block === undefined) throw new StateUnavailable(blockNumber)
    const trie = tries.after(block, deadline)
    try {
      return changes.map((touched) => {
        deadline.check()
        return trie.update(touched).slice()
      })
    } finally {
      trie.discard()
    }
  }
}

/** Creates proofs over stored blocks and states. */
export function createAccountProver(parts: {
  chain: ChainReader
  reader: StateReader
  tries: PastTries
}): ProveAccount {
  const { chain, reader, tries } = parts
  return ({ address, slots }, blockNumber, deadline) => {
    const block = chain.blockByNumber(blockNumber)
    if (block === undefined) throw new StateUnavailable(blockNumber)
    const trie = tries.after(block, deadline)
    deadline.check()
    const account = reader.account(address, blockNumber)?.account
    return {
      ...prove(trie, { address, slots }),
      exists: account !== undefined,
      nonce: account?.nonce ?? 0n,
      balance: account?.balance ?? 0n,
      codeHash: account?.codeId === undefined ? EMPTY_CODE_HASH : reader.codeHash(account.codeId),
    }
  }
}

/** @throws MissingTrieNodes, which names the keys, where a partial trie lacks a node */
function prove(trie: StateRoot, { address, slots }: ProofRequest): StateProof {
  try {
    return trie.prove(address, slots)
  } catch (error) {
    if (!(error instanceof MissingTrieNode)) throw error
    throw new MissingTrieNodes({ before: [{ address, slots }], after: [] })
  }
}
