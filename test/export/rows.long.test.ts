import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import { DATASETS } from '../../src/export/datasets.js'
import { FORMATS } from '../../src/export/encoders/rowEncoder.js'
import { DATABASE_FILE } from '../../src/store/open.js'
import { runCairnOk, startCairn } from '../support/cairn.js'
import { describeParquet, readExported, type TextRow, toTextRow } from '../support/chains/exportedFiles.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { type Answers, askEverything, EXPECTED } from '../support/compare/exportOracle.js'
import { ask } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

const datadir = temporaryDirectory({ after })
const lakes = Object.fromEntries(FORMATS.map((format) => [format, join(temporaryDirectory({ after }), format)]))
// A hook that is registered within another one runs at its end.
const endings: (() => void | Promise<void>)[] = []
const ending = { after: (callback: () => void | Promise<void>) => void endings.push(callback) }
after(async () => {
  for (const end of endings) await end()
})
/** Without calls, which need options, deposits, which the chain lacks, and the 400,000 instructions of loops. */
const EXPORTED = DATASETS.filter(
  ({ calls, name, needsDeposits }) => calls === undefined && !needsDeposits && name !== 'vm-traces',
)
let url: string
let answers: Answers

before(async () => {
  await importFixture(datadir)
  const server = await startCairn(ending, ['--datadir', datadir, '--open'])
  url = server.url
  answers = await askEverything(url)
  for (const format of FORMATS) {
    const terms = ['--format', format, '--range-size', '20', '--out', lakes[format]]
    const byName = EXPORTED.filter(({ isByName }) => isByName).map(({ name }) => name)
    await runCairnOk(['export', 'all', ...byName, '--datadir', datadir, ...terms])
  }
})

/** All rows of a dataset, file by file. */
async function readDataset(format: string, dataset: string): Promise<TextRow[]> {
  const names = readdirSync(lakes[format]).filter((name) => name.includes(`__${dataset}__`))
  assert.ok(names.length > 0)
  const rows: TextRow[] = []
  for (const name of names.sort()) rows.push(...(await readExported(join(lakes[format], name))))
  return rows
}

const byTransactions = (rows: readonly TextRow[]) => rows.filter((row) => row.transaction_index !== null)

for (const format of FORMATS) {
  test(`${format}: rows equal the answers of the methods`, async () => {
    for (const [dataset, expect] of Object.entries(EXPECTED)) {
      const rows = byTransactions(await readDataset(format, dataset))
      const expected = expect(answers)
      assert.ok(expected.length > 10, `${dataset}: ${expected.length} rows`)
      assert.deepEqual(rows, expected, dataset)
    }
  })

  test(`${format}: layer-2 blocks equal the view`, async () => {
    const db = new SqliteDatabase(join(datadir, DATABASE_FILE), { readonly: true })
    const padded = (name: string) => `'0x' || printf('%064s', substr(${name}, 3)) AS`
    const sql = `SELECT number AS block_number, ${padded('hash')} block_hash, ${padded('parent_hash')} parent_hash,
      ${padded('new_root')} new_root, timestamp, iif(sequencer IS NULL, NULL, '0x' || printf('%064s', substr(sequencer, 3)))
      AS sequencer_address, version, l1_gas_price_wei, l1_gas_price_fri, l1_data_gas_price_wei, l1_data_gas_price_fri,
      l2_gas_price_wei, l2_gas_price_fri, l1_da_mode, transaction_count AS n_transactions, event_count AS n_events
      FROM v_l2_blocks WHERE status <> 'REJECTED' ORDER BY number`
    const expected = (db.prepare(sql).all() as { [column: string]: unknown }[]).map(toTextRow)
    db.close()
    for (const row of expected) {
      for (const [name, value] of Object.entries(row))
        row[name] = value?.replace(/^0x +/, (space) => `0x${'0'.repeat(space.length - 2)}`) ?? null
    }
    const rows = await readDataset(format, 'l2_blocks')
    assert.ok(expected.length > 5)
    const names = Object.keys(expected[0])
    assert.deepEqual(
      rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]]))),
      expected,
    )
  })
}

test('changes of a place lead from its state before a block to its state after it, block by block', async () => {
  const ofSlot = (row: TextRow) => `${row.address} ${row.slot}`
  const balances = await readDataset('ndjson', 'balance_diffs')
  const slots = await readDataset('ndjson', 'storage_diffs')
  assert.ok([balances, slots].every((rows) => rows.some((row) => row.transaction_index === null)))
  const zero = `0x${'00'.repeat(32)}`
  const check = async (
    rows: readonly TextRow[],
    place: (row: TextRow) => string,
    suffix: string,
    ask: (row: TextRow, block: string) => Promise<string>,
  ) => {
    const state = new Map<string, { value: string; row: TextRow }>()
    for (const row of rows) {
      const before = state.get(place(row))?.value ?? (suffix === '' ? zero : '0')
      assert.equal(row[`from_value${suffix}`], before, `block ${row.block_number}: ${place(row)}`)
      state.set(place(row), { value: row[`to_value${suffix}`]!, row })
    }
    for (const { value, row } of state.values()) assert.equal(await ask(row, 'latest'), value, place(row))
  }
  const result = async (method: string, params: unknown[]) => String((await ask(url, method, params)).result)
  await check(
    balances,
    (row) => row.address!,
    '_string',
    async (row, block) => String(BigInt(await result('eth_getBalance', [row.address, block]))),
  )
  await check(slots, ofSlot, '', (row, block) => result('eth_getStorageAt', [row.address, row.slot, block]))
})

test('Parquet files have the types of cryo, zstd, and statistics without bloom filters', async () => {
  const types = {
    u32: ['INT32', 'UINT_32'],
    u64: ['INT64', 'UINT_64'],
    i64: ['INT64', undefined],
    f64: ['DOUBLE', undefined],
    bool: ['BOOLEAN', undefined],
    binary: ['BYTE_ARRAY', undefined],
    string: ['BYTE_ARRAY', 'UTF8'],
  }
  for (const { fileName, columns } of EXPORTED) {
    const name = readdirSync(lakes.parquet).find((each) => each.includes(`__${fileName}__`))!
    const file = describeParquet(join(lakes.parquet, name))
    assert.deepEqual(
      file.columns.map(({ name, type, converted_type, repetition_type }) => [
        name,
        type,
        converted_type,
        repetition_type,
      ]),
      columns.map(({ name, type, nullable }) => [name, ...types[type], nullable ? 'OPTIONAL' : 'REQUIRED']),
    )
    for (const { columns } of file.groups) {
      for (const { meta_data } of columns) {
        assert.equal(meta_data!.codec, 'ZSTD')
        assert.ok(meta_data!.statistics)
        assert.equal(meta_data!.bloom_filter_offset, undefined)
      }
    }
  }
})

test('DuckDB reads the files and finds what is in them', async (t) => {
  const duckdb = await import('@duckdb/node-api').catch(() => undefined)
  if (duckdb === undefined) return t.skip('@duckdb/node-api is not installed')
  const instance = await duckdb.DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const all = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson()
  for (const { fileName } of EXPORTED) {
    const files = `read_parquet('${lakes.parquet}/*__${fileName}__*.parquet')`
    const rows = await readDataset('ndjson', fileName)
    assert.deepEqual(await all(`SELECT count(*) FROM ${files}`), [[String(rows.length)]], fileName)
  }
  const logs = EXPECTED.logs(answers)
  const address = logs[0].address!
  const found = await all(`SELECT count(*) FROM read_parquet('${lakes.parquet}/*__logs__*.parquet')
    WHERE address = from_hex('${address.slice(2)}')`)
  assert.deepEqual(found, [[String(logs.filter((log) => log.address === address).length)]])
  const values = await all(`SELECT value_string::BIGNUM::VARCHAR, hex(value_binary)
    FROM read_parquet('${lakes.parquet}/*__erc20_transfers__*.parquet') ORDER BY block_number, log_index`)
  const expected = EXPECTED.erc20_transfers(answers)
  assert.deepEqual(
    values,
    expected.map((row) => [row.value_string, row.value_binary!.slice(2).toUpperCase()]),
  )
  connection.closeSync()
  instance.closeSync()
})

test('--address selects logs, transfers and transactions', async () => {
  const logs = EXPECTED.logs(answers)
  const [address, other] = [logs[0].address!, answers.blocks[1].miner!]
  const sender = answers.blocks.flatMap(({ transactions }) => transactions)[0].from!
  const matches: { [dataset: string]: (row: TextRow) => boolean } = {
    logs: (row) => [address, sender].includes(row.address!),
    erc20_transfers: (row) => [address, sender].includes(row.erc20!),
    transactions: (row) => [address, sender].some((each) => each === row.from_address || each === row.to_address),
  }
  for (const [dataset, isWanted] of Object.entries(matches)) {
    const terms = ['--address', `${address},${sender}`, '--address', other, '--format', 'ndjson', '--out', '-']
    const stdout = await runCairnOk(['export', dataset, '--datadir', datadir, ...terms])
    const rows =
      stdout === ''
        ? []
        : stdout
            .trimEnd()
            .split('\n')
            .map((line) => toTextRow(JSON.parse(line)))
    assert.deepEqual(
      rows,
      EXPECTED[dataset](answers).filter((row) => isWanted(row)),
      dataset,
    )
  }
})
