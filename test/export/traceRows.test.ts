import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Fork } from '../../src/chain/eth/forks/rules.js'
import type { Dataset } from '../../src/export/dataset.js'
import { chooseDatasets } from '../../src/export/datasets.js'
import { openExportSource } from '../../src/export/source.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { silentLogger } from '../../src/lib/logger.js'
import { noProgress } from '../../src/lib/progress.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { openContext } from '../../src/rpc/core/openContext.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openForQueries } from '../../src/store/sql/queryDatabase.js'
import { fillTraces } from '../../src/sync/fillTraces.js'
import { makeCallChain } from '../support/chains/callChain.js'
import { copyDatabase } from '../support/chains/fixtureDatabase.js'
import { callMethod } from '../support/compare/traces.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Datasets of calls, with the trace index and without, against SQL and geth's tracer. */

const NAMES = ['contracts', 'native-transfers', 'four-byte-counts']
const root = temporaryDirectory({ after })

type Cells = { readonly [column: string]: unknown }

/** All rows of a dataset by column, with bytes as hex. */
async function rowsOf(datadir: string, dataset: Dataset): Promise<Cells[]> {
  const source = openExportSource(datadir)
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
