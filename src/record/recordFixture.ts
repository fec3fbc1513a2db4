import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { encodeBlock } from '../chain/eth/block.js'
import { type ChainSpec, rulesAt } from '../chain/eth/forks/rules.js'
import {
  builtInSpec,
  type GenesisAccount,
  InvalidGenesis,
  type Network,
  parseGenesisSpec,
} from '../chain/eth/genesis.js'
import { InvalidBlock } from '../chain/eth/invalidBlock.js'
import type { Block } from '../chain/eth/types.js'
import { equalBytes, keyOfBytes } from '../lib/bytes.js'
import { writing } from '../lib/durableFiles.js'
import { messageOf, UsageError } from '../lib/errors.js'
import { formatData } from '../lib/hex.js'
import type { Logger } from '../lib/logger.js'
import type { Progress } from '../lib/progress.js'
import { callOptional, genesisMembers } from '../sources/ethRpc/developmentGenesis.js'
import { fetchBlocks, fetchHead, fetchHeader } from '../sources/ethRpc/fetchBlocks.js'
import { openChainRlp } from '../sources/files/chainRlp.js'
import { systemClock } from '../sources/upstreams/clock.js'
import {
  StateNotAtUpstream,
  UpstreamInvalidResponse,
  UpstreamLacksData,
  UpstreamRpcError,
} from '../sources/upstreams/errors.js'
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamAddress } from '../sources/upstreams/types.js'
import { Upstream } from '../sources/upstreams/upstream.js'
import { readImportDirectory } from '../sync/import/importDirectory.js'
import { importFiles, readDirectoryChain } from '../sync/import/importFiles.js'
import { FIXTURE_MANIFEST, type FixtureManifest } from '../sync/import/recordedFixture.js'
import { encodeRecordedState, RECORDED_STATE } from '../sync/sparse/recordedState.js'
import type { StateFetchMode } from '../sync/sparse/stateSource.js'
import { requireSameHead } from './compareHead.js'
import { createBlockExecution } from './executeBlocks.js'
import { FetchedState } from './fetchedState.js'
import { persist, persistent } from './persist.js'
import { recordProvedState } from './provedState.js'
import {
  fetchConfig,
  fetchOwnAccounts,
  fetchStart,
  findCompleteState,
  findNetwork,
  firstOf,
  knownAccounts,
  omitsSystemCalls,
  type Start,
} from './start.js'
import { createStateFetcher, formatAlloc, type StateFetcher } from './stateFetcher.js'

/** What to record, and where to. */
interface RecordOptions {
  readonly upstream: UpstreamAddress
  /** First and last block, both inclusive; undefined: the node's newest. */
  readonly from: number
  readonly to: number | undefined
  /** Directory to create. */
  readonly out: string
  /** The genesis file of the node, in geth's format: rules and, from block 0 on, accounts. Default: what the node
   *  reports. */
  readonly genesis?: unknown
  /** How the state that blocks need is fetched. */
  readonly stateFetch: StateFetchMode
  /** Name and version of this program. */
  readonly program: string
  readonly log: Logger
  startProgress(label: string, unit: string, total: number): Progress
  readonly signal?: AbortSignal
}

const MAX_BLOCKS = 100_000
const BATCH_BLOCKS = 64

/** Records a fixture directory of the blocks of a running node. The directory gets its name when an import of it has
 *  succeeded.
 *  @throws UsageError for a range or directory that cannot be used, and for what cannot be recorded; UpstreamError;
 *  InvalidBlock for a block that Cairn does not execute as the node did; the reason of `signal` */
export async function recordFixture(options: RecordOptions): Promise<FixtureManifest> {
  const { out, upstream: address, log } = options
  const limits = { ...DEFAULT_UPSTREAM_LIMITS }
  // The block hash of some families leaves out a part of the header.
  const spec = options.genesis === undefined ? undefined : parseGenesisSpec(options.genesis)
  const upstream = new Upstream(address, { limits, clock: systemClock, random: Math.random, log, spec, suffix: '' })
  requireNewDirectory(out)
  const folder = `${resolve(out)}.recording-${process.pid}`
  try {
    mkdirSync(folder, { recursive: true })
    const manifest = await recordInto(folder, upstream, options)
    requireNewDirectory(out)
    mkdirSync(dirname(resolve(out)), { recursive: true })
    renameSync(folder, resolve(out))
    return manifest
  } finally {
    upstream.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @throws UsageError for a path that exists, other than an empty directory */
function requireNewDirectory(path: string): void {
  if (existsSync(path) && readdirSync(path).length > 0) {
    throw new UsageError(`--out ${path}: is there already; remove it, or name another directory`)
  }
}

async function recordInto(folder: string, upstream: Upstream, options: RecordOptions): Promise<FixtureManifest> {
  const { signal, from } = options
  const to = await requireRange(upstream, options)
  const start = await persist(() => fetchStart(upstream, Math.max(0, from - 1), signal), signal)
  const block0 = start.number === 0 ? start : await persist(() => fetchHeader(upstream, 0, signal), signal)
  if (!block0) throw new UpstreamLacksData(upstream.name, 'block 0')
  const network = await persist(() => findNetwork(upstream, block0, options), signal)
  const rules = await persist(() => fetchConfig(upstream, { block0: block0.header, network }, options), signal)
  const { hashes, miners } = await recordBlocks(join(folder, 'chain.rlp'), upstream, start, { ...options, to })
  const mayOmit = to > start.number && parseGenesisSpec({ config: rules }).isDevelopment
  const omits = mayOmit && (await persist(() => omitsSystemCalls(upstream, to, signal), signal))
  const config = omits ? { ...rules, omitsSystemCalls: true } : rules
  const client = await callOptional(upstream, 'web3_clientVersion', [], signal)
  const recording: Recording = {
    ...{ folder, upstream, start, hashes, miners, options, network, block0 },
    genesis: { config, ...genesisMembers(block0.header) },
    facts: {
      recordedWith: options.program,
      client: typeof client === 'string' ? upstream.redact(client) : 'unknown',
      chainId: String(parseGenesisSpec({ config }).chainId),
      ...(network && { network }),
      blocks: { from: start.number === 0 ? 0 : from, to },
      headHash: formatData(hashes.get(to)!),
    },
  }
  return (
    (await recordCompleteState(recording)) ?? (await recordProved(recording)) ?? (await recordTouchedState(recording))
  )
}

/** The recorded blocks, whose state is to be recorded. */
interface Recording {
  readonly folder: string
  readonly upstream: Upstream
  readonly start: Start
  readonly block0: { readonly hash: Uint8Array }
  readonly network: Network | undefined
  /** Hashes of the recorded blocks and of `start`, by number. */
  readonly hashes: ReadonlyMap<number, Uint8Array>
  /** Of the recorded blocks and of `start`, each once. */
  readonly miners: readonly Uint8Array[]
  /** Without accounts. */
  readonly genesis: { readonly config: object }
  readonly facts: Pick<FixtureManifest, 'recordedWith' | 'client' | 'chainId' | 'network' | 'blocks' | 'headHash'>
  readonly options: RecordOptions
}

/** Writes genesis and manifest. @returns the manifest */
function writeManifest(
  { folder, genesis, facts }: Recording,
  accounts: readonly GenesisAccount[],
  state: Pick<FixtureManifest, 'format' | 'verified' | 'state' | 'first'>,
): FixtureManifest {
  const { format, first, ...rest } = state
  const unchecked = state.verified ? [] : ['state root']
  const manifest = { format, ...facts, ...rest, unchecked, ...(first && { first }) }
  writeJson(join(folder, 'genesis.json'), { ...genesis, alloc: formatAlloc(accounts) })
  writeJson(join(folder, FIXTURE_MANIFEST), manifest)
  return manifest
}

/** Records all accounts, where a source has them. Undefined where none has, or an import with them has other state
 *  roots than the node. */
async function recordCompleteState(recording: Recording): Promise<FixtureManifest | undefined> {
  const { upstream, start, options } = recording
  const { first } = start
  const accounts = await persist(() => findCompleteState(upstream, start, options), options.signal)
  if (!accounts) return undefined
  const manifest = writeManifest(recording, accounts, { format: 1, verified: true, state: 'complete', first })
  return (await importsVerified(recording.folder, options)) ? manifest : undefined
}

/** Records what the blocks need of the state before them, proved. Undefined for a development node whose roots are not
 *  those of its accounts, or that does not prove them. @throws as `recordProvedState` */
async function recordProved(recording: Recording): Promise<FixtureManifest | undefined> {
  const { folder, upstream, start, block0, network, genesis, options, facts } = recording
  const { signal, log, stateFetch: mode, startProgress } = options
  const spec = network === undefined ? parseGenesisSpec(genesis) : builtInSpec(network)
  requireByzantium(spec, start)
  const first = firstOf(start)
  const chainFile = facts.blocks.to > start.number ? join(folder, 'chain.rlp') : undefined
  const chain = { recording: { verified: true, first } }
  const source = network === undefined ? { genesis: { ...genesis, alloc: {} }, ...chain } : { network, ...chain }
  const own = await persist(() => fetchOwnAccounts(upstream, signal), signal)
  const progress = startProgress('state', 'blocks', facts.blocks.to - start.number)
  const statePath = join(folder, RECORDED_STATE)
  try {
    const proved = await recordProvedState({
      ...{ upstream: options.upstream, source, spec, genesisHash: block0.hash },
      ...{ start, named: [...recording.miners, ...own], chainFile, mode, log, progress, signal },
    })
    progress.finish()
    writing(statePath, () => writeFileSync(statePath, encodeRecordedState(proved)))
    const manifest = writeManifest(recording, [], { format: 2, verified: true, state: 'proved', first })
    await importInto(folder, options)
    return manifest
  } catch (error) {
    if (!spec.isDevelopment || !isWithoutProofs(error)) throw error
    log.info({ upstream: upstream.name, reason: messageOf(error) }, 'the node does not prove its state')
    rmSync(statePath, { force: true })
    return undefined
  }
}

/** True for failures that a development node has whose state roots are not those of its accounts. */
function isWithoutProofs(error: unknown): boolean {
  if (error instanceof InvalidBlock) return error.check === 'state root'
  const cause = error instanceof UsageError ? error.cause : error
  return (
    cause instanceof UpstreamInvalidResponse || cause instanceof UpstreamRpcError || cause instanceof StateNotAtUpstream
  )
}

/** Records the accounts and slots that the blocks of a development node read, and those that the node names, as it
 *  reports them. */
async function recordTouchedState(recording: Recording): Promise<FixtureManifest> {
  const { upstream, folder, start, options, facts } = recording
  const { signal } = options
  const fetcher = persistent(createStateFetcher(upstream, start.number, signal), signal)
  const complete = await persist(() => findCompleteState(upstream, start, options), signal)
  const accounts = complete ?? (await findTouchedState(recording, fetcher))
  const state = complete ? 'complete' : 'touched'
  const { first } = start
  const manifest = writeManifest(recording, accounts, { format: 1, verified: false, state, first })
  const after = persistent(createStateFetcher(upstream, facts.blocks.to, signal), signal)
  await importInto(folder, options, (datadir) => requireSameHead(datadir, after, start.number))
  return manifest
}

/** Returns the number of the last block. @throws UsageError for a range that the node does not have */
async function requireRange(upstream: Upstream, { from, to, signal }: RecordOptions): Promise<number> {
  const head = (await persist(() => fetchHead(upstream, signal), signal)).header.number
  const last = to ?? head
  if (last > head) throw new UsageError(`--blocks: the newest block of ${upstream.name} is ${head}, asked for ${last}`)
  if (from > last) throw new UsageError(`--blocks: block ${from} is after block ${last}`)
  if (last - from >= MAX_BLOCKS)
    throw new UsageError(`--blocks: at most ${MAX_BLOCKS} blocks, asked for ${last - from + 1}`)
  return last
}

/** Writes the blocks after `start`. @returns hashes by number and the miners, with those of `start` */
async function recordBlocks(
  path: string,
  upstream: Upstream,
  start: Start,
  { to, signal, startProgress }: RecordOptions & { to: number },
): Promise<{ hashes: Map<number, Uint8Array>; miners: Uint8Array[] }> {
  const hashes = new Map([[start.number, start.hash]])
  const miners = new Map([[keyOfBytes(start.header.miner), start.header.miner]])
  if (to === start.number) return { hashes, miners: [...miners.values()] }
  const progress = startProgress('blocks', 'blocks', to - start.number)
  const file = openSync(path, 'wx')
  try {
    for (let at = start.number + 1; at <= to; at += BATCH_BLOCKS) {
      const numbers = Array.from({ length: Math.min(BATCH_BLOCKS, to - at + 1) }, (_, i) => at + i)
      const raws = await persist(() => fetchBlocks(upstream, numbers, { withReceipts: false, signal }), signal)
      for (const [i, raw] of raws.entries()) {
        if (!raw) throw new UpstreamLacksData(upstream.name, `block ${numbers[i]}`)
        const { header, hash } = raw.block
        if (!equalBytes(header.parentHash, hashes.get(header.number - 1)!)) {
          throw new UsageError(
            `${upstream.name}: the chain changed at block ${header.number} meanwhile; record it again`,
          )
        }
        hashes.set(header.number, hash)
        miners.set(keyOfBytes(header.miner), header.miner)
        writing(path, () => writeSync(file, encodeBlock(raw.block)))
      }
      progress.update(numbers[numbers.length - 1] - start.number)
    }
  } finally {
    closeSync(file)
  }
  progress.finish()
  return { hashes, miners: [...miners.values()] }
}

/** Returns the accounts and slots after `start` that the recorded blocks read, and the accounts that the node names. */
async function findTouchedState(
  { folder, upstream, start, hashes, genesis, options }: Recording,
  fetcher: StateFetcher,
): Promise<GenesisAccount[]> {
  const { signal, startProgress } = options
  const known = await persist(() => knownAccounts(upstream, start.number, options), signal)
  const state = new FetchedState(fetcher, known)
  const blockHash = (number: number) => hashes.get(number)
  const spec = parseGenesisSpec(genesis)
  const execute = await createBlockExecution({ spec, state, blockHash, totalDifficulty: start.totalDifficulty })
  const progress = startProgress('state', 'blocks', hashes.size - 1)
  const chain = join(folder, 'chain.rlp')
  if (existsSync(chain)) {
    let done = 0
    for await (const { block } of openChainRlp(chain).blocks()) {
      signal?.throwIfAborted()
      await executeOrExplain(execute, block)
      progress.update(++done)
    }
  }
  progress.finish()
  return state.accounts()
}

/** @throws UsageError when the first recorded block is before Byzantium */
function requireByzantium(spec: ChainSpec, { number, header }: Start): void {
  if (rulesAt(spec, number + 1, header.timestamp).eip658) return
  throw new UsageError(
    `block ${number + 1} is before Byzantium: its receipts have state roots, which need the whole state; record from ` +
      'block 0 on, with the genesis file (--genesis)',
  )
}

async function executeOrExplain(execute: (block: Block) => Promise<void>, block: Block): Promise<void> {
  try {
    await execute(block)
  } catch (cause) {
    if (cause instanceof UsageError || !(cause instanceof Error)) throw cause
    const { hash: blockHash, header } = block
    throw new InvalidBlock({ blockNumber: header.number, blockHash, check: 'execution', detail: cause.message, cause })
  }
}

/** False if a state root differs: the node's roots are not those of its accounts. @throws InvalidBlock for any other
 *  check */
async function importsVerified(folder: string, options: RecordOptions): Promise<boolean> {
  try {
    await importInto(folder, options)
    return true
  } catch (error) {
    if (error instanceof InvalidGenesis || (error instanceof InvalidBlock && error.check === 'state root')) return false
    throw error
  }
}

/** Imports the recording into a temporary database, as its users will. */
async function importInto(
  folder: string,
  { log, signal }: RecordOptions,
  then?: (datadir: string) => Promise<void>,
): Promise<void> {
  const datadir = mkdtempSync(join(tmpdir(), 'cairn-record-'))
  const { genesis, paths, ...recorded } = readImportDirectory(folder)
  try {
    await importFiles({
      ...{ datadir, paths: [...paths], recordedState: recorded.recordedState },
      chain: readDirectoryChain({ genesis: genesis!, ...recorded }),
      initsGenesis: true,
      stateMode: recorded.recordedState === undefined ? 'execute' : 'sparse',
      log,
      showProgress: false,
      signal,
    })
    signal?.throwIfAborted()
    await then?.(datadir)
  } finally {
    rmSync(datadir, { recursive: true, force: true })
  }
}

function writeJson(path: string, value: unknown): void {
  writing(path, () => writeFileSync(path, `${JSON.stringify(value, null, 1)}\n`))
}
