import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keccak256 } from '../chain/crypto.js'
import type { ChainSpec } from '../chain/eth/forks/rules.js'
import { encodeHeader } from '../chain/eth/header.js'
import { reachableNodes } from '../chain/eth/proof.js'
import { StateKeySet } from '../evm/state/sparseState.js'
import { SYSTEM_ADDRESS } from '../evm/transition/system.js'
import { keyOfBytes } from '../lib/bytes.js'
import { CairnError, UsageError } from '../lib/errors.js'
import type { Logger } from '../lib/logger.js'
import type { Progress } from '../lib/progress.js'
import { openEthRpc } from '../sources/ethRpc/ethRpc.js'
import type { EthRpc } from '../sources/ethRpc/types.js'
import { openChainRlp } from '../sources/files/chainRlp.js'
import { StateNotAtUpstream } from '../sources/upstreams/errors.js'
import type { UpstreamAddress } from '../sources/upstreams/types.js'
import type { Database } from '../store/database.js'
import { openForWriting } from '../store/openForWriting.js'
import type { ChainSource } from '../store/rows/chainSource.js'
import { readBaseKeys } from '../store/state/baseRows.js'
import { isStateKnown } from '../store/state/missingState.js'
import { createStateReader } from '../store/state/stateReader.js'
import { openWritableChain } from '../sync/chainState.js'
import { importBlocks } from '../sync/pipeline.js'
import { fetchAncestors } from '../sync/sparse/ancestorHashes.js'
import { MAX_RECORDED_BYTES, MAX_RECORDED_ITEMS, type RecordedState } from '../sync/sparse/recordedState.js'
import {
  createUpstreamSource,
  type FetchedBlockState,
  type StateFetchMode,
  type StateSource,
} from '../sync/sparse/stateSource.js'
import { addDeletionHints } from '../trie/deletionHints.js'
import type { StateKeys } from '../trie/missingNodes.js'
import { NodeSet } from '../trie/nodeSet.js'
import type { Start } from './start.js'

/** The blocks need more state than a recording may have. */
export class TooMuchProvedState extends CairnError {
  constructor(limit: string) {
    super(`the state that the blocks need exceeds ${limit}; record fewer blocks`)
  }
}

export interface ProvedStateOptions {
  readonly upstream: UpstreamAddress
  /** The chain, with the recording of its first block. */
  readonly source: ChainSource
  readonly spec: ChainSpec
  /** Hash of block 0: 32 bytes. */
  readonly genesisHash: Uint8Array
  readonly start: Start
  /** Accounts that are recorded although blocks may not read them: miners, and those that the node names. */
  readonly named: readonly Uint8Array[]
  /** The file of the recorded blocks; undefined when there are none. */
  readonly chainFile: string | undefined
  readonly mode: StateFetchMode
  readonly log: Logger
  readonly progress: Progress
  readonly signal?: AbortSignal
}

// What eth_call names where its caller does not.
const DEFAULT_SENDER = new Uint8Array(20)

// Of one request, with pauses in between.
const MAX_FAILURES = 5

/** Executes the recorded blocks on the state after `start` whose root alone is known at first. What they
 *  need is fetched by witnesses or proofs and verified, and the root of each block is compared.
 *  @returns what they needed of that state
 *  @throws UsageError when the node lacks a state; UpstreamInvalidResponse that names a wrong member; UpstreamError;
 *  InvalidBlock; TooMuchProvedState; the reason of the signal */
export async function recordProvedState(options: ProvedStateOptions): Promise<RecordedState> {
  const { upstream, spec, genesisHash, log } = options
  const { chainId } = spec
  const rpc = openEthRpc({ upstreams: [upstream], chainId, spec, genesisHash, log, maxFailures: MAX_FAILURES })
  const datadir = mkdtempSync(join(tmpdir(), 'cairn-record-'))
  try {
    return await executeProved(rpc, datadir, options)
  } catch (error) {
    throw explainMissingState(error)
  } finally {
    rpc.close()
    rmSync(datadir, { recursive: true, force: true })
  }
}

/** @returns the error, with what would work where the node lacks a state */
function explainMissingState(error: unknown): unknown {
  if (!(error instanceof StateNotAtUpstream)) return error
  return new UsageError(
    `${error.message}; a full node has the states of its newest 128 blocks: record some of these at once, or from an archive ` +
      'node (geth: --gcmode archive; reth: --rpc.eth-proof-window with a number of blocks)',
    { cause: error },
  )
}

async function executeProved(rpc: EthRpc, datadir: string, options: ProvedStateOptions): Promise<RecordedState> {
  const { source, start, chainFile, mode, progress, signal } = options
  await rpc.start(signal)
  const ancestors = (await fetchAncestors(rpc, start.header, signal)).map(({ header }) => encodeHeader(header))
  const db = openForWriting(datadir)
  try {
    const recordedState = { ancestors, keys: [], nodes: [], branches: [], codes: [] }
    // With the address index, which reads more than executing alone: databases with and without it import the result.
    const chain = await openWritableChain(db, source, 'sparse', { recordedState, signal })
    const collected = new CollectedNodes()
    const named = await proveNamed(rpc, options)
    collected.add(named)
    chain.sparse!.connect(collected.from(createUpstreamSource(rpc, { mode, signal })))
    if (chainFile !== undefined) {
      const update = ({ blocks }: { blocks: number }) => progress.update(blocks)
      await importBlocks(chain, openChainRlp(chainFile), { progress: { update }, signal, finishIndexes: false })
      signal?.throwIfAborted()
    }
    const keys = new StateKeySet()
    for (const each of [...named.keys, ...readBaseKeys(db, start.number)]) keys.addKeys(each)
    const codes = readCodes(db, { keys: keys.list(), at: start.number }, named.codes)
    const needed = { ancestors, keys: keys.list(), codes, ...collected.ofState(start.header.stateRoot) }
    requireSize(needed)
    return needed
  } finally {
    db.close()
  }
}

/** Proves accounts that calls and traces read although blocks may not: the default sender, the caller of system
 *  contracts, and those of `named`. Nothing where the node has no proofs of that state. @throws UpstreamError */
async function proveNamed(
  rpc: EthRpc,
  { start, named, signal }: ProvedStateOptions,
): Promise<{ keys: StateKeys[]; nodes: Uint8Array[]; codes: Uint8Array[] }> {
  const { number, hash, header } = start
  const block = { number, hash, stateRoot: header.stateRoot }
  const keys = [DEFAULT_SENDER, SYSTEM_ADDRESS, ...named].map((address) => ({ address, slots: [] }))
  try {
    const proved = await rpc.proofs(keys, block, signal)
    const requests = proved.flatMap(({ address, account }) =>
      account ? [{ address, codeHash: account.codeHash }] : [],
    )
    const codes = await rpc.codes(requests, block, signal)
    return { keys, nodes: proved.flatMap((each) => each.nodes), codes: codes.filter(({ length }) => length > 0) }
  } catch (error) {
    if (!(error instanceof StateNotAtUpstream)) throw error
    return { keys: [], nodes: [], codes: [] }
  }
}

/** Reads the codes of accounts after the first block, each once. @param known codes that need not be stored */
function readCodes(
  db: Database,
  { keys, at }: { keys: readonly StateKeys[]; at: number },
  known: readonly Uint8Array[],
): Uint8Array[] {
  const reader = createStateReader(db)
  const codes = new Map(known.map((bytes) => [keyOfBytes(keccak256(bytes)), bytes]))
  for (const { address } of keys) {
    if (!isStateKnown(() => reader.account(address, at))) continue
    const codeId = reader.account(address, at)?.account?.codeId
    if (codeId !== undefined) codes.set(keyOfBytes(reader.codeHash(codeId)), reader.code(codeId))
  }
  return [...codes.values()]
}

/** Collects the nodes that were fetched for blocks. */
class CollectedNodes {
  private readonly nodes = new NodeSet()

  /** Returns a source that collects what it fetches. */
  from(source: StateSource): StateSource {
    return {
      begin: (...block) => {
        const inner = source.begin(...block)
        return {
          fetch: async (lacking) => {
            const found = await inner.fetch(lacking)
            this.add(found)
            return found
          },
        }
      },
    }
  }

  add({ nodes, after }: Pick<FetchedBlockState, 'nodes' | 'after'>): void {
    for (const node of nodes) this.nodes.add(node)
    if (after) {
      const nodesAfter = new NodeSet()
      for (const node of after.nodes) nodesAfter.add(node)
      addDeletionHints(this.nodes, { ...after, nodes: nodesAfter })
    }
    if (this.nodes.sizeBytes > MAX_RECORDED_BYTES) throw new TooMuchProvedState('1 GiB')
  }

  /** Returns those of the state with that root. Blocks replace nodes on the paths of what they change alone: each other
   *  node that a later block needs is one of the first state, too. */
  ofState(stateRoot: Uint8Array): Pick<RecordedState, 'nodes' | 'branches'> {
    const nodes = reachableNodes(this.nodes.list(), stateRoot)
    const branches = this.nodes.branches().filter((hash) => this.nodes.get(hash) === undefined)
    return { nodes, branches }
  }
}

function requireSize({ keys, nodes, codes }: RecordedState): void {
  const items = keys.reduce((sum, { slots }) => sum + 4 + slots.length, nodes.length + codes.length)
  if (items > MAX_RECORDED_ITEMS / 2) {
    throw new TooMuchProvedState(`${MAX_RECORDED_ITEMS / 2} accounts, slots and trie nodes`)
  }
}
