import type { ProvedAccount } from '../../chain/eth/proof.js'
import type { Block } from '../../chain/eth/types.js'
import type { StateKeys } from '../../trie/missingNodes.js'

/** The block whose state, after it, is asked for. */
export interface StateBlock {
  readonly number: number
  readonly hash: Uint8Array // 32
  readonly stateRoot: Uint8Array // 32
}

/** An account and slots, verified against the state root of the block. */
export interface ProvedKeys extends StateKeys {
  /** Undefined when the account does not exist. */
  readonly account?: ProvedAccount
  /** Values in the order of the slots, without leading zeros. */
  readonly values: readonly Uint8Array[]
  /** RLP of the nodes of all proofs; some more than once, mostly as the same array. */
  readonly nodes: readonly Uint8Array[]
}

/** The code that a proved account has. */
export interface CodeRequest {
  readonly address: Uint8Array // 20
  readonly codeHash: Uint8Array // 32
}

/** The block whose execution needs a witness. */
export interface WitnessBlock {
  readonly number: number
  readonly hash: Uint8Array // 32
  /** Root of the state that the block is executed on. */
  readonly parentStateRoot: Uint8Array // 32
}

/** What executes a block, of one upstream. Only the node of the parent's state root was looked for: whoever uses nodes
 *  and codes finds them by their recomputed hashes. */
export interface ExecutionWitness {
  /** RLP of nodes of the tries of the parent's state. */
  readonly nodes: readonly Uint8Array[]
  readonly codes: readonly Uint8Array[]
  /** Redacted URL. */
  readonly upstream: string
  /** Quarantines the upstream: the witness has a node that is not of the parent's state. */
  refuse(problem: string): void
}

/** What the upstreams offer for fetching state. */
export interface StateSupport {
  /** One has `debug_executionWitness`. */
  readonly witness: boolean
  /** One has `eth_getProof` for blocks below its head. */
  readonly proofs: boolean
  /** What is possible, in one sentence; undefined when both are. */
  readonly reason?: string
}

/** State of recent blocks, fetched from the upstreams and verified. All methods ask the healthiest upstream, and
 *  another one when it fails, lacks the state or the method, or sends something that fails a check. */
export interface UpstreamState {
  /** Returns accounts and slots with their proofs, in the order of the requests. Large requests are split; parts may
   *  come from several upstreams.
   *  @throws StateNotAtUpstream when no upstream that could be asked has the state of the block or `eth_getProof` */
  proofs(requests: readonly StateKeys[], block: StateBlock, signal?: AbortSignal): Promise<ProvedKeys[]>
  /** Returns codes in the order of the requests, each with the Keccak-256 that was asked for.
   *  @throws StateNotAtUpstream as `proofs` */
  codes(
    requests: readonly CodeRequest[],
    block: Pick<StateBlock, 'number' | 'hash'>,
    signal?: AbortSignal,
  ): Promise<Uint8Array[]>
  /** Returns what an upstream says are the codes of accounts, unverified, of the first 64 addresses at most: fewer or
   *  none when it fails. Asked beside the proofs of accounts, they save a round trip. */
  codeHints(
    addresses: readonly Uint8Array[],
    block: Pick<StateBlock, 'number' | 'hash'>,
    signal?: AbortSignal,
  ): Promise<Uint8Array[]>
  /** Returns the witness of a block; undefined when no upstream that could be asked makes one of it. */
  executionWitness(block: WitnessBlock, signal?: AbortSignal): Promise<ExecutionWitness | undefined>
  /** Returns what an upstream says that a call accesses on the state after the block, unverified, at most 4,096
   *  addresses and slots. Undefined when it does not answer within two seconds, fails, or lacks the method.
   *  @param call the call object of `eth_call` */
  accessListHint(
    call: object,
    block: Pick<StateBlock, 'number' | 'hash'>,
    signal?: AbortSignal,
  ): Promise<StateKeys[] | undefined>
  /** Returns what an upstream says that a block accesses (EIP-7928), unverified. Undefined as for `accessListHint`, and
   *  before Amsterdam. */
  blockAccessList(block: Pick<StateBlock, 'number' | 'hash'>, signal?: AbortSignal): Promise<StateKeys[] | undefined>
  /** Returns the access list of a block (EIP-7928) as RLP with the hash of its header; undefined before Amsterdam, and
   *  when no upstream that could be asked has it. */
  accessList(block: Pick<Block, 'hash' | 'header'>, signal?: AbortSignal): Promise<Uint8Array | undefined>
  /** Asks every upstream what it offers, for the parent of its head. */
  probeState(signal?: AbortSignal): Promise<StateSupport>
}
