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
import { rulesAt } from '../chain/eth/forks/rules.js'
import { type GenesisAccount, InvalidGenesis, parseGenesis } from '../chain/eth/genesis.js'
import { InvalidBlock } from '../chain/eth/invalidBlock.js'
import type { Block } from '../chain/eth/types.js'
import { equalBytes } from '../lib/bytes.js'
import { writing } from '../lib/durableFiles.js'
import { UsageError } from '../lib/errors.js'
import { formatData } from '../lib/hex.js'
import type { Logger } from '../lib/logger.js'
import type { Progress } from '../lib/progress.js'
import { callOptional, genesisMembers } from '../sources/ethRpc/developmentGenesis.js'
import { fetchBlocks, fetchHead, fetchHeader } from '../sources/ethRpc/fetchBlocks.js'
import { openChainRlp } from '../sources/files/chainRlp.js'
import { systemClock } from '../sources/upstreams/clock.js'
import { UpstreamLacksData } from '../sources/upstreams/errors.js'
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamAddress } from '../sources/upstreams/types.js'
import { Upstream } from '../sources/upstreams/upstream.js'
import { importFiles, readDirectoryChain } from '../sync/import/importFiles.js'
import { FIXTURE_MANIFEST, type FixtureManifest } from '../sync/import/recordedFixture.js'
import { requireSameHead } from './compareHead.js'
import { createBlockExecution } from './executeBlocks.js'
import { FetchedState } from './fetchedState.js'
import { persist, persistent } from './persist.js'
import { fetchConfig, fetchStart, findCompleteState, knownAccounts, omitsSystemCalls, type Start } from './start.js'
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
  const upstream = new Upstream(address, { limits, clock: systemClock, random: Math.random, log, suffix: '' })
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
  const rules = await persist(() => fetchConfig(upstream, start.header, options), signal)
  const block0 = start.number === 0 ? start : await persist(() => fetchHeader(upstream, 0, signal), signal)
  const members = genesisMembers((block0 ?? start).header)
  const chain = join(folder, 'chain.rlp')
  const hashes = await recordBlocks(chain, upstream, start, { ...options, to })
  const headHash = hashes.get(to)!
  const omits = to > start.number && (await persist(() => omitsSystemCalls(upstream, to, signal), signal))
  const config = omits ? { ...rules, development: true, omitsSystemCalls: true } : rules
  const fetcher = persistent(createStateFetcher(upstream, start.number, signal), signal)
  const complete = await persist(() => findCompleteState(upstream, start, options), signal)
  const client = await callOptional(upstream, 'web3_clientVersion', [], signal)
  const write = (accounts: readonly GenesisAccount[], verified: boolean): FixtureManifest => {
    const manifest: FixtureManifest = {
      format: 1,
      recordedWith: options.program,
      client: typeof client === 'string' ? upstream.redact(client) : 'unknown',
      chainId: String(readChainId(config)),
      blocks: { from: start.number === 0 ? 0 : from, to },
      headHash: formatData(headHash),
      verified,
      unchecked: verified ? [] : ['state root'],
      state: complete ? 'complete' : 'touched',
      ...(start.first && { first: start.first }),
    }
    writeJson(join(folder, 'genesis.json'), { config, ...members, alloc: formatAlloc(accounts) })
    writeJson(join(folder, FIXTURE_MANIFEST), manifest)
    return manifest
  }
  if (complete) {
    const manifest = write(complete, true)
    if (await importsVerified(folder, options)) return manifest
  }
  const accounts = complete ?? (await findTouchedState(chain, config, { start, hashes, fetcher, upstream }, options))
  const manifest = write(accounts, false)
  const after = persistent(createStateFetcher(upstream, to, signal), signal)
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

function readChainId(config: object): bigint {
  return parseGenesis({ config, gasLimit: 0 }).spec.chainId
}

/** Writes the blocks after `start`. @returns hashes by number, with that of `start` */
async function recordBlocks(
  path: string,
  upstream: Upstream,
  start: Start,
  { to, signal, startProgress }: RecordOptions & { to: number },
): Promise<Map<number, Uint8Array>> {
  const hashes = new Map([[start.number, start.hash]])
  if (to === start.number) return hashes
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
        writing(path, () => writeSync(file, encodeBlock(raw.block)))
      }
      progress.update(numbers[numbers.length - 1] - start.number)
    }
  } finally {
    closeSync(file)
  }
  progress.finish()
  return hashes
}

interface Recorded {
  readonly start: Start
  readonly hashes: ReadonlyMap<number, Uint8Array>
  readonly fetcher: StateFetcher
  readonly upstream: Upstream
}

/** Returns the accounts and slots after `start` that the recorded blocks read, and the accounts that the node names. */
async function findTouchedState(
  chain: string,
  config: object,
  { start, hashes, fetcher, upstream }: Recorded,
  options: RecordOptions,
): Promise<GenesisAccount[]> {
  const { signal, startProgress } = options
  const known = await persist(() => knownAccounts(upstream, start.number, options), signal)
  const state = new FetchedState(fetcher, known)
  const { spec } = parseGenesis({ config, gasLimit: 0 })
  if (!rulesAt(spec, start.number + 1, start.header.timestamp).eip658) {
    throw new UsageError(
      `block ${start.number + 1} is before Byzantium: its receipts have state roots, which need the whole state; record from ` +
        'block 0 on, with the genesis file (--genesis)',
    )
  }
  const blockHash = (number: number) => hashes.get(number)
  const execute = await createBlockExecution({ spec, state, blockHash, totalDifficulty: start.totalDifficulty })
  const progress = startProgress('state', 'blocks', hashes.size - 1)
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
  const chain = join(folder, 'chain.rlp')
  try {
    await importFiles({
      datadir,
      paths: existsSync(chain) ? [chain] : [],
      chain: readDirectoryChain({ genesis: join(folder, 'genesis.json'), manifest: join(folder, FIXTURE_MANIFEST) }),
      initsGenesis: true,
      stateMode: 'execute',
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
