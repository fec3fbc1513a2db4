import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { createChainReader } from '../../src/store/chain/chainReader.js'
import { type ChainWriter, createChainWriter } from '../../src/store/chain/chainWriter.js'
import type { ChainReader } from '../../src/store/chain/types.js'
import type { Database } from '../../src/store/database.js'
import { createTransactionFinder, type TransactionFinder } from '../../src/transactions/finder.js'
import type { OutcomeBlock } from './randomBlocks.js'
import { temporaryConnections } from './temporaryConnections.js'

/** What asks one connection. */
interface Asker {
  reader: ChainReader
  finder: TransactionFinder
}

/** A temporary chain, asked through two connections that live as long as it. */
export interface TemporaryChain {
  db: Database
  readOnly: Database
  writer: ChainWriter
  askers: { writing: Asker; reading: Asker }
}

/** An empty chain, gone when the test is. */
export function temporaryChain(t: Pick<TestContext, 'after'>, options: { packsTip: boolean }): TemporaryChain {
  const { writing: db, reading: readOnly } = temporaryConnections(t)
  const askerOf = (of: Database) => ({ reader: createChainReader(of), finder: createTransactionFinder(of) })
  const askers = { writing: askerOf(db), reading: askerOf(readOnly) }
  return { db, readOnly, writer: createChainWriter(db, options), askers }
}

/** Does the work in a transaction. */
export function inTransaction(writer: ChainWriter, work: () => void): void {
  writer.begin()
  work()
  writer.commit()
}

/** Appends the blocks in one transaction. */
export function append(writer: ChainWriter, ...blocks: readonly OutcomeBlock[]): void {
  inTransaction(writer, () => insert(writer, ...blocks))
}

/** Inserts the blocks in the transaction that there is. */
export function insert(writer: ChainWriter, ...blocks: readonly OutcomeBlock[]): void {
  for (const { block, receipts } of blocks) writer.insertBlock(block, receipts, BigInt(block.header.number))
}

/** Numbers of the packed blocks. */
export function packedNumbers(db: Database): number[] {
  return db.prepare<[], number>('SELECT block_number FROM packed_bodies').pluck().all()
}

/** All values of the chain's tables with their SQL types, rows by their ids. Logs have the values that ids of dictionaries
 *  stand for in the place of the ids, which depend on the order of first sight. */
export function chainRows(db: Database): { [table: string]: unknown[] } {
  const rows = (columns: string[], from: string) =>
    plain(
      db
        .prepare(`SELECT ${columns.map((c) => `${c}, typeof(${c})`).join(', ')} FROM ${from}`)
        .raw()
        .all(),
    ) as unknown[]
  const columnsOf = (table: string) => (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name)
  const tables = ['blocks', 'transactions', 'receipts'].map((table) => [
    table,
    rows(columnsOf(table), `${table} ORDER BY 1`),
  ])
  const ownColumns = columnsOf('logs').filter((name) => name !== 'address_id' && name !== 'topic0_id')
  const logs = rows(
    [...ownColumns.map((name) => `l.${name}`), 'a.address', 'z.topic'],
    `logs l LEFT JOIN addresses a ON a.id = l.address_id LEFT JOIN topics z ON z.id = l.topic0_id ORDER BY l.id`,
  )
  return { ...Object.fromEntries(tables), logs }
}

/** `chainRows` and what else a block leaves: packed bytes and dictionaries. */
export function chainContents(db: Database): { [table: string]: unknown } {
  const others = ['packed_bodies', 'addresses', 'topics'].map((table) => [
    table,
    plain(db.prepare(`SELECT * FROM ${table} ORDER BY 1`).raw().all()),
  ])
  return { ...chainRows(db), ...Object.fromEntries(others) }
}

/** The rows of a chain whose blocks never were packed. */
export function rowsNeverPacked(t: Pick<TestContext, 'after'>, blocks: readonly OutcomeBlock[]) {
  const { db, writer } = temporaryChain(t, { packsTip: false })
  for (const block of blocks) append(writer, block)
  return chainRows(db)
}

/** What a connection says of a block's body, also for the indexes before its first and after its last transaction. */
export function askBody({ reader, finder }: Asker, number: number): unknown {
  const block = reader.blockByNumber(number)!
  const hashes = reader.transactionHashes(block)
  const indexes = [-1, ...hashes.keys(), hashes.length]
  return plain({
    hashes,
    transactions: reader.transactions(block),
    receipts: reader.receipts(block),
    fees: reader.transactionFees(block),
    transaction: indexes.map((index) => reader.transaction(block, index)),
    receipt: indexes.map((index) => reader.receipt(block, index)),
    places: hashes.map((hash) => finder.locate(hash)),
  })
}

/** The right answer of `askBody` of the last of the blocks, which begin with the first of the chain. */
export function expectedBody(blocks: readonly OutcomeBlock[]): unknown {
  const { block, receipts } = blocks.at(-1)!
  const { transactions, header } = block
  let nextLog = blocks.slice(0, -1).reduce((sum, before) => sum + logCount(before), 0)
  const stored = receipts.map((receipt) => {
    const firstLog = nextLog
    nextLog += receipt.logs.length
    return { receipt, firstLog }
  })
  return plain({
    hashes: transactions.map(({ hash }) => hash),
    transactions,
    receipts: stored,
    fees: receipts.map(({ gasUsed, effectiveGasPrice }) => ({ gasUsed, effectiveGasPrice })),
    transaction: [undefined, ...transactions, undefined],
    receipt: [undefined, ...stored, undefined],
    places: transactions.map((_, index) => ({ blockNumber: header.number, index })),
  })
}

/** Both connections say of the last block what is right, and find no transaction of the blocks `gone`. */
export function checkNewest(
  { askers }: TemporaryChain,
  held: readonly OutcomeBlock[],
  gone: readonly OutcomeBlock[] = [],
): void {
  const expected = expectedBody(held)
  const number = held.at(-1)!.block.header.number
  for (const [name, asker] of Object.entries(askers)) {
    assert.deepEqual(askBody(asker, number), expected, `block ${number}, ${name}`)
    for (const { block } of gone) {
      for (const { hash } of block.transactions) assert.equal(asker.finder.locate(hash), undefined, name)
    }
  }
}

function logCount({ receipts }: OutcomeBlock): number {
  return receipts.reduce((sum, { logs }) => sum + logs.length, 0)
}

/** The value with bytes as hex, whatever they are a view of, and without fields that are undefined. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return formatData(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field)]))
}
