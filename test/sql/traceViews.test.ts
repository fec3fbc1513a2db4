import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Fork } from '../../src/chain/eth/forks/rules.js'
import { hasRewards, rewardsOf } from '../../src/evm/transition/blockEnd.js'
import { createAppearanceFinder } from '../../src/index/addresses/finder.js'
import { noDeadline } from '../../src/lib/deadline.js'
import { formatData, formatQuantity, parseHex } from '../../src/lib/hex.js'
import { silentLogger } from '../../src/lib/logger.js'
import { noProgress } from '../../src/lib/progress.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { type OpenContext, openContext } from '../../src/rpc/core/openContext.js'
import { addAddressTransactions } from '../../src/sql/addressTransactions.js'
import { createCallDecoder } from '../../src/sql/callDecoder.js'
import { createChainConnection } from '../../src/sql/chainConnection.js'
import type { Database } from '../../src/store/database.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { noCallDecoding } from '../../src/store/sql/callViews.js'
import { openForQueries } from '../../src/store/sql/queryDatabase.js'
import { fillTraces } from '../../src/sync/fillTraces.js'
import { makeCallChain } from '../support/chains/callChain.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { callMethod } from '../support/compare/traces.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

/* The views of the trace index against traces by execution, the state history and each other. */

interface Opened {
  readonly datadir: string
  readonly db: Database
  readonly rpc: OpenContext
}

const root = temporaryDirectory({ after })
const opened = new Map<string, Opened>()

before(async () => {
  const fixture = join(root, 'fixture')
  await importFixture(fixture)
  const writer = openForWriting(fixture)
  await fillTraces(writer, { progress: noProgress })
  writer.close()
  open('the fixture', fixture)
  for (const [seed, fork] of (['frontier', 'byzantium', 'shanghai', 'osaka', 'amsterdam'] as Fork[]).entries()) {
    const datadir = join(root, fork)
    await makeCallChain(datadir, { random: seededRandom(100 + seed), fork, count: 60 }, { traces: true })
    open(fork, datadir)
  }
})
after(() => {
  for (const { db, rpc } of opened.values()) {
    db.close()
    rpc.close()
  }
})

function open(name: string, datadir: string): void {
  const rpc = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  opened.set(name, { datadir, db: openForQueries(datadir, () => []), rpc })
}

function all<T>(db: Database, sql: string): T[] {
  return db.prepare<[], T>(sql).all()
}

interface FlatTrace {
  action: Record<string, string>
  error?: string
  result: Record<string, string> | null
  subtraces: number
  traceAddress: number[]
  type: string
  blockNumber: number
  transactionHash: string
  transactionPosition: number
}

const bytesIn = (hex: string | undefined) => (hex === undefined ? 0 : (hex.length - 2) / 2)

/** The columns of `v_traces` that a trace of `trace_block` has. */
function rowOf({ action, result, type, ...trace }: FlatTrace) {
  const isCall = type === 'call'
  const input = action.input ?? action.init
  return {
    block_number: trace.blockNumber,
    transaction_index: trace.transactionPosition,
    transaction_hash: trace.transactionHash,
    trace_address: trace.traceAddress.join('_'),
    type,
    call_type: action.callType ?? action.creationMethod ?? null,
    from: action.from ?? action.address,
    ...(isCall || type === 'suicide' ? { to: action.to ?? action.refundAddress } : {}),
    value: action.callType === 'staticcall' ? null : BigInt(action.value ?? action.balance).toString(),
    gas: Number(action.gas ?? 0),
    input_length: bytesIn(input),
    subtraces: trace.subtraces,
    depth: trace.traceAddress.length,
    failed: trace.error === undefined ? 0 : 1,
    ...(result ? { gas_used: Number(result.gasUsed), output_length: bytesIn(result.output ?? result.code) } : {}),
    ...(result?.address ? { to: result.address } : {}),
  }
}

test('v_traces has the traces of trace_block', async () => {
  for (const [name, { db, rpc }] of opened) {
    const head = rpc.context.chain.head()!
    for (let number = 0; number <= head; number++) {
      const traces = await callMethod<FlatTrace[]>(rpc.context, 'trace_block', [formatQuantity(number)])
      const expected = traces.filter(({ type }) => type !== 'reward').map(rowOf)
      const found = all<Record<string, unknown>>(
        db,
        `SELECT *, error IS NOT NULL AS failed FROM v_traces WHERE block_number = ${number}`,
      )
      assert.equal(found.length, expected.length)
      for (const [i, row] of expected.entries()) {
        const own = Object.fromEntries(Object.keys(row).map((column) => [column, found[i][column]]))
        assert.deepEqual(own, row, `${name}, block ${number}, trace ${i}`)
      }
    }
    const { reverted, failed } = all<{ reverted: number; failed: number }>(
      db,
      'SELECT sum(reverted) AS reverted, count(error) AS failed FROM v_traces',
    )[0]
    assert.ok(failed > 0 && reverted >= failed, name)
  }
})

test('a trace is reverted if it or a trace around it failed', () => {
  for (const { db } of opened.values()) {
    const wrong = all(
      db,
      `SELECT * FROM v_traces x WHERE reverted <> EXISTS (SELECT 1 FROM v_traces a
         WHERE a.block_number = x.block_number AND a.transaction_index = x.transaction_index AND a.error IS NOT NULL
         AND (a.trace_address IN ('', x.trace_address) OR x.trace_address LIKE replace(a.trace_address, '_', '!_') || '!_%' ESCAPE '!'))`,
    )
    assert.deepEqual(wrong, [])
  }
})

test('v_native_transfers, fees and rewards explain every change of a balance', () => {
  for (const [name, { db, rpc }] of opened) {
    const { chain, state } = rpc.context
    const addresses = all<{ address: Uint8Array }>(db, 'SELECT address FROM addresses').map((row) => row.address)
    let compared = 0
    for (let number = 1; number <= chain.head()!; number++) {
      const block = chain.blockByNumber(number)!
      const { header } = block
      const changes = new Map<string, bigint>()
      const add = (address: string, wei: bigint) => changes.set(address, (changes.get(address) ?? 0n) + wei)
      const burning = new Set<string>()
      for (const row of all<{ from: string; to: string; value: string; type: string }>(
        db,
        `SELECT * FROM v_native_transfers WHERE block_number = ${number}`,
      )) {
        add(row.from, -BigInt(row.value))
        add(row.to, BigInt(row.value))
      }
      // What an account has or gets after its SELFDESTRUCT is burned.
      const destructs = `SELECT "from" FROM v_traces WHERE block_number = ${number} AND type = 'suicide' AND NOT reverted`
      for (const { from } of all<{ from: string }>(db, destructs)) burning.add(from)
      const transactions = chain.transactions(block)
      for (const [i, { receipt }] of chain.receipts(block).entries()) {
        const { gasUsed, effectiveGasPrice, blobGasUsed = 0n, blobGasPrice = 0n } = receipt
        add(formatData(transactions[i].from), -gasUsed * effectiveGasPrice - blobGasUsed * blobGasPrice)
        add(formatData(header.miner), gasUsed * (effectiveGasPrice - (header.baseFeePerGas ?? 0n)))
      }
      for (const { address, amountGwei } of block.withdrawals ?? []) add(formatData(address), amountGwei * 10n ** 9n)
      const rules = chain.rulesOf(block)
      if (hasRewards(rules, chain.spec())) {
        for (const { author, wei } of rewardsOf(header, chain.uncles(number), rules, chain.spec()))
          add(formatData(author), wei)
      }
      for (const address of addresses) {
        const text = formatData(address)
        if (burning.has(text)) continue
        const change = state.balance(address, number) - state.balance(address, number - 1)
        assert.equal(change, changes.get(text) ?? 0n, `${name}, block ${number}, ${text}`)
        if (change !== 0n) compared++
      }
    }
    assert.ok(compared > 20, name)
  }
})

interface ContractRow {
  block_number: number
  transaction_hash: string
  address: string
  creator: string
  factory: string | null
  code_size: number
  code_hash: string
  init_code_size: number
  destroyed_block: number | null
}

interface Frame {
  type: string
  from: string
  to: string
  input: string
  output?: string
  error?: string
  calls?: Frame[]
}

function* creationsIn(frame: Frame): Generator<Frame> {
  if (frame.error !== undefined) return
  if (frame.type.startsWith('CREATE')) yield frame
  for (const each of frame.calls ?? []) yield* creationsIn(each)
}

test('v_contracts has the creations that took effect, and when the contract was gone', async () => {
  let destroyed = 0
  let internal = 0
  for (const [name, { db, rpc }] of opened) {
    const { chain, state } = rpc.context
    const head = chain.head()!
    const rows = all<ContractRow>(db, 'SELECT * FROM v_contracts')
    const expected: Omit<ContractRow, 'code_hash' | 'destroyed_block'>[] = []
    for (let number = 1; number <= head; number++) {
      const traced = await callMethod<{ txHash: string; result: Frame }[]>(rpc.context, 'debug_traceBlockByNumber', [
        formatQuantity(number),
        { tracer: 'callTracer' },
      ])
      for (const { txHash, result } of traced) {
        for (const frame of creationsIn(result)) {
          expected.push({
            block_number: number,
            transaction_hash: txHash,
            address: frame.to,
            creator: result.from,
            factory: frame === result ? null : frame.from,
            code_size: bytesIn(frame.output ?? '0x'),
            init_code_size: bytesIn(frame.input),
          })
        }
      }
    }
    const found = rows.map((row) =>
      Object.fromEntries(Object.keys(expected[0]).map((key) => [key, row[key as keyof ContractRow]])),
    )
    assert.deepEqual(found, expected, name)
    for (const [i, row] of rows.entries()) {
      if (row.factory !== null) internal++
      if (row.code_size === 0) continue
      const address = parseHex(row.address)
      const next = rows.slice(i + 1).find((other) => other.address === row.address)?.block_number
      let gone: number | undefined
      for (let number = row.block_number; number <= head && gone === undefined; number++) {
        if (number === next || state.code(address, number).length === 0) gone = number
      }
      assert.equal(row.destroyed_block, gone ?? null, `${name}, ${row.address} of block ${row.block_number}`)
      if (gone === undefined) assert.equal(state.code(address, head).length, row.code_size)
      else destroyed++
    }
  }
  assert.ok(destroyed > 10 && internal > 30, `${destroyed} destroyed, ${internal} internal`)
})

test('address_transactions narrows a view to the blocks of an address', () => {
  for (const { datadir, db } of opened.values()) {
    const connection = createChainConnection(datadir)
    addAddressTransactions(db, connection)
    const own = openForReading(datadir)
    const finder = createAppearanceFinder(own)
    const some = all<{ to: string }>(db, 'SELECT "to", count(*) FROM v_traces GROUP BY 1 ORDER BY 2 DESC LIMIT 5')
    for (const { to } of some) {
      const rows = all<object>(db, `SELECT * FROM v_traces WHERE "to" = '${to}'`)
      assert.ok(rows.length > 0)
      const blocks = `block_number IN (SELECT block_number FROM address_transactions('${to}'))`
      assert.deepEqual(all<object>(db, `SELECT * FROM v_traces WHERE ${blocks} AND "to" = '${to}'`), rows)
      const expected: object[] = []
      const range = { fromBlock: 0, toBlock: 1e9, newestFirst: false, deadline: noDeadline }
      finder.search(parseHex(to), range, ({ blockNumber, indexes }) => {
        for (const index of indexes) expected.push({ block_number: blockNumber, transaction_index: index })
        return true
      })
      assert.deepEqual(all(db, `SELECT * FROM address_transactions('${to}')`), expected)
    }
    assert.throws(
      () => all(db, "SELECT * FROM address_transactions('0x12')"),
      /address_transactions: expected an address/,
    )
    connection.close()
    own.close()
  }
})

test('methods are named by ABIs', () => {
  const { datadir } = opened.get('the fixture')!
  const connection = createChainConnection(datadir)
  const db = openForQueries(datadir, () => [], { calls: { ...noCallDecoding, ...createCallDecoder(connection) } })
  const methods = all<{ method: string }>(db, 'SELECT DISTINCT method FROM v_traces WHERE method IS NOT NULL')
  assert.ok(methods.some(({ method }) => method === 'transfer(address,uint256)'))
  connection.close()
  db.close()
})

test('without the index, the views say how to get it', async (t) => {
  const datadir = join(temporaryDirectory(t), 'data')
  await importFixture(datadir)
  const db = openForQueries(datadir, () => [])
  t.after(() => db.close())
  for (const view of ['v_traces', 'v_native_transfers', 'v_contracts']) {
    for (const where of ['', ' WHERE block_number = 3', ' WHERE block_number < 0']) {
      const run = () => all(db, `SELECT * FROM ${view}${where}`)
      assert.throws(run, /the database has no trace index; 'cairn reindex --traces' makes it/)
    }
  }
})
