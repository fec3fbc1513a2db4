import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { type ColumnForms, withForms } from '../../src/export/columnForms.js'
import { type Column, columns, nullable } from '../../src/export/columns.js'
import type { Dataset } from '../../src/export/dataset.js'
import { DATASETS } from '../../src/export/datasets.js'
import type { Format } from '../../src/export/encoders/rowEncoder.js'
import type { ExportSource } from '../../src/export/source.js'
import { runCairn, runCairnOk } from '../support/cairn.js'
import { describeParquet, readExported, readNdjson, type TextRow } from '../support/chains/exportedFiles.js'
import { writeViewChain } from '../support/chains/viewChain.js'
import { wide } from '../support/compare/exportOracle.js'
import { type Account, type Answers, askChains, type Log } from '../support/compare/stateOracle.js'
import { endOfFile } from '../support/endings.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Datasets that need no traces, and the changes of nonces and codes, compared with what the methods answer of the same
 * database. */

const chains: { [name: string]: Answers } = {}
const ending = endOfFile()

/** The files of all datasets, by chain. */
const lakes: { [chain: string]: string } = {}

before(async () => {
  Object.assign(chains, await askChains(ending, { random: 1 }))
  const datasets = [...Object.keys(EXPECTED), 'nonce-diffs', 'code-diffs', 'address-appearances'].join()
  for (const [chain, { datadir }] of Object.entries(chains)) {
    lakes[chain] = join(temporaryDirectory(ending), 'lake')
    await runCairnOk(['export', datasets, '--datadir', datadir, '--format', 'ndjson', '--out', lakes[chain]])
  }
})

/** All rows of a dataset. */
function rowsOf(chain: string, dataset: string): Promise<TextRow[]> {
  const names = readdirSync(lakes[chain]).filter((name) => name.includes(`__${dataset.replaceAll('-', '_')}__`))
  assert.equal(names.length, 1, dataset)
  return readExported(join(lakes[chain], names[0]))
}

async function exported({ datadir }: Answers, dataset: string, ...options: string[]): Promise<TextRow[]> {
  const terms = ['--datadir', datadir, '--format', 'ndjson', '--out', '-', ...options]
  return readNdjson(await runCairnOk(['export', dataset, ...terms]))
}

const CHAIN_IDS: { [chain: string]: string } = { fixture: '20261', random: '1337' }

function end(chain: string, block: number): TextRow {
  return { chain_id: CHAIN_IDS[chain], block_timestamp: String(Number(chains[chain].blocks[block].timestamp)) }
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'

function tokenLogs(chain: string, isWanted: (log: Log) => boolean, integer: (log: Log) => TextRow): TextRow[] {
  const logs = chains[chain].receipts.flat().flatMap((receipt) => receipt.logs)
  return logs.filter(isWanted).map((log) => ({
    block_number: String(Number(log.blockNumber)),
    transaction_index: String(Number(log.transactionIndex)),
    log_index: String(Number(log.logIndex)),
    transaction_hash: log.transactionHash,
    erc20: log.address,
    from_address: `0x${log.topics[1].slice(26)}`,
    to_address: `0x${log.topics[2].slice(26)}`,
    ...integer(log),
    ...end(chain, Number(log.blockNumber)),
  }))
}

const isToken = (topic0: string, topicCount: number, dataLength: number) => (log: Log) =>
  log.topics[0] === topic0 && log.topics.length === topicCount && log.data.length === 2 + 2 * dataLength

/** A row for each change of a value of a place by a block. */
function changesOf(
  chain: string,
  places: Iterable<[place: TextRow, values: readonly string[]]>,
  { none, cells }: { none: string; cells: (now: string, earlier: string) => TextRow },
): TextRow[] {
  const rows = [...places].flatMap(([place, values]) =>
    values.flatMap((value, block) => {
      const earlier = values[block - 1] ?? none
      if (value === earlier) return []
      return [{ block_number: String(block), ...place, ...cells(value, earlier), ...end(chain, block) }]
    }),
  )
  return rows.sort((a, b) => Number(a.block_number) - Number(b.block_number) || (keyOf(a) < keyOf(b) ? -1 : 1))
}

const keyOf = ({ address, slot }: TextRow) => `${address} ${slot}`

function* accountsOf(chain: string, read: (account: Account) => string): Generator<[TextRow, string[]]> {
  for (const [address, accounts] of chains[chain].accounts) yield [{ address }, accounts.map(read)]
}

function* slotsOf(chain: string): Generator<[TextRow, string[]]> {
  for (const [place, values] of chains[chain].slots) {
    const [address, slot] = place.split(' ')
    yield [{ address, slot }, values]
  }
}

/** The rows that each dataset must have. */
const EXPECTED: { readonly [dataset: string]: (chain: string) => TextRow[] } = {
  withdrawals: (chain) =>
    chains[chain].blocks.flatMap(({ withdrawals = [] }, block) =>
      withdrawals.map(({ index, validatorIndex, address, amount }) => ({
        block_number: String(block),
        withdrawal_index: String(Number(index)),
        validator_index: String(Number(validatorIndex)),
        address,
        amount_gwei: String(BigInt(amount)),
        ...end(chain, block),
      })),
    ),
  blobs: (chain) =>
    chains[chain].blocks.flatMap(({ transactions }, block) =>
      transactions.flatMap(({ hash, blobVersionedHashes = [] }, index) =>
        blobVersionedHashes.map((versioned_hash, at) => ({
          block_number: String(block),
          transaction_index: String(index),
          transaction_hash: hash,
          blob_index: String(at),
          versioned_hash,
          ...end(chain, block),
        })),
      ),
    ),
  'erc20-transfers': (chain) => tokenLogs(chain, isToken(TRANSFER, 3, 32), ({ data }) => wide('value', data)),
  'erc20-approvals': (chain) => tokenLogs(chain, isToken(APPROVAL, 3, 32), ({ data }) => wide('value', data)),
  'erc721-transfers': (chain) => tokenLogs(chain, isToken(TRANSFER, 4, 0), ({ topics }) => wide('token_id', topics[3])),
  balances: (chain) => {
    const places = accountsOf(chain, ({ balance }) => balance)
    return changesOf(chain, places, { none: '0', cells: (balance) => wide('balance', balance) })
  },
  nonces: (chain) => {
    const places = accountsOf(chain, ({ nonce }) => String(nonce))
    return changesOf(chain, places, { none: '0', cells: (nonce) => ({ nonce }) })
  },
  codes: (chain) => {
    const places = accountsOf(chain, ({ code }) => code)
    return changesOf(chain, places, { none: '0x', cells: (code) => ({ code }) })
  },
  slots: (chain) => changesOf(chain, slotsOf(chain), { none: `0x${'00'.repeat(32)}`, cells: (value) => ({ value }) }),
}

for (const chain of ['fixture', 'random']) {
  for (const [dataset, expect] of Object.entries(EXPECTED)) {
    test(`${dataset} of the ${chain} chain`, async () => {
      const expected = expect(chain)
      if (chain === 'random') assert.ok(expected.length > (dataset === 'codes' ? 1 : 4), `${expected.length} rows`)
      const rows = await rowsOf(chain, dataset)
      assert.deepEqual(rows, expected)
      assert.deepEqual(
        Object.keys(rows[0] ?? {}),
        rows.length === 0 ? [] : DATASETS.find(({ name }) => name === dataset)!.columns.map(({ name }) => name),
      )
    })
  }

  test(`changes of nonces and codes of the ${chain} chain lead from their value before a block to that after it`, async () => {
    for (const [dataset, read, none] of [
      ['nonce-diffs', ({ nonce }: Account) => String(nonce), '0'],
      ['code-diffs', ({ code }: Account) => code, '0x'],
    ] as const) {
      const held = new Map<string, string>()
      const rows = await rowsOf(chain, dataset)
      assert.ok(rows.some(({ transaction_index }) => transaction_index !== null))
      let block = -1
      const check = (upTo: number) => {
        for (; block < upTo; block++) {
          if (block < 0) continue
          for (const [address, accounts] of chains[chain].accounts) {
            assert.equal(held.get(address) ?? none, read(accounts[block]), `${dataset} ${address} ${block}`)
          }
        }
      }
      for (const row of rows) {
        check(Number(row.block_number))
        assert.equal(row.from_value, held.get(row.address!) ?? none)
        assert.notEqual(row.to_value, row.from_value)
        held.set(row.address!, row.to_value!)
        if (row.transaction_index === null) continue
        const transaction = chains[chain].blocks[Number(row.block_number)].transactions[Number(row.transaction_index)]
        assert.equal(row.transaction_hash, transaction.hash)
      }
      check(chains[chain].blocks.length)
    }
  })

  test(`address-appearances of the ${chain} chain are the transactions that the search by address finds`, async () => {
    const rows = await rowsOf(chain, 'address-appearances')
    const places = (row: TextRow) => `${row.transaction_hash} ${row.address}`
    assert.equal(new Set(rows.map(places)).size, rows.length)
    for (const [address] of chains[chain].accounts) {
      const own = rows.filter((row) => row.address === address)
      const hashes = await search(chains[chain], address)
      assert.deepEqual(own.map(({ transaction_hash }) => transaction_hash).sort(), hashes.sort())
      for (const row of own) {
        const block = chains[chain].blocks[Number(row.block_number)]
        assert.equal(row.block_hash, block.hash)
        assert.equal(block.transactions[Number(row.transaction_index)].hash, row.transaction_hash)
        assert.equal(row.relationship, null)
      }
      assert.deepEqual(await addressRows(chain, address, rows), own)
    }
  })
}

/** Hashes of all transactions in which an address appears. */
async function search({ call }: Answers, address: string): Promise<string[]> {
  type Page = { txs: { hash: string; blockNumber: string }[]; firstPage: boolean }
  const hashes: string[] = []
  for (let after = -1; ; ) {
    const params = [address, Math.max(0, after), 25]
    const { txs, firstPage } = await call<Page>('ots_searchTransactionsAfter', params)
    hashes.push(...txs.map(({ hash }) => hash))
    if (firstPage) return hashes
    after = Math.max(...txs.map(({ blockNumber }) => Number(blockNumber)))
  }
}

const asked = new Set<string>()

/** The rows with `--address`, of the first addresses; else those among all. */
async function addressRows(chain: string, address: string, rows: readonly TextRow[]): Promise<TextRow[]> {
  if (asked.size > 1) return rows.filter((row) => row.address === address)
  asked.add(address)
  return exported(chains[chain], 'address-appearances', '--address', address)
}

test('--address selects accounts', async () => {
  const { accounts, slots } = chains.random
  const [first, second] = [...accounts.keys()].filter((address) =>
    [...slots.keys()].some((key) => key.startsWith(address)),
  )
  for (const dataset of ['balances', 'nonces', 'codes', 'slots']) {
    const wanted = EXPECTED[dataset]('random').filter(({ address }) => address === first || address === second)
    assert.deepEqual(await exported(chains.random, dataset, '--address', `${first},${second}`), wanted)
  }
})

test('--hex makes binary columns text, and --timestamps makes times timestamps', async (t) => {
  const { datadir } = chains.random
  const names = ['blocks', 'transactions', 'logs', 'balances', 'storage-diffs']
  const read = async (format: Format, ...options: string[]) => {
    const out = join(temporaryDirectory(t), 'lake')
    await runCairnOk(['export', names.join(), '--datadir', datadir, '--format', format, '--out', out, ...options])
    const files = readdirSync(out).filter((name) => name.endsWith(format))
    return new Map(files.sort().map((name) => [name.split('__')[1], join(out, name)]))
  }
  const [plain, hex] = [await read('parquet'), await read('parquet', '--hex', '--timestamps', 'timestamp')]
  const csv = await read('csv', '--timestamps', 'timestamp')
  const isTime = (name: string) => name === 'timestamp' || name === 'block_timestamp'
  for (const [dataset, path] of plain) {
    const before = describeParquet(path).columns
    const now = describeParquet(hex.get(dataset)!).columns
    for (const [i, { name, type, converted_type }] of now.entries()) {
      const earlier = before[i]
      assert.equal(name, earlier.name)
      const isBinary = earlier.type === 'BYTE_ARRAY' && earlier.converted_type === undefined
      if (isTime(name)) assert.deepEqual([type, converted_type], ['INT64', 'TIMESTAMP_MILLIS'])
      else if (isBinary) assert.deepEqual([type, converted_type], ['BYTE_ARRAY', 'UTF8'])
      else assert.deepEqual([type, converted_type], [earlier.type, earlier.converted_type])
    }
    const [rows, changed, text] = await Promise.all([path, hex.get(dataset)!, csv.get(dataset)!].map(readExported))
    assert.ok(rows.length > 10)
    const seconds = (row: TextRow) => Number(row.timestamp ?? row.block_timestamp)
    const withTime = (row: TextRow, time: string) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, isTime(name) ? time : value]))
    const isoTime = (row: TextRow) => new Date(seconds(row) * 1_000).toISOString().replace('.000', '')
    assert.deepEqual(
      changed,
      rows.map((row) => withTime(row, String(new Date(seconds(row) * 1_000)))),
      dataset,
    )
    assert.deepEqual(
      text,
      rows.map((row) => withTime(row, isoTime(row))),
      dataset,
    )
  }
})

test('a form of columns is part of what a directory has', async (t) => {
  const out = temporaryDirectory(t)
  const terms = ['export', 'blocks', '--datadir', chains.random.datadir, '--out', join(out, 'lake')]
  await runCairnOk([...terms, '--hex'])
  await runCairnOk([...terms, '--hex'])
  const { code, stderr } = await runCairn(terms)
  assert.equal(code, 2)
  assert.match(stderr, /other columns/)
})

test('times after the year 9999 are its last second', () => {
  const own: Column[] = [...columns('u64', 'timestamp'), ...nullable('binary', 'to_address')]
  const dataset = {
    columns: own,
    rows: () => [
      [253_402_300_799n, null],
      [2n ** 63n, null],
      [0, Uint8Array.of(1)],
    ],
  }
  const rowsOf = (forms: ColumnForms, format: Format) => [
    ...withForms(dataset as unknown as Dataset, forms, format).rows({} as ExportSource, []),
  ]
  assert.deepEqual(rowsOf({ hex: true, timestamps: 'timestamp' }, 'ndjson'), [
    ['9999-12-31T23:59:59Z', null],
    ['9999-12-31T23:59:59Z', null],
    ['1970-01-01T00:00:00Z', Uint8Array.of(1)],
  ])
  assert.deepEqual(rowsOf({ hex: true, timestamps: 'timestamp' }, 'parquet'), [
    [253_402_300_799_000n, null],
    [253_402_300_799_000n, null],
    [0n, '0x01'],
  ])
  assert.equal(withForms(dataset as unknown as Dataset, { hex: false, timestamps: 'integer' }, 'parquet'), dataset)
})

test('without an address index or state, the datasets say what is missing', async (t) => {
  const folder = await writeViewChain(t, 3)
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', folder, '--datadir', datadir, '--address-index', 'off'])
  const { code, stderr } = await runCairn(['export', 'address-appearances', '--datadir', datadir, '--out', '-'])
  assert.equal(code, 2)
  assert.match(stderr, /address-appearances: the database has no address index of all blocks; run 'cairn reindex'/)
})
