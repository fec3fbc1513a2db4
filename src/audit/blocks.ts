import { keccak256 } from '../chain/crypto.js'
import { encodeBlock } from '../chain/eth/block.js'
import { createBloomMaker } from '../chain/eth/bloom.js'
import { familyOf } from '../chain/eth/families/families.js'
import { type ChainSpec, rulesAt } from '../chain/eth/forks/rules.js'
import type { Genesis } from '../chain/eth/genesis.js'
import { decodeHeader, encodeHeader } from '../chain/eth/header.js'
import { appearancesIn } from '../chain/eth/transactionAddresses.js'
import type { Block, Header, Receipt } from '../chain/eth/types.js'
import { verifyReceipts } from '../chain/eth/verifyRoots.js'
import { equalBytes } from '../lib/bytes.js'
import type { Database } from '../store/database.js'
import { decodeAppearances, encodeAppearances } from '../store/rows/appearances.js'
import { BLOCK_COLUMNS, type BlockRow, blockValues, decodeBlockRow } from '../store/rows/block.js'
import { decodeCallTraces, isIntact } from '../store/rows/callTraces.js'
import { type ChainSource, genesisOfSource, readChainSource, specOfSource } from '../store/rows/chainSource.js'
import { createRawRows, type RawRow, type RawRows, type RowBounds } from '../store/rows/rawRows.js'
import type { StoredBlock } from '../store/rows/types.js'
import { genesisHeader } from '../sync/genesisBlock.js'
import { verifyBody } from '../sync/validate/body.js'
import { verifyHeader } from '../sync/validate/header.js'
import { openStoredBody } from './bodies.js'
import { atPlace, DatabaseFault } from './fault.js'
import { compareColumns } from './rowComparison.js'

/** Range of blocks to audit; all when absent. */
interface BlockAuditOptions {
  from?: number
  to?: number
  /** Receives the number of audited blocks. */
  onProgress?: (blocks: number) => void
}

/** Summary of the audited parts. */
interface BlockAudit {
  blocks: number
  transactions: number
  logs: number
}

// A read transaction delays the checkpoints of a concurrent import.
const SNAPSHOT_MS = 250

/** Rebuilds the blocks from their rows, checks them as an import does (hashes, links, roots, blooms, signatures, total
 *  difficulties) and compares every column with what the writer would store. A row that passes is the row that was
 *  written. Read-only; may run during an import. @throws DatabaseFault for the first difference */
export function auditBlocks(db: Database, { from, to, onProgress }: BlockAuditOptions = {}): BlockAudit {
  const done: BlockAudit = { blocks: 0, transactions: 0, logs: 0 }
  const rows = atPlace({ table: 'blocks' }, () => createRawRows(db))
  const range = atPlace({ table: 'blocks' }, () => rows.range())
  if (range === undefined) {
    requireNoStrays(rows, { firstBlock: 0, nextBlock: 0, nextTx: 0, nextLog: 0 })
    return done
  }
  const source = requireSource(db)
  const audit = createBlockAudit(rows, specOfSource(source), range.first)
  let next = Math.max(from ?? range.first, range.first)
  const step = db.transaction((): boolean => {
    const { head } = rows.range()!
    const last = Math.min(to ?? head, head)
    audit.resume(next)
    for (const startMs = performance.now(); next <= last; next++) {
      if (performance.now() - startMs > SNAPSHOT_MS) return true
      const block = audit.block(next)
      if (next === 0) requireGenesis(block, genesisOfSource(source))
      done.blocks++
      done.transactions += block.txCount
      done.logs += block.logCount
      onProgress?.(done.blocks)
    }
    // Rows beyond the newest block are strays only when it is in the same snapshot.
    if (last === head && next === head + 1) requireNoStrays(rows, audit.bounds(next))
    return false
  })
  while (atPlace({ table: 'blocks', row: `block ${next}` }, step));
  return done
}

/** Returns the number of stored blocks in the range of the options. */
export function blocksBetween(db: Database, { from, to }: BlockAuditOptions): number {
  const range = atPlace({ table: 'blocks' }, () => createRawRows(db).range())
  if (range === undefined) return 0
  return Math.max(0, Math.min(to ?? range.head, range.head) - Math.max(from ?? range.first, range.first) + 1)
}

/** Reads the chain of the database. @throws DatabaseFault if it names none */
export function requireSource(db: Database): ChainSource {
  const place = { table: 'meta', row: 'chain' }
  const source = atPlace(place, () => readChainSource(db))
  if (source === undefined) throw new DatabaseFault(place, { field: 'value', expected: 'the chain', found: 'none' })
  return source
}

function requireNoStrays(rows: RawRows, bounds: RowBounds): void {
  const stray = atPlace({ table: 'blocks' }, () => rows.stray(bounds))
  if (stray === undefined) return
  throw new DatabaseFault({ table: stray.table, row: `row ${stray.id}` }, { field: 'block', found: 'belongs to none' })
}

function requireGenesis({ hash, header }: StoredBlock, genesis: Genesis): void {
  const ofHeader = () => familyOf(genesis.spec).hashHeader(genesisHeader(genesis, header.stateRoot))
  const expected = genesis.hash ?? ofHeader()
  if (equalBytes(hash, expected)) return
  throw new DatabaseFault({ table: 'blocks', row: 'block 0' }, { field: 'genesis hash', expected, found: hash })
}

const placeOf = (number: number) => ({ table: 'blocks', row: `block ${number}` })

/** Returns the header of an audited block. */
const headerAt = (rows: RawRows, number: number) => atPlace(placeOf(number), () => readBlock(rows, number).block.header)

/** Audits blocks one after another. */
function createBlockAudit(rows: RawRows, spec: ChainSpec, first: number) {
  const bloomOf = createBloomMaker()
  /** The previous block, reread at the start of each snapshot. */
  let parent: StoredBlock | undefined
  const nextIds = () => ({
    nextTx: parent === undefined ? 0 : parent.firstTx + parent.txCount,
    nextLog: parent === undefined ? 0 : parent.firstLog + parent.logCount,
  })
  const auditBlock = (number: number): StoredBlock => {
    const { row, block: stored } = readBlock(rows, number)
    const { header, withdrawals } = stored
    const totalDifficulty = parent ? parent.totalDifficulty + header.difficulty : firstDifficulty(stored)
    const rules = rulesAt(spec, number, header.timestamp, totalDifficulty - header.difficulty)
    const body = openStoredBody(rows, stored, bloomOf)
    const transactions = body.transactions()
    const parts = { header, transactions, uncles: readUncles(rows, number), withdrawals }
    const block: Block = { ...parts, hash: familyOf(spec).hashHeader(header), sizeBytes: encodeBlock(parts).length }
    if (parent)
      verifyHeader(header, block.hash, parent, rules, spec, (at) => (at < first ? undefined : headerAt(rows, at)))
    verifyBody(block, rules, spec)
    const receipts = body.receipts(block, rules)
    verifyReceipts(header, receipts, { blockHash: block.hash })
    requireAccessList(rows, header)
    requireAppearances(rows, block, receipts)
    requireTraces(rows, block, receipts)
    const { nextTx, nextLog } = nextIds()
    const logCount = receipts.reduce((sum, { logs }) => sum + logs.length, 0)
    const values = [...blockValues(block, totalDifficulty), nextTx, transactions.length, nextLog, logCount]
    compareColumns(placeOf(number), row, BLOCK_COLUMNS, values)
    parent = stored
    return stored
  }
  return {
    block: (number: number) => atPlace(placeOf(number), () => auditBlock(number)),
    /** Reads the stored block before `next`. */
    resume: (next: number) => {
      parent = next > first ? atPlace(placeOf(next - 1), () => readBlock(rows, next - 1).block) : undefined
    },
    /** End of the rows after the newest block was audited. */
    bounds: (nextBlock: number): RowBounds => ({ firstBlock: first, nextBlock, ...nextIds() }),
  }
}

/** Returns the genesis block's own difficulty; for another first block, the stored total difficulty. */
function firstDifficulty({ header, totalDifficulty }: StoredBlock): bigint {
  return header.number === 0 ? header.difficulty : totalDifficulty
}

function readBlock(rows: RawRows, number: number): { row: RawRow; block: StoredBlock } {
  const row = rows.block(number)
  if (row === undefined) throw new DatabaseFault(placeOf(number), { field: 'row', expected: 'one', found: 'none' })
  return { row, block: decodeBlockRow(row as unknown as BlockRow) }
}

/** Requires the stored access list of a block, if present, to hash to the header's. */
function requireAccessList(rows: RawRows, { number, blockAccessListHash: expected }: Header): void {
  const row = rows.blockAccessList(number)
  if (row === undefined) return
  const place = { table: 'block_access_lists', row: `block ${number}` }
  const found = atPlace(place, () => keccak256(row.list as Uint8Array))
  if (expected !== undefined && equalBytes(found, expected)) return
  throw new DatabaseFault(place, { field: 'hash of the list', expected: expected ?? 'no list', found })
}

/** Compares the appearances of a block with its transactions, receipts and logs. Its internal calls, which need
 *  execution, are covered by the checksum. */
function requireAppearances(rows: RawRows, { header, transactions }: Block, receipts: readonly Receipt[]): void {
  const row = rows.appearances(header.number)
  const place = { table: 'address_appearances', row: `block ${header.number}` }
  if (row === undefined) {
    if (header.number > (rows.lastAppearances() ?? -1)) return
    throw new DatabaseFault(place, { field: 'row', expected: 'one', found: 'none' })
  }
  const ids = atPlace(place, () => decodeAppearances(row.data as Uint8Array))
  const addressOf = (id: number) => {
    const address = rows.address(id)
    if (address === undefined) throw new DatabaseFault(place, { field: 'id', expected: 'of an address', found: id })
    return address
  }
  compareColumns(place, row, ['data'], [encodeAppearances(ids, addressOf)])
  if (ids.length !== transactions.length) {
    throw new DatabaseFault(place, { field: 'transactions', expected: transactions.length, found: ids.length })
  }
  for (const [index, addresses] of appearancesIn(transactions, receipts).entries()) {
    const found = ids[index].map(addressOf)
    const missing = addresses.find((address) => !found.some((each) => equalBytes(each, address)))
    if (missing === undefined) continue
    throw new DatabaseFault(place, {
      field: `addresses of transaction ${index}`,
      expected: missing,
      found: 'not among them',
    })
  }
}

/** Compares the calls of a block in the trace index with its transactions and receipts: sender, recipient, value and
 *  outcome of each transaction. The calls below them, which need execution, are covered by the checksum. */
function requireTraces(rows: RawRows, { header, transactions }: Block, receipts: readonly Receipt[]): void {
  const row = rows.traces(header.number)
  const place = { table: 'traces', row: `block ${header.number}` }
  if (row === undefined) {
    if (header.number > (rows.lastTraces() ?? -1)) return
    throw new DatabaseFault(place, { field: 'row', expected: 'one', found: 'none' })
  }
  const data = row.data as Uint8Array
  if (data.length === 0) return // not executed, or without transactions
  const calls = atPlace(place, () => decodeCallTraces(data))
  const addressOf = (id: number) => {
    const address = rows.address(id)
    if (address === undefined) throw new DatabaseFault(place, { field: 'id', expected: 'of an address', found: id })
    return address
  }
  if (!isIntact(data, addressOf)) {
    throw new DatabaseFault(place, { field: 'data', expected: 'bytes with this checksum', found: 'others' })
  }
  if (calls.length !== transactions.length) {
    throw new DatabaseFault(place, { field: 'transactions', expected: transactions.length, found: calls.length })
  }
  for (const [index, { from, to, value }] of transactions.entries()) {
    const [message] = calls[index]
    const { status, contractAddress } = receipts[index]
    const recipient = to ?? contractAddress // not known for a contract that a deposit created before Canyon
    const isSame =
      equalBytes(addressOf(message.from), from) &&
      (recipient === undefined || equalBytes(addressOf(message.to), recipient)) &&
      message.value === value &&
      (status === undefined || (status === 1) === (message.failure === undefined))
    if (isSame) continue
    throw new DatabaseFault(place, { field: `transaction ${index}`, expected: 'its message', found: 'another one' })
  }
}

/** Reads the uncles of a block; the uncles hash verifies their list. */
function readUncles(rows: RawRows, blockNumber: number): Header[] {
  return rows.uncles(blockNumber).map((row, index) => {
    const place = { table: 'uncles', row: `block ${blockNumber}, uncle ${index}` }
    return atPlace(place, () => {
      const uncle = decodeHeader(row.header as Uint8Array)
      const header = encodeHeader(uncle)
      compareColumns(place, row, ['idx', 'hash', 'header'], [index, keccak256(header), header])
      return uncle
    })
  })
}
