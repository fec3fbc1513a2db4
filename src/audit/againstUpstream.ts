import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import { equalBytes, padLeft } from '../lib/bytes.js'
import { UsageError } from '../lib/errors.js'
import { formatData } from '../lib/hex.js'
import { silentLogger } from '../lib/logger.js'
import { openEthRpc } from '../sources/ethRpc/ethRpc.js'
import type { ProvedKeys, StateBlock } from '../sources/ethRpc/stateTypes.js'
import type { EthRpc } from '../sources/ethRpc/types.js'
import { systemClock } from '../sources/upstreams/clock.js'
import { StateNotAtUpstream } from '../sources/upstreams/errors.js'
import type { UpstreamAddress } from '../sources/upstreams/types.js'
import type { Database } from '../store/database.js'
import { createMetaTable, META_STATE_MODE } from '../store/meta.js'
import { openForReading } from '../store/open.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { readChainSource, specOfSource } from '../store/rows/chainSource.js'
import { readBaseKeys } from '../store/state/baseRows.js'
import { readStateFirst } from '../store/state/sparseState.js'
import { createStateReader, type StateReader } from '../store/state/stateReader.js'
import { hashGenesisBlock } from '../sync/genesisBlock.js'
import { FetchRate } from '../sync/sparse/fetchRate.js'
import { groupKeys } from '../sync/sparse/keyGroups.js'
import type { StateKeys } from '../trie/missingNodes.js'
import { atPlace, DatabaseFault } from './fault.js'

interface UpstreamAuditOptions {
  readonly upstream: UpstreamAddress
  /** Accounts and slots to prove, chosen by `seed`; undefined: all. */
  readonly sample?: number
  readonly seed: number
  /** Accounts and slots a second. */
  readonly keysPerSecond: number
  /** Receives each difference after the first one, at most 20. */
  report(line: string): void
  onProgress?(keys: number): void
  readonly signal: AbortSignal
}

/** Summary of base rows that were proved. */
export interface UpstreamAudit {
  readonly accounts: number
  readonly slots: number
  /** The newest block whose state was compared. */
  readonly blockNumber: number
}

/** A value that differs from the proved one. */
interface Difference {
  readonly table: 'account_history' | 'storage_history'
  readonly key: string
  readonly field: string
  readonly expected: unknown
  readonly found: unknown
}

const HISTORY = { table: 'account_history and storage_history' }
const MAX_FAILURES = 5
const MAX_REPORTED = 20
// The head may move while its state is proved.
const ATTEMPTS = 4

/** Proves keys of a database with sparse state at its newest block again, and compares the proved values with those
 *  that the database has there: a wrong base row of a key that no block changed is found in no other way.
 *  @throws DatabaseFault for the first difference, once all keys were compared; UsageError for a database without
 *  sparse state and an upstream without the state of its newest block; UpstreamError; WrongChain */
export async function auditAgainstUpstream(datadir: string, options: UpstreamAuditOptions): Promise<UpstreamAudit> {
  const db = openForReading(datadir)
  try {
    const first = requireSparse(db)
    const source = readChainSource(db)!
    const spec = specOfSource(source)
    const { chainId } = spec
    const genesisHash = createChainReader(db).blockHash(0) ?? hashGenesisBlock(source)
    const { upstream } = options
    const rpc = openEthRpc({
      upstreams: [upstream],
      ...{ chainId, spec, genesisHash },
      log: silentLogger,
      maxFailures: MAX_FAILURES,
    })
    try {
      await rpc.start(options.signal)
      return await compareAll(db, rpc, { ...options, first })
    } finally {
      rpc.close()
    }
  } finally {
    db.close()
  }
}

/** Returns the first block with state of the newest interval. */
function requireSparse(db: Database): number {
  const mode = createMetaTable(db).get<string>(META_STATE_MODE)
  if (mode !== 'sparse') {
    throw new UsageError(
      `--against-upstream proves base rows of sparse state, and the database has --state ${mode ?? 'execute'}; ` +
        '--state-history verifies the rows of a complete one without an upstream',
    )
  }
  const first = readStateFirst(db)
  if (first !== undefined) return first
  throw new UsageError(
    '--against-upstream: the newest blocks are stored without state; follow the chain until it begins again',
  )
}

async function compareAll(
  db: Database,
  rpc: EthRpc,
  options: UpstreamAuditOptions & { first: number },
): Promise<UpstreamAudit> {
  const { first, sample, seed, keysPerSecond, onProgress, report, signal } = options
  const all = readBaseKeys(db, first)
  const keys = sample === undefined ? all : sampleKeys(all, sample, seed)
  const rate = new FetchRate(keysPerSecond, systemClock)
  const differences: Difference[] = []
  const done = { accounts: 0, slots: 0, blockNumber: first }
  for (const batch of groupKeys(keys)) {
    const slots = batch.reduce((sum, each) => sum + each.slots.length, 0)
    await rate.take(batch.length + slots, signal)
    const found = await compareBatch(db, rpc, batch, signal)
    differences.push(...found.differences)
    done.blockNumber = found.blockNumber
    done.accounts += batch.length
    done.slots += slots
    onProgress?.(done.accounts + done.slots)
  }
  const [worst, ...others] = differences
  if (worst === undefined) return done
  for (const { key, field, expected, found } of others.slice(0, MAX_REPORTED)) {
    report(`${key}: ${field}: the upstream proves ${show(expected)}, the database has ${show(found)}`)
  }
  if (others.length > MAX_REPORTED) report(`${others.length - MAX_REPORTED} more differ`)
  const { table, key: row, field, expected, found } = worst
  throw new DatabaseFault({ table, row }, { field, expected: show(expected), found: show(found) })
}

/** Compares keys in the state of the newest block, and again if that moved. */
async function compareBatch(
  db: Database,
  rpc: EthRpc,
  batch: readonly StateKeys[],
  signal: AbortSignal,
): Promise<{ differences: Difference[]; blockNumber: number }> {
  const chain = createChainReader(db)
  for (let attempt = 1; ; attempt++) {
    const { hash, header } = chain.blockByNumber(chain.head()!)!
    const block = { number: header.number, hash, stateRoot: header.stateRoot }
    const isCurrent = () => equalBytes(chain.blockHash(block.number) ?? new Uint8Array(), hash)
    try {
      const proved = await rpc.proofs(batch, block, signal)
      const differences = proved.flatMap((each) =>
        atPlace({ ...HISTORY, row: `account ${formatData(each.address)}` }, () =>
          compareKeys(createStateReader(db), each, block),
        ),
      )
      if (isCurrent() || attempt === ATTEMPTS) return { differences, blockNumber: block.number }
    } catch (error) {
      if (!(error instanceof StateNotAtUpstream)) throw error
      const hasMoved = chain.head() !== block.number || !isCurrent()
      if (!hasMoved || attempt === ATTEMPTS) throw explain(error)
    }
  }
}

function explain(error: StateNotAtUpstream): UsageError {
  return new UsageError(
    `${error.message}; a full node has the states of its newest 128 blocks: follow the chain up to its head first ` +
      '(cairn serve --upstream), or name an archive node',
    { cause: error },
  )
}

function compareKeys(reader: StateReader, proved: ProvedKeys, { number }: StateBlock): Difference[] {
  const { address, slots, account, values } = proved
  const differences: Difference[] = []
  const name = `account ${formatData(address)}`
  const compare = (kind: 'account' | 'storage', key: string, field: string, expected: unknown, found: unknown) => {
    const isEqual =
      expected instanceof Uint8Array ? equalBytes(expected, found as Uint8Array) : expected === (found as unknown)
    const table = `${kind}_history` as const
    if (!isEqual) differences.push({ table, key, field: `${field} at block ${number}`, expected, found })
  }
  const record = reader.account(address, number)
  const own = record?.account
  compare('account', name, 'existence', account !== undefined, own !== undefined)
  if (account && own) {
    compare('account', name, 'nonce', account.nonce, own.nonce)
    compare('account', name, 'balance', account.balance, own.balance)
    const codeHash = own.codeId === undefined ? EMPTY_CODE_HASH : reader.codeHash(own.codeId)
    compare('account', name, 'code hash', account.codeHash, codeHash)
  }
  for (const [i, slot] of slots.entries()) {
    const value = own ? reader.storage(own.addressId, own.incarnation, slot, number) : new Uint8Array()
    const key = `slot ${formatData(slot)} of ${name}`
    compare('storage', key, 'value', padLeft(values[i], 32), padLeft(value, 32))
  }
  return differences
}

function show(value: unknown): string {
  return value instanceof Uint8Array ? formatData(value) : String(value)
}

/** Chooses `count` accounts and slots, each as likely as any other (algorithm R), in the order of the accounts. */
export function sampleKeys(keys: Iterable<StateKeys>, count: number, seed: number): StateKeys[] {
  const next = createRandom(seed)
  const chosen: { address: Uint8Array; slot?: Uint8Array; at: number }[] = []
  let seen = 0
  for (const { address, slots } of keys) {
    for (const slot of [undefined, ...slots]) {
      const place = seen < count ? seen : Math.floor(next() * (seen + 1))
      if (place < count) chosen[place] = { address, slot, at: seen }
      seen++
    }
  }
  const byAccount = new Map<Uint8Array, Uint8Array[]>()
  for (const { address, slot } of chosen.sort((a, b) => a.at - b.at)) {
    const slots = byAccount.get(address) ?? []
    byAccount.set(address, slots)
    if (slot !== undefined) slots.push(slot)
  }
  return Array.from(byAccount, ([address, slots]) => ({ address, slots }))
}

/** Numbers in [0, 1) that the seed determines (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
