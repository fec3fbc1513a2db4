import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type AbiEvent, decodeEventLog, type Hex, parseAbi, parseAbiItem } from 'viem'
import { type KnownEvent, openDecoder } from '../../src/decoding/decoder.js'
import { parseHex } from '../../src/lib/hex.js'
import { createAddedAbiTable } from '../../src/store/addedAbis.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { runCairn, runCairnOk } from '../support/cairn.js'
import { checkFinished } from '../support/chains/exportDirectory.js'
import { readExported, readNdjson, type TextRow } from '../support/chains/exportedFiles.js'
import { copyDatabase, importFixture } from '../support/chains/fixtureDatabase.js'
import { wide } from '../support/compare/exportOracle.js'
import { temporaryDirectory } from '../support/temporary.js'

/** The events of the bundled chain that are not built in. */
const ABI = parseAbi([
  'event Numbered(uint256 indexed number, address indexed caller, uint256 indexed seed)',
  'event Numbered(uint256 indexed number, address indexed caller, uint256 seed)',
  'event Numbered(uint256 indexed number, address caller, uint256 seed)',
  'event Counted(uint256 count)',
  'event Probed(uint256 stored, uint256 copied, bytes32 blob, uint256 fee)',
  'event DepositEvent(bytes pubkey, bytes withdrawal_credentials, bytes amount, bytes signature, bytes index)',
])

const datadir = temporaryDirectory({ after })
let logs: TextRow[]
let events: readonly KnownEvent[]

before(async () => {
  await importFixture(datadir)
  const writer = openForWriting(datadir)
  createAddedAbiTable(writer).add({ name: 'fixture', address: undefined, json: JSON.stringify(ABI) })
  writer.close()
  const db = openForReading(datadir)
  events = openDecoder(db)().events
  db.close()
  logs = readNdjson(await runCairnOk(['export', 'logs', '--datadir', datadir, '--out', '-', '--format', 'ndjson']))
})

/** The log as viem decodes it by this event; undefined if it is of another. */
function decodeByViem({ event, columns }: KnownEvent, log: TextRow): unknown[] | undefined {
  const topics = [log.topic0, log.topic1, log.topic2, log.topic3].filter((topic) => topic !== null) as [Hex, ...Hex[]]
  const inputs = columns.map(({ type, indexed }, i) => `${type}${indexed ? ' indexed' : ''} a${i}`)
  const item = parseAbiItem(`event ${event.name}(${inputs.join(', ')})`) as AbiEvent
  if (topics.length !== 1 + columns.filter(({ indexed }) => indexed).length) return undefined
  try {
    const { args } = decodeEventLog({ abi: [item], topics, data: log.data as Hex, strict: true })
    return columns.map((_, i) => (args as { [name: string]: unknown })[`a${i}`])
  } catch {
    return undefined
  }
}

/** The row that the export must have of a log with these arguments. */
function rowOf({ columns }: KnownEvent, log: TextRow, values: readonly unknown[]): TextRow {
  const { block_number, transaction_index, log_index, transaction_hash, address, chain_id, block_timestamp } = log
  const args = columns.map(({ name, bits = 0 }, i): TextRow => {
    const value = values[i]
    if (bits > 64) return wide(`event__${name}`, String(value))
    return { [`event__${name}`]: typeof value === 'string' ? value.toLowerCase() : String(value) }
  })
  const place = { block_number, transaction_index, log_index, transaction_hash, address }
  return Object.assign(place, ...args, { chain_id, block_timestamp }) as TextRow
}

for (const format of ['parquet', 'ndjson']) {
  test(`${format}: every event of the chain is decoded as viem decodes it`, async (t) => {
    const directory = temporaryDirectory(t)
    const terms = ['--datadir', datadir, '--out', directory, '--format', format, '--range-size', '40']
    await runCairnOk(['export', 'events', ...terms])
    const { datasets } = checkFinished(directory)
    const decoded = new Set<string>()
    for (const event of events) {
      const expected = logs.flatMap((log) => {
        if (decoded.has(`${log.block_number} ${log.log_index}`)) return [] // by an event that comes first
        const values = decodeByViem(event, log)
        return values === undefined ? [] : [{ log, row: rowOf(event, log, values) }]
      })
      for (const { log } of expected) decoded.add(`${log.block_number} ${log.log_index}`)
      const rows: TextRow[] = []
      for (const { file } of datasets[`event_${event.id}`]?.files ?? []) {
        rows.push(...(await readExported(join(directory, file))))
      }
      assert.deepEqual(
        rows,
        expected.map(({ row }) => row),
        event.id,
      )
    }
    // All but those that have no topic, or data that is too short for what their topic 0 says.
    assert.ok(decoded.size > 10_500 && decoded.size < logs.length, `${decoded.size} of ${logs.length} logs`)
    assert.ok(Object.values(datasets).filter(({ files }) => files.some(({ rows }) => rows > 0)).length >= 6)
  })
}

test('--event chooses by name, signature or id; --address by contract', async (t) => {
  const out = ['--datadir', datadir, '--format', 'ndjson', '--out']
  const transfers = logs.filter((log) => log.topic0?.startsWith('0xddf252ad'))
  for (const name of ['Transfer(address, address, uint256)', 'erc20_transfer']) {
    const directory = temporaryDirectory(t)
    await runCairnOk(['export', 'events', '--event', name, ...out, directory])
    const { datasets } = checkFinished(directory)
    assert.equal(datasets.event_erc20_transfer.files[0].rows, transfers.length, name)
  }
  const [{ address }] = transfers
  const chosen = ['--event', 'erc20_transfer', '--address', address!]
  const stdout = await runCairnOk(['export', 'events', ...chosen, ...out, '-'])
  assert.equal(readNdjson(stdout).length, transfers.filter((log) => log.address === address).length)

  const refused = async (args: string[], message: RegExp) => {
    const { code, stderr } = await runCairn(['export', ...args, ...out, '-'])
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
  }
  await refused(['events', '--event', 'Transfers'], /no known event is named "Transfers".*Transfer/)
  await refused(['logs', '--event', 'Transfer'], /--event is for the dataset events/)
})

test('a built-in event keeps its rows when an added ABI has the same event', async (t) => {
  const own = copyDatabase(t, datadir)
  const transfers = logs.filter((log) => log.topic0?.startsWith('0xddf252ad'))
  const [{ address }] = transfers
  const json = JSON.stringify(parseAbi(['event Transfer(address indexed a, address indexed b, uint256 amount)']))
  const db = openForWriting(own)
  createAddedAbiTable(db).add({ name: 'any', address: undefined, json })
  createAddedAbiTable(db).add({ name: 'bound', address: parseHex(address as string), json })
  db.close()
  const directory = temporaryDirectory(t)
  await runCairnOk(['export', 'events', '--datadir', own, '--format', 'ndjson', '--out', directory])
  const { datasets } = checkFinished(directory)
  const rowsOf = (id: string) => datasets[`event_${id}`]?.files.reduce((sum, { rows }) => sum + rows, 0) ?? 0
  const ofBound = transfers.filter((log) => log.address === address).length
  assert.ok(transfers.length > 0 && ofBound > 0)
  assert.deepEqual(['erc20_transfer', 'any_transfer', 'bound_transfer'].map(rowsOf), [
    transfers.length,
    transfers.length - ofBound,
    ofBound,
  ])
  const sql = 'SELECT (SELECT count(*) FROM v_event_erc20_transfer), (SELECT count(*) FROM v_event_any_transfer)'
  const counts = await runCairnOk(['sql', '--datadir', own, '--format', 'csv', sql])
  assert.equal(counts.trim().split('\n')[1], `${transfers.length},${transfers.length}`)
})
