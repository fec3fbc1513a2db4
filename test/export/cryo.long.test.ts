import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { before, test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { runCairnOk, spawnProgram, startCairn } from '../support/cairn.js'
import { importChainFolder } from '../support/chains/chainFolder.js'
import { readNdjson, type TextRow } from '../support/chains/exportedFiles.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { type TokenChain, writeTokenChain } from '../support/chains/tokenChain.js'
import { wide } from '../support/compare/exportOracle.js'
import { endOfFile } from '../support/endings.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Rows of the real cryo, which collects them from a server of the same database: `pip install cryo`. */

const PYTHON = process.env.CAIRN_TEST_PYTHON ?? 'python3'
const hasCryo = spawnSync(PYTHON, ['-c', 'import cryo'], { stdio: 'ignore' }).status === 0
const skip = hasCryo ? false : `${PYTHON} lacks cryo; CAIRN_TEST_PYTHON names another one`

const ending = endOfFile()

/** A database, its server, and a range of blocks that cryo reads: it needs the status of receipts. */
interface Chain {
  readonly datadir: string
  readonly url: string
  readonly from: number
  readonly to: number
}
let fixture: Chain
let tokenChain: TokenChain
let tokens: Chain

before(async () => {
  if (skip) return
  const serve = async (datadir: string) =>
    (await startCairn(ending, ['--datadir', datadir, '--open', '--max-logs', '100000'])).url
  const datadir = temporaryDirectory(ending)
  await importFixture(datadir)
  fixture = { datadir, url: await serve(datadir), from: 20, to: 74 }
  const ofTokens = temporaryDirectory(ending)
  tokenChain = await writeTokenChain(ending)
  await importChainFolder(ofTokens, tokenChain.folder)
  tokens = { datadir: ofTokens, url: await serve(ofTokens), from: 1, to: tokenChain.head }
})

type Arguments = { readonly [name: string]: readonly string[] }

async function collect(
  { url, from, to }: Chain,
  datasets: { readonly [dataset: string]: Arguments },
): Promise<{ [dataset: string]: TextRow[] | null }> {
  const jobs = Object.fromEntries(
    Object.entries(datasets).map(([name, own]) => [name, { blocks: [`${from}:${to + 1}`], ...own }]),
  )
  const script = packagePath('test/support/compare/collect_with_cryo.py')
  const { code, stdout, stderr } = await spawnProgram(PYTHON, [
    script,
    url,
    temporaryDirectory(ending),
    JSON.stringify(jobs),
  ]).ended
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as { [dataset: string]: TextRow[] | null }
}

async function exported({ datadir, from, to }: Chain, dataset: string, own: Arguments): Promise<TextRow[]> {
  const options = Object.entries(own).flatMap(([flag, values]) =>
    values.flatMap((value) => [`--${flag.replaceAll('_', '-')}`, value]),
  )
  const terms = ['--datadir', datadir, '--format', 'ndjson', '--out', '-', '--blocks', `${from}:${to}`]
  return readNdjson(await runCairnOk(['export', dataset, ...terms, ...options]))
}

type Rows = readonly TextRow[]
/** What differs between cryo's rows and ours. */
interface Difference {
  /** Rows in a form that both have. */
  theirs?(rows: Rows): Rows
  ours?(rows: Rows): Rows
  /** Set if this side has more rows. */
  readonly more?: 'theirs' | 'ours'
  /** Columns that are not compared. */
  readonly without?: readonly string[]
}

const changed = (rows: Rows) =>
  rows.filter((row) => row.from_value !== row.to_value || row.from_value_string !== row.to_value_string)
const byTransactions = (rows: Rows) => rows.filter(({ transaction_index }) => transaction_index !== null)
/** cryo also has rows without a change; ours also have changes by the block itself. */
const DIFFS: Difference = { theirs: changed, ours: byTransactions }
const mapped = (change: (row: TextRow) => TextRow) => (rows: Rows) => rows.map(change)

/** cryo 0.3.2 knows transactions of up to type 2: it computes a wrong length for later ones. */
const withoutLaterLengths = mapped((row) => (Number(row.transaction_type) > 2 ? { ...row, n_rlp_bytes: '' } : row))

/** Each address of a transaction once, as in the address index, which has no fee recipients. */
function distinctAppearances(rows: Rows): Rows {
  const own = rows.filter(({ relationship }) => relationship !== 'miner_fee')
  return [...new Map(own.map((row) => [`${row.transaction_hash} ${row.address}`, row])).values()]
}

const DATASETS: { readonly [dataset: string]: Difference } = {
  blocks: {},
  transactions: { theirs: withoutLaterLengths, ours: withoutLaterLengths },
  logs: {},
  erc20_transfers: {},
  erc721_transfers: {},
  // cryo takes the sender of a token transfer for its recipient.
  address_appearances: { theirs: distinctAppearances, more: 'ours', without: ['relationship'] },
  contracts: {
    theirs: mapped((row) => ({ ...row, code_hash: row.init_code_hash, init_code_hash: row.code_hash })),
  },
  traces: {},
  // cryo also has rewards, and transfers that were reverted.
  native_transfers: {
    theirs: (rows) => rows.filter(({ value_string }) => value_string !== '0'),
    more: 'theirs',
    without: ['transfer_index'], // counts transfers of 0 wei
  },
  // cryo drops transactions without selectors, and numbers the others without them.
  four_byte_counts: { without: ['transaction_index', 'transaction_hash'] },
  vm_traces: {
    theirs: mapped((row) => ({ ...row, op: row.op === 'SHA3' ? 'KECCAK256' : row.op })),
    without: ['transaction_hash'],
  },
  balance_diffs: DIFFS,
  nonce_diffs: DIFFS,
  code_diffs: DIFFS,
  storage_diffs: DIFFS,
  balance_reads: {},
  nonce_reads: {},
  code_reads: { theirs: mapped((row) => ({ ...row, code: Buffer.from(row.code!.slice(2), 'hex').toString() })) }, // text
  storage_reads: {},
}

/** Compares rows in any order, with the columns that both have. */
function assertSame(dataset: string, theirs: Rows, ours: Rows, { without = [], more }: Difference): void {
  const columns = Object.keys(theirs[0] ?? {}).filter((name) => name in (ours[0] ?? {}) && !without.includes(name))
  const textOf = (row: TextRow) =>
    JSON.stringify(columns.map((name) => (name.endsWith('_f64') && row[name] !== null ? Number(row[name]) : row[name])))
  const own = ours.map(textOf).sort()
  const wanted = theirs.map(textOf).sort()
  const isWanted = new Set(wanted)
  const common = new Set(own.filter((row) => isWanted.has(row)))
  const shared = (rows: string[], side: 'theirs' | 'ours') =>
    more === side ? rows.filter((row) => common.has(row)) : rows
  assert.deepEqual(shared(own, 'ours'), shared(wanted, 'theirs'), dataset)
}

const NO_OPTIONS = Object.fromEntries(Object.keys(DATASETS).map((name) => [name, {}]))
// Later blocks have loops of 78,000 instructions each.
const VM_BLOCKS = { from: 20, to: 53 }

for (const [name, chainOf] of [
  ['bundled chain', () => fixture],
  ['chain of tokens', () => tokens],
] as const) {
  test(`cryo collects the same rows of the ${name}`, { skip }, async () => {
    const chain = chainOf()
    const own = (dataset: string) => (dataset === 'vm_traces' && chain === fixture ? VM_BLOCKS : chain)
    const vmBlocks = { blocks: [`${own('vm_traces').from}:${own('vm_traces').to + 1}`] }
    const found = await collect(chain, { ...NO_OPTIONS, vm_traces: vmBlocks })
    for (const [dataset, difference] of Object.entries(DATASETS)) {
      const rows = found[dataset] ?? assert.fail(`cryo does not collect ${dataset}`)
      const { theirs = (all) => all, ours = (all) => all } = difference
      const exportedRows = await exported({ ...chain, ...own(dataset) }, dataset, {})
      assert.deepEqual(
        Object.keys(rows[0] ?? {}).filter((column) => exportedRows.length > 0 && !(column in exportedRows[0])),
        /^(logs|erc.*transfers)$/.test(dataset) && rows.length > 0 ? ['block_hash'] : [],
        `${dataset}: columns that only cryo has`,
      )
      if (chain === tokens) assert.ok(rows.length > 5, `${dataset}: ${rows.length} rows`)
      assertSame(dataset, theirs(rows), ours(exportedRows), difference)
    }
  })
}

test('cryo collects the same rows from calls of token contracts', { skip }, async () => {
  const { tokens: all, accounts } = tokenChain
  const address = Object.entries(all).flatMap(([name, token]) => (name === 'huge' ? [] : [token]))
  const options: { readonly [dataset: string]: Arguments } = {
    erc20_metadata: { address },
    erc721_metadata: { address },
    erc20_supplies: { address },
    erc20_balances: { contract: address, address: accounts.slice(0, 3) },
    trace_calls: { contract: [all.plain], call_data: ['0x18160ddd', '0x06fdde03'] },
  }
  const chain = { ...tokens, from: tokens.to - 1 }
  const found = await collect(chain, options)
  // cryo has no spaces, and null for text that is no UTF-8.
  const isText = (name: string | null) => name !== null && !name.includes('\ufffd')
  const withoutSpaces = mapped(({ name, ...row }) => ({
    ...row,
    ...(name === undefined ? {} : { name: isText(name) ? name!.replaceAll(' ', '') : null }),
  }))
  for (const [dataset, rows] of Object.entries(found)) {
    assert.ok(rows !== null && rows.length > 3, dataset)
    assertSame(dataset, rows, withoutSpaces(await exported(chain, dataset, options[dataset])), {})
  }
})

test('the values of balances, nonces and codes at each block are those of cryo', { skip }, async () => {
  const address = [...tokenChain.accounts.slice(0, 3), tokenChain.tokens.plain]
  const options = Object.fromEntries(['balances', 'nonces', 'codes'].map((name) => [name, { address }]))
  for (const [dataset, rows] of Object.entries(await collect(tokens, options))) {
    const changes = await exported({ ...tokens, from: 0 }, dataset, { address })
    const expanded = rows!.map(({ block_number, address: of }) => {
      const last = changes.findLast((row) => row.address === of && Number(row.block_number) <= Number(block_number))
      const none = { address: of, chain_id: '1337', ...EMPTY[dataset] }
      return { ...(last ?? none), block_number }
    })
    assert.equal(rows!.length, address.length * tokens.to)
    assertSame(dataset, rows!, expanded, {})
  }
})

/** The cells of an account that does not exist. */
const EMPTY: { readonly [dataset: string]: TextRow } = {
  balances: wide('balance', '0'),
  nonces: { nonce: '0' },
  codes: { code: '0x' },
}
