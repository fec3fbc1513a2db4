import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Fork } from '../../src/chain/eth/forks/rules.js'
import type { Dataset } from '../../src/export/dataset.js'
import { chooseDatasets } from '../../src/export/datasets.js'
import { type ExportSelection, openExportSource } from '../../src/export/source.js'
import { formatData, formatQuantity, parseHex } from '../../src/lib/hex.js'
import { silentLogger } from '../../src/lib/logger.js'
import { noProgress } from '../../src/lib/progress.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { openContext } from '../../src/rpc/core/openContext.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openForQueries } from '../../src/store/sql/queryDatabase.js'
import { fillTraces } from '../../src/sync/fillTraces.js'
import { makeCallChain } from '../support/chains/callChain.js'
import { copyDatabase, importFixture } from '../support/chains/fixtureDatabase.js'
import { callMethod } from '../support/compare/traces.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Datasets of calls, with the trace index and without, against SQL and geth's tracer. */

const NAMES = ['contracts', 'native-transfers', 'four-byte-counts', 'traces']
const root = temporaryDirectory({ after })

type Cells = { readonly [column: string]: unknown }

/** All rows of a dataset by column, with bytes as hex. */
async function rowsOf(datadir: string, dataset: Dataset, selection: ExportSelection = {}): Promise<Cells[]> {
  const source = openExportSource(datadir, selection)
  try {
    await source.loadTraces()
    const { first, head } = source.chain.coverage()!
    const rows = Array.from(dataset.rows(source, dataset.layer.blocks(source, first + 1, head)))
    const names = dataset.columns.map(({ name }) => name)
    const text = (cell: unknown) => (cell instanceof Uint8Array ? formatData(cell) : cell)
    return rows.map((row) => Object.fromEntries(row.map((cell, i) => [names[i], text(cell)])))
  } finally {
    source.close()
  }
}

/** Of a random chain, and of a copy with the index. */
async function makeBoth(fork: Fork): Promise<{ plain: string; indexed: string }> {
  const plain = join(root, fork)
  await makeCallChain(plain, { random: seededRandom(61), fork, count: 60 })
  const indexed = copyDatabase({ after }, plain)
  const db = openForWriting(indexed)
  await fillTraces(db, { progress: noProgress })
  db.close()
  return { plain, indexed }
}

for (const fork of ['frontier', 'osaka'] as const satisfies readonly Fork[]) {
  test(`datasets of calls under the rules of ${fork} have the same rows with and without the index`, async (t) => {
    const { plain, indexed } = await makeBoth(fork)
    const found = new Map<string, Cells[]>()
    for (const dataset of chooseDatasets(NAMES)) {
      const rows = await rowsOf(indexed, dataset)
      assert.ok(rows.length > 5, dataset.name)
      assert.deepEqual(rows, await rowsOf(plain, dataset), dataset.name)
      found.set(dataset.name, rows)
    }

    const db = openForQueries(indexed, () => [])
    t.after(() => db.close())
    const transfers = db
      .prepare<[], Cells>(
        `SELECT block_number, transaction_index, transfer_index, transaction_hash, "from" AS from_address,
         "to" AS to_address, value AS value_string FROM v_native_transfers`,
      )
      .all()
    const ofTransfers = Object.keys(transfers[0])
    const pick = (row: Cells, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, row[name]]))
    assert.deepEqual(
      found.get('native-transfers')!.map((row) => pick(row, ofTransfers)),
      transfers,
    )
    const contracts = db
      .prepare<[], Cells>(
        `SELECT block_number, create_index, transaction_hash, address AS contract_address, creator AS deployer,
         coalesce(factory, creator) AS factory, init_code_size AS n_init_code_bytes, code_size AS n_code_bytes, code_hash
         FROM v_contracts`,
      )
      .all()
    const ofContracts = Object.keys(contracts[0])
    assert.deepEqual(
      found.get('contracts')!.map((row) => pick(row, ofContracts)),
      contracts,
    )
    assert.deepEqual(found.get('four-byte-counts'), await countByTracer(plain))
    assert.deepEqual(found.get('traces')!.map(withoutEnd), await traceByMethod(plain))
    await checkAddresses({ plain, indexed }, found.get('traces')!)
    for (const [name, expect] of Object.entries(BY_TRANSACTION)) {
      const rows = await rowsOf(plain, chooseDatasets([name])[0])
      const expected = await expect(plain)
      assert.ok(expected.length > 20, `${name}: ${expected.length} rows`)
      assert.deepEqual(rows.map(withoutEnd), expected, name)
    }
  })
}

/** The rows of `four-byte-counts` by geth's tracer. */
async function countByTracer(datadir: string): Promise<Cells[]> {
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  const rows: Cells[] = []
  for (let number = 1; number <= context.chain.head()!; number++) {
    const params = [formatQuantity(number), { tracer: '4byteTracer' }]
    const traced = await callMethod<{ txHash: string; result: Record<string, number> }[]>(
      context,
      'debug_traceBlockByNumber',
      params,
    )
    for (const [index, { txHash, result }] of traced.entries()) {
      const own = Object.entries(result).map(([id, count]) => {
        const [signature, size] = id.split('-')
        return { signature, size: Number(size), count }
      })
      own.sort((a, b) => (a.signature === b.signature ? a.size - b.size : a.signature < b.signature ? -1 : 1))
      for (const each of own) {
        const place = { block_number: number, transaction_index: index, transaction_hash: txHash }
        rows.push({ ...place, ...each, chain_id: context.chain.chainId() })
      }
    }
  }
  close()
  return rows
}

test('datasets of reads of the bundled chain are what the prestateTracer returns', async () => {
  const datadir = temporaryDirectory({ after })
  await importFixture(datadir)
  for (const [name, expect] of Object.entries(BY_TRANSACTION)) {
    if (name === 'vm-traces') continue // its loops have 400,000 instructions
    const rows = await rowsOf(datadir, chooseDatasets([name])[0])
    assert.deepEqual(rows.map(withoutEnd), await expect(datadir), name)
  }
})

const withoutEnd = ({ chain_id, block_timestamp, ...rest }: Cells): Cells => rest

/** With the addresses of some traces, `traces` has the rows from or to them, with the index and without. */
async function checkAddresses({ plain, indexed }: { plain: string; indexed: string }, all: readonly Cells[]) {
  const [dataset] = chooseDatasets(['traces'])
  const random = seededRandom(5)
  for (let i = 0; i < 6; i++) {
    const wanted = Array.from({ length: 2 }, () => all[random.below(all.length)].action_from as string)
    const ends = ['action_from', 'action_to', 'result_address']
    const failedCreation = (row: Cells) => row.action_type === 'create' && row.result_address === null
    const own = all.filter((row) => !failedCreation(row) && ends.some((end) => wanted.includes(row[end] as string)))
    for (const datadir of [plain, indexed]) {
      const rows = await rowsOf(datadir, dataset, { addresses: wanted.map(parseHex) })
      assert.deepEqual(
        rows.filter((row) => !failedCreation(row)),
        own,
      )
    }
  }
}

type Json = { readonly [member: string]: unknown }

/** The results of a method for each block, and the hashes of its transactions. */
async function askBlocks<T>(
  datadir: string,
  method: string,
  more: readonly unknown[],
): Promise<{ number: number; hashes: readonly string[]; result: T }[]> {
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  const answers: { number: number; hashes: readonly string[]; result: T }[] = []
  for (let number = 1; number <= context.chain.head()!; number++) {
    const result = await callMethod<T>(context, method, [formatQuantity(number), ...more])
    const hashes = context.chain.transactionHashes(context.chain.blockByNumber(number)!).map(formatData)
    answers.push({ number, hashes, result })
  }
  close()
  return answers
}

const integer = (value: unknown) => (value === undefined ? null : Number(value))
const gas = (value: unknown) => (value === undefined ? null : Math.min(Number(value), 2 ** 32 - 1))
const orNull = (value: unknown) => value ?? null
const CALL_TYPES: { readonly [type: string]: string } = {
  call: 'call',
  callcode: 'call_code',
  delegatecall: 'delegate_call',
  staticcall: 'static_call',
}

/** The rows of `traces` by `trace_block`. */
async function traceByMethod(datadir: string): Promise<Cells[]> {
  type Trace = Json & { action: Json; result: Json | null; traceAddress: number[] }
  const answers = await askBlocks<Trace[]>(datadir, 'trace_block', [])
  return answers.flatMap(({ number, result: traces }) =>
    traces.map(({ action, result, ...trace }) => ({
      action_from: action.from ?? action.address ?? action.author,
      action_to: orNull(action.to ?? action.refundAddress),
      action_value: String(BigInt((action.value ?? action.balance) as string)),
      action_gas: gas(action.gas),
      action_input: orNull(action.input),
      action_call_type: orNull(CALL_TYPES[action.callType as string]),
      action_init: orNull(action.init),
      action_reward_type:
        trace.type === 'reward' ? { block: 'reward', uncle: 'uncle' }[action.rewardType as string] : null,
      action_type: trace.type,
      result_gas_used: gas(result?.gasUsed),
      result_output: orNull(result?.output),
      result_code: orNull(result?.code),
      result_address: orNull(result?.address),
      trace_address: trace.traceAddress.join('_'),
      subtraces: trace.subtraces,
      transaction_index: trace.transactionPosition,
      transaction_hash: trace.transactionHash,
      block_number: number,
      block_hash: trace.blockHash,
      error: orNull(trace.error),
    })),
  )
}

interface CodeJson {
  ops: { pc: number; cost: number; op: string; sub: CodeJson | null; ex: Effect | null }[]
}
interface Effect {
  used: number
  push: string[]
  mem: { off: number; data: string } | null
  store: { key: string; val: string } | null
}
const word = (value: string) => value.slice(2).padStart(64, '0')

function instructionCells({ ops }: CodeJson): Json[] {
  return ops.flatMap(({ pc, cost, op, sub, ex }) => {
    const own = {
      pc,
      cost,
      used: integer(ex?.used),
      push: ex === null ? null : `0x${ex.push.map(word).join('')}`,
      mem_off: integer(ex?.mem?.off),
      mem_data: orNull(ex?.mem?.data),
      storage_key: ex?.store ? `0x${word(ex.store.key)}` : null,
      storage_val: ex?.store ? `0x${word(ex.store.val)}` : null,
      op,
    }
    return [own, ...(sub === null ? [] : instructionCells(sub))]
  })
}

interface StateJson {
  balance: string
  nonce?: number
  code?: string
  storage?: { [slot: string]: string }
}

/** The rows that a dataset has of an account of the prestateTracer. */
function readsBy(cellsOf: (address: string, state: StateJson) => Json[]): (datadir: string) => Promise<Cells[]> {
  return async (datadir) => {
    type Traced = { txHash: string; result: { [address: string]: StateJson } }
    const answers = await askBlocks<Traced[]>(datadir, 'debug_traceBlockByNumber', [{ tracer: 'prestateTracer' }])
    return answers.flatMap(({ number, result }) =>
      result.flatMap(({ txHash, result: accounts }, index) => {
        const place = { block_number: number, transaction_index: index, transaction_hash: txHash }
        return Object.entries(accounts).flatMap(([address, state]) =>
          cellsOf(address, state).map((own) => ({ ...place, ...own })),
        )
      }),
    )
  }
}

/** Datasets of one row for each instruction or account of a transaction, by methods. */
const BY_TRANSACTION: { readonly [dataset: string]: (datadir: string) => Promise<Cells[]> } = {
  'vm-traces': async (datadir) => {
    type Replay = { vmTrace: CodeJson | null }
    const answers = await askBlocks<Replay[]>(datadir, 'trace_replayBlockTransactions', [['vmTrace']])
    return answers.flatMap(({ number, hashes, result }) =>
      result.flatMap(({ vmTrace }, index) => {
        const place = { block_number: number, transaction_hash: hashes[index], transaction_index: index }
        return vmTrace === null ? [] : instructionCells(vmTrace).map((own) => ({ ...place, ...own }))
      }),
    )
  },
  'balance-reads': readsBy((address, { balance }) => [
    {
      address,
      balance_binary: `0x${word(balance)}`,
      balance_string: String(BigInt(balance)),
      balance_f64: Number(balance),
    },
  ]),
  'nonce-reads': readsBy((address, { nonce }) => (nonce === undefined ? [] : [{ address, nonce: BigInt(nonce) }])),
  'code-reads': readsBy((contract_address, { code }) => (code === undefined ? [] : [{ contract_address, code }])),
  'storage-reads': readsBy((contract_address, { storage = {} }) =>
    Object.entries(storage).map(([slot, value]) => ({ contract_address, slot, value })),
  ),
}
