import { keccak256 } from '../../chain/crypto.js'
import { unreachableNodes } from '../../chain/eth/proof.js'
import type { Block } from '../../chain/eth/types.js'
import type { StateKeySet } from '../../evm/state/sparseState.js'
import { totalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { StateBlock } from '../../sources/ethRpc/stateTypes.js'
import type { EthRpc } from '../../sources/ethRpc/types.js'
import type { StateKeys } from '../../trie/missingNodes.js'
import type { StateFigures } from './stateFigures.js'

/** How the state that a block needs is fetched. */
export type StateFetchMode = 'auto' | 'witness' | 'proofs'

/** What a block lacks before it can be executed and its state root computed. */
export interface Lacking {
  /** Accounts and slots before the block. */
  readonly before: StateKeySet
  /** Deleted accounts and slots, whose proofs after the block name the nodes that move up. */
  readonly after: StateKeySet
  /** Codes of accounts before the block. */
  readonly codes: readonly { readonly address: Uint8Array; readonly codeHash: Uint8Array }[]
  /** The hash of the code, one of `codes`, that was to be executed. */
  readonly executedCode?: Uint8Array
}

/** State that was fetched. Nothing but proved values is in `codes`; nodes are used by their computed hashes only. */
export interface FetchedBlockState {
  /** RLP of trie nodes before the block. */
  readonly nodes: readonly Uint8Array[]
  /** Hashes of nodes that are known to be branches (`NodeSet.markBranch`). */
  readonly branches?: readonly Uint8Array[]
  /** Proofs of deleted keys in the state after the block. */
  readonly after?: {
    readonly stateRoot: Uint8Array // 32
    readonly keys: readonly StateKeys[]
    /** RLP. */
    readonly nodes: readonly Uint8Array[]
  }
  readonly codes: readonly { readonly hash: Uint8Array; readonly bytes: Uint8Array }[]
}

/** Fetches the state that one block needs. */
export interface StateFetch {
  /** Fetches what is lacking. */
  fetch(lacking: Lacking): Promise<FetchedBlockState>
}

/** Where the state comes from that executing blocks needs and the database does not know. */
export interface StateSource {
  /** Begins to fetch for a block, whose parent's state is `parent`.
   *  @param isCodeKnown true for code that needs not be fetched */
  begin(block: Block, parent: StateBlock, isCodeKnown: (hash: Uint8Array) => boolean): StateFetch
  /** As `UpstreamState.accessList`. Absent: blocks come with their lists. */
  accessList?(block: Pick<Block, 'hash' | 'header'>): Promise<Uint8Array | undefined>
}

/** Fetches from upstreams, which must have the state of the block or its parent. */
export function createUpstreamSource(
  rpc: EthRpc,
  { mode = 'auto', ...options }: { mode?: StateFetchMode; signal?: AbortSignal; figures?: StateFigures } = {},
): StateSource {
  return {
    begin: (block, parent, isCodeKnown) => new BlockStateFetch(rpc, block, parent, { mode, ...options, isCodeKnown }),
    accessList: (block) => rpc.accessList(block, options.signal),
  }
}

interface StateSourceOptions {
  readonly mode: StateFetchMode
  readonly signal?: AbortSignal
  /** Counts what is fetched. */
  readonly figures?: StateFigures
  /** True for code that needs not be fetched. */
  isCodeKnown(hash: Uint8Array): boolean
}

// With fewer accounts and slots than this, proofs are smaller than the witness of a block.
const FEW_KEYS = 32
// Rounds of proofs after which a witness is asked for, which needs one.
const FEW_ROUNDS = 3

/** Fetches the state that one block needs: the witness of the block where that is less work, else proofs. */
class BlockStateFetch implements StateFetch {
  private readonly rpc: EthRpc
  private readonly block: Block
  private readonly parent: StateBlock
  private readonly options: StateSourceOptions
  private rounds = 0
  /** The witness was fetched; undefined: not tried; false: no upstream offers it. */
  private witness: { nodes: readonly Uint8Array[]; refuse(problem: string): void } | false | undefined

  constructor(rpc: EthRpc, block: Block, parent: StateBlock, options: StateSourceOptions) {
    this.rpc = rpc
    this.block = block
    this.parent = parent
    this.options = options
  }

  /** Fetches what is lacking.
   *  @throws StateNotAtUpstream, ChainReorganized, UpstreamError, the reason of the signal */
  async fetch(lacking: Lacking): Promise<FetchedBlockState> {
    const found = await this.fetchUncounted(lacking)
    const keys = [...lacking.before.list(), ...lacking.after.list()]
    this.options.figures?.fetched('block', {
      accounts: keys.length,
      slots: keys.reduce((sum, { slots }) => sum + slots.length, 0),
      bytes: totalBytes(
        found.nodes,
        found.after?.nodes ?? [],
        found.codes.map(({ bytes }) => bytes),
      ),
    })
    return found
  }

  private async fetchUncounted({ before, after, codes, executedCode }: Lacking): Promise<FetchedBlockState> {
    this.rounds++
    if (this.witness) this.refuseWrongWitness(before, executedCode)
    if (before.size > 0 && this.prefersWitness(before.size)) {
      const found = await this.fetchWitness()
      if (found) return found
    }
    const { block, parent } = this
    const nodes: Uint8Array[] = []
    const wanted = [...codes]
    for (const { address, account, nodes: proved } of await this.prove(before, parent)) {
      nodes.push(...proved)
      if (account && !this.options.isCodeKnown(account.codeHash)) wanted.push({ address, codeHash: account.codeHash })
    }
    const { hash, header } = block
    const target = { number: header.number, hash, stateRoot: header.stateRoot }
    const nodesAfter = (await this.prove(after, target)).flatMap((each) => each.nodes)
    return {
      nodes,
      after: after.size === 0 ? undefined : { stateRoot: header.stateRoot, keys: after.list(), nodes: nodesAfter },
      codes: await this.fetchCodes(wanted),
    }
  }

  /** Refuses a witness that lacks what execution needs and has what it does not: it was changed. One that is only
   *  incomplete is completed by proofs. */
  private refuseWrongWitness(before: StateKeySet, executedCode: Uint8Array | undefined): void {
    const { nodes, refuse } = this.witness as Exclude<typeof this.witness, false | undefined>
    const unknown = before.size === 0 ? 0 : unreachableNodes(nodes, this.parent.stateRoot)
    if (unknown > 0) refuse(`${unknown} nodes are not of the state before the block, and others are missing`)
    else if (executedCode) refuse(`code with the hash ${formatData(executedCode)} is missing`)
    else return
    this.witness = undefined
  }

  private prefersWitness(keys: number): boolean {
    const { mode } = this.options
    if (mode !== 'auto') return mode === 'witness' && this.witness === undefined
    return this.witness === undefined && (keys > FEW_KEYS || this.rounds > FEW_ROUNDS)
  }

  private async fetchWitness(): Promise<FetchedBlockState | undefined> {
    const { header, hash } = this.block
    const block = { number: header.number, hash, parentStateRoot: this.parent.stateRoot }
    const found = await this.rpc.executionWitness(block, this.options.signal)
    this.witness = found ?? false
    if (!found) return undefined
    return { nodes: found.nodes, codes: found.codes.map((bytes) => ({ hash: keccak256(bytes), bytes })) }
  }

  private async prove(keys: StateKeySet, block: { number: number; hash: Uint8Array; stateRoot: Uint8Array }) {
    if (keys.size === 0) return []
    const requests = keys.list()
    const proved = await this.rpc.proofs(requests, block, this.options.signal)
    return proved.map((each, i) => ({ ...each, address: requests[i].address }))
  }

  private async fetchCodes(wanted: Lacking['codes']): Promise<FetchedBlockState['codes']> {
    if (wanted.length === 0) return []
    const codes = await this.rpc.codes(wanted, this.parent, this.options.signal)
    return codes.map((bytes, i) => ({ hash: wanted[i].codeHash, bytes }))
  }
}
