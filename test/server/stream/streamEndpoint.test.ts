import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startServing } from '../../../src/cli/serving.js'
import type { Dataset } from '../../../src/export/dataset.js'
import { blocks } from '../../../src/export/datasets/blocks.js'
import { logs } from '../../../src/export/datasets/logs.js'
import { transactions } from '../../../src/export/datasets/transactions.js'
import { openExportSource } from '../../../src/export/source.js'
import { formatData } from '../../../src/lib/hex.js'
import { DEFAULT_STREAM_LIMITS, type StreamLimits } from '../../../src/server/stream/streamLimits.js'
import { createApiKeyTable } from '../../../src/store/keys/apiKeys.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { type TextRow, toTextRow } from '../../support/chains/exportedFiles.js'
import { copyDatabase, importFixture } from '../../support/chains/fixtureDatabase.js'
import { endOfFile } from '../../support/endings.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { ask } from '../../support/rpcClient.js'
import { servingOptions } from '../../support/serving.js'
import { ARROW_TYPE, askStream, NDJSON_TYPE, readLines, type StreamAnswer } from '../../support/streamClient.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'

const imported = temporaryDirectory({ after })
const ending = endOfFile()
const exported: { [kind: string]: TextRow[] } = {}
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

before(async () => {
  await importFixture(imported)
  const source = openExportSource(imported)
  const head = source.chain.head()!
  const rowsOf = ({ rows, columns }: Dataset<never>) =>
    [...rows(source, source.rows.links(0, head) as never)].map((row) =>
      toTextRow(
        Object.fromEntries(
          row.map((cell, i) => [columns[i].name, cell instanceof Uint8Array ? formatData(cell) : cell]),
        ),
      ),
    )
  exported.logs = rowsOf(logs as unknown as Dataset<never>)
  exported.transactions = rowsOf(transactions as unknown as Dataset<never>)
  exported.blocks = rowsOf(blocks as unknown as Dataset<never>)
  source.close()
})

/** A server of its own copy of the bundled chain. */
async function serve(
  t: Pick<typeof ending, 'after'>,
  options: { open?: boolean; rateLimitRps?: number; limits?: Partial<StreamLimits> } = {},
) {
  const datadir = copyDatabase(t, imported)
  const { open = true, rateLimitRps = 0, limits } = options
  const stream = { ...DEFAULT_STREAM_LIMITS, ...limits }
  const serving = await startServing({ ...servingOptions(datadir), open, rateLimitRps, stream })
  t.after(() => serving.close())
  await serving.warm()
  const url = `${serving.url}/v3/stream`
  return {
    datadir,
    serving,
    url,
    read: (body: unknown, headers?: Record<string, string>) => askStream(url, body, headers),
  }
}

let shared: ReturnType<typeof serve> | undefined
/** The server of the tests that change neither its database nor its options. */
const serveShared = () => {
  shared ??= serve(ending)
  return shared
}

const within = (rows: readonly TextRow[], from: number, to: number) =>
  rows.filter(({ block_number: number }) => Number(number) >= from && Number(number) <= to)

const placeOf = ({ block_number, log_index }: TextRow) => `${block_number} ${log_index}`

/** True if the row of a log matches a filter. */
function isWanted(row: TextRow, { address, topics = [] }: ReturnType<typeof randomFilter>): boolean {
  const isOneOf = (value: string | null, wanted: string | string[] | null | undefined) =>
    wanted === undefined || wanted === null || wanted.length === 0 || [wanted].flat().includes(value ?? '')
  const own = [row.topic0, row.topic1, row.topic2, row.topic3]
  return isOneOf(row.address, address) && topics.every((wanted, i) => own[i] !== null && isOneOf(own[i], wanted))
}

/** A log filter of values that the chain has, or of none. */
function randomFilter({ below }: SeededRandom): { address?: string | string[]; topics?: (string | string[] | null)[] } {
  const pick = (column: string) => exported.logs[below(exported.logs.length)][column] ?? `0x${'00'.repeat(32)}`
  const some = (column: string) =>
    below(2) === 0 ? pick(column) : Array.from({ length: below(5) }, () => pick(column))
  return {
    ...(below(2) === 0 && { address: some('address') }),
    ...(below(3) > 0 && {
      topics: Array.from({ length: below(4) }, (_, i) => (below(3) === 0 ? null : some(`topic${i}`))),
    }),
  }
}

test('logs of random filters are the rows of cairn export, in each format, and the logs of eth_getLogs', async () => {
  const { url, serving } = await serveShared()
  const random = seededRandom(31)
  const head = exported.blocks.length - 1
  let results = 0
  for (let run = 0; run < (THOROUGH ? 150 : 8); run++) {
    const [a, b] = [random.below(head + 1), random.below(head + 1)]
    const [from, to] = random.below(2) === 0 ? [0, head] : [Math.min(a, b), Math.max(a, b)]
    const filters = Array.from({ length: random.below(3) === 0 ? 1 + random.below(3) : 1 }, () => randomFilter(random))
    const forms = [{ Accept: ARROW_TYPE }, { Accept: ARROW_TYPE, compression: 'zstd' }, { Accept: NDJSON_TYPE }]
    const answers = await Promise.all(
      forms.map(({ Accept, compression }) => askStream(url, { from, to, logs: filters, compression }, { Accept })),
    )
    const expected = within(exported.logs, from, to).filter((row) => filters.some((filter) => isWanted(row, filter)))
    if (filters.length === 1 && expected.length < 10_000) {
      const query = { ...filters[0], fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` }
      const { result } = await ask(serving.url, 'eth_getLogs', [query])
      const places = (result as { blockNumber: string; logIndex: string }[]).map(
        ({ blockNumber, logIndex }) => `${Number(blockNumber)} ${Number(logIndex)}`,
      )
      assert.deepEqual(places, expected.map(placeOf))
    }
    for (const { status, rows, end } of answers) {
      assert.equal(status, 200)
      assert.deepEqual(rows.arrow ?? rows.log ?? [], expected, JSON.stringify(filters))
      assert.equal(end?.nextBlock, to + 1)
    }
    const [plain, compressed] = answers
    if (expected.length > 500) assert.ok(compressed.sizeBytes < plain.sizeBytes / 2, `${compressed.sizeBytes}`)
    results += expected.length
  }
  assert.ok(results > 1_000, `${results}`)
})

test('transactions and blocks are the rows of cairn export', async () => {
  const { read } = await serveShared()
  const Accept = ARROW_TYPE
  assert.deepEqual((await read({ from: 0, blocks: true }, { Accept })).rows.arrow, exported.blocks)
  assert.deepEqual((await read({ from: 0, transactions: [{}] }, { Accept })).rows.arrow, exported.transactions)
  const random = seededRandom(32)
  const pick = (column: string, own: (text: string) => boolean = () => true) => {
    const values = exported.transactions.flatMap((row) =>
      row[column] === null || !own(row[column]) ? [] : [row[column]],
    )
    return values[random.below(values.length)]
  }
  let results = 0
  for (let run = 0; run < (THOROUGH ? 30 : 10); run++) {
    const from = Array.from({ length: 1 + random.below(run % 5 === 0 ? 20 : 2) }, () => pick('from_address'))
    const to = pick('to_address')
    const selector = pick('input', (input) => input.length >= 10).slice(0, 10)
    const filters = [{ from, to }, { from }, { to, selector }, { selector: [selector] }, { to: [] }]
    const wanted = Array.from({ length: 1 + random.below(2) }, () => filters[random.below(filters.length)])
    const matches = (row: TextRow) =>
      wanted.some(
        (each) =>
          (!('from' in each) || each.from!.includes(row.from_address!)) &&
          (!('to' in each) || each.to!.length === 0 || each.to === row.to_address) &&
          (!('selector' in each) || row.input!.startsWith(selector)),
      )
    const expected = exported.transactions.filter(matches)
    assert.deepEqual((await read({ from: 0, transactions: wanted })).rows.transaction ?? [], expected)
    results += expected.length
  }
  assert.ok(results > 300, `${results}`)
})

test('NDJSON has all kinds in one response, each in block order, and only the wanted columns', async () => {
  const { read } = await serveShared()
  const body = { from: 10, to: 60, blocks: true, transactions: [{}], logs: [{}] }
  const { rows, headers, end } = await read(body)
  assert.equal(headers.get('content-type'), NDJSON_TYPE)
  assert.equal(headers.get('cairn-head'), String(exported.blocks.length - 1))
  for (const kind of ['blocks', 'transactions', 'logs']) {
    assert.deepEqual(rows[kind.slice(0, -1)], within(exported[kind], 10, 60), kind)
  }
  const head = exported.blocks[exported.blocks.length - 1]
  assert.deepEqual(end?.head, {
    number: exported.blocks.length - 1,
    hash: head.block_hash,
    finalized: exported.blocks.length - 1,
  })
  const last = end?.recent.at(-1)
  assert.deepEqual(last, { number: 60, hash: exported.blocks[60].block_hash })
  assert.equal(end?.recent[0].number, 0)
  const fields = { logs: ['data', 'block_number'], blocks: ['gas_used'] }
  const narrow = await read({ from: 10, to: 60, blocks: true, logs: [{}], fields })
  assert.deepEqual(narrow.rows.log.map(Object.keys)[0], ['block_number', 'data'])
  assert.deepEqual(
    narrow.rows.block.map(({ gas_used }) => gas_used),
    within(exported.blocks, 10, 60).map(({ gas_used }) => gas_used),
  )
  const arrow = await read({ from: 10, to: 60, logs: [{}], fields: { logs: ['topic2'] } }, { Accept: ARROW_TYPE })
  assert.deepEqual(
    arrow.rows.arrow,
    within(exported.logs, 10, 60).map(({ topic2 }) => ({ topic2 })),
  )
})

test('a bounded response says where to resume, and all of them together are the whole', async () => {
  const { read } = await serveShared()
  for (const Accept of [ARROW_TYPE, NDJSON_TYPE]) {
    const found: TextRow[] = []
    let responses = 0
    let recent: unknown
    for (let from = 0; from < exported.blocks.length; responses++) {
      const answer: StreamAnswer = await read(
        { from, logs: [{}], transactions: undefined, maxBytes: 100_000, ...(recent ? { recent } : {}) },
        { Accept },
      )
      found.push(...(answer.rows.arrow ?? answer.rows.log ?? []))
      assert.ok(answer.end!.nextBlock > from)
      from = answer.end!.nextBlock
      recent = answer.end!.recent
    }
    assert.deepEqual(found, exported.logs)
    assert.ok(responses > 4, `${responses}`)
  }
  const past = await read({ from: 5_000_000, logs: [{}] }, { Accept: ARROW_TYPE })
  assert.deepEqual([past.status, past.rows.arrow, past.end!.nextBlock], [200, [], 5_000_000])
})

test('each invalid member is refused by its name, with what would work', async () => {
  const { read } = await serveShared()
  const refuse = async (
    body: unknown,
    message: RegExp,
    { status = 400, ...headers }: Record<string, never> & { status?: number } = {},
  ) => {
    const answer = await read(body, headers)
    assert.deepEqual([answer.status, message.test(answer.error ?? '')], [status, true], answer.error)
  }
  await refuse('{', /^body: expected JSON such as \{"from": 0/)
  await refuse([], /^body: expected an object, got an array of 0$/)
  await refuse({ logs: [{}] }, /^body\.from: missing$/)
  await refuse(
    { from: -1, logs: [{}] },
    /^body\.from: expected a block number such as 17000000 or "0x1036640", got -1$/,
  )
  await refuse({ from: 'latest', logs: [{}] }, /^body\.from: expected a block number .*got "latest"$/)
  await refuse({ from: 9, to: 3, logs: [{}] }, /^body\.to: expected at least from, 9, got 3$/)
  await refuse({ from: 0 }, /^body: expected logs, transactions or blocks.*got none$/)
  await refuse({ from: 0, logs: [] }, /^body\.logs: expected an array such as .*got an array of 0$/)
  await refuse(
    { from: 0, logs: [{ adress: '0x' }] },
    /^body\.logs\[0\]: unknown member "adress" \(did you mean address\?\)$/,
  )
  await refuse(
    { from: 0, logs: [{ address: '0x12' }] },
    /^body\.logs\[0\]\.address: expected 20-byte data, got "0x12"$/,
  )
  await refuse(
    { from: 0, logs: [{ topics: ['0x12'] }] },
    /^body\.logs\[0\]\.topics\[0\]: expected 32-byte data, got "0x12"$/,
  )
  await refuse(
    { from: 0, logs: [{ topics: [null, null, null, null, null] }] },
    /^body\.logs\[0\]\.topics: expected at most 4 topics/,
  )
  await refuse(
    { from: 0, logs: Array(101).fill({}) },
    /^body\.logs: expected an array of at most 100, got an array of 101$/,
  )
  const topics = [Array.from({ length: 5_001 }, () => TRANSFER)]
  await refuse(
    { from: 0, logs: [{ topics }] },
    /^body: expected at most 5000 addresses, topics and selectors.*got 5001; make several/,
  )
  await refuse(
    { from: 0, transactions: [{ selector: '0x12' }] },
    /^body\.transactions\[0\]\.selector: expected a selector of 4 bytes/,
  )
  await refuse({ from: 0, blocks: 1 }, /^body\.blocks: expected true or false, got 1$/)
  await refuse(
    { from: 0, logs: [{}], fields: { logs: ['topic4'] } },
    /^body\.fields\.logs\[0\]: expected a column of logs: block_number.*got "topic4".*did you mean/,
  )
  await refuse(
    { from: 0, logs: [{}], fields: { blocks: ['size'] } },
    /^body\.fields\.blocks: expected columns of logs only$/,
  )
  await refuse(
    { from: 0, logs: [{}], maxBytes: 0 },
    /^body\.maxBytes: expected a whole number from 1 to 4294967296, got 0$/,
  )
  await refuse({ from: 0, logs: [{}], compression: 'zstd' }, /^body\.compression: of Arrow alone; accept application/)
  const gzip = await read({ from: 0, logs: [{}], compression: 'gzip' }, { Accept: ARROW_TYPE })
  assert.deepEqual([gzip.status, gzip.error], [400, 'body.compression: expected "zstd", got "gzip"'])
  const ref = (number: number) => ({ number, hash: TRANSFER })
  await refuse(
    { from: 5, logs: [{}], recent: [ref(3), ref(5)] },
    /^body\.recent\[1\]\.number: expected less than from, 5, got 5$/,
  )
  await refuse(
    { from: 5, logs: [{}], recent: [ref(3), ref(2)] },
    /^body\.recent\[0\]\.number: expected less than the next one, 2, got 3$/,
  )
  const arrow = await read({ from: 0, logs: [{}], blocks: true }, { Accept: ARROW_TYPE })
  assert.match(
    arrow.error!,
    /^body: an Arrow stream has one kind of rows, got blocks and logs; make a request for each/,
  )
  const html = await read({ from: 0, logs: [{}] }, { Accept: 'text/html' })
  assert.deepEqual([html.status, /^Accept: expected .*got "text\/html"$/.test(html.error!)], [406, true])
  const type = await read({ from: 0, logs: [{}] }, { 'Content-Type': 'text/plain' })
  assert.equal(type.status, 415)
  assert.equal((await read(`{"from":0,"x":"${'x'.repeat(1_100_000)}"}`)).status, 413)
})

test('a reorg between two requests and in the middle of a response names the first block to read again', async (t) => {
  const { datadir, read, url } = await serve(t, { limits: { bytesPerSecond: 1_500_000 } })
  const db = openForWriting(datadir)
  t.after(() => void db.close())
  const replace = (from: number) =>
    db.prepare("UPDATE blocks SET hash = CAST(printf('%032d', number) AS BLOB) WHERE number >= ?").run(from)
  const first = await read({ from: 0, to: 60, logs: [{}] })
  const { recent, nextBlock } = first.end!
  assert.equal((await read({ from: nextBlock, to: 61, logs: [{}], recent })).status, 200)
  replace(55)
  const forked = await read({ from: nextBlock, logs: [{}], recent })
  assert.equal(forked.status, 409)
  assert.match(forked.error!, /reorganised; drop all rows from block 55 on, and resume there$/)
  assert.deepEqual([forked.end!.nextBlock, forked.end!.recent.at(-1)!.number], [55, 54])
  assert.equal((await read({ from: 55, to: 56, logs: [{}], recent: forked.end!.recent })).status, 200)
  const unknown = [{ number: 3, hash: TRANSFER }]
  assert.equal((await read({ from: 4, logs: [{}], recent: unknown })).end!.nextBlock, 0)
  // At this rate the whole chain takes seconds, in slices of some blocks.
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ from: 0, blocks: true, logs: [{}] }),
  })
  const reader = response.body!.getReader()
  let text = ''
  let isReplaced = false
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const added = Buffer.from(part.value).toString('latin1')
    text += added
    // Of a part of many rows, one has the number whole.
    if (isReplaced || !/"block_number":2\d,/.test(added)) continue
    db.prepare("UPDATE blocks SET hash = CAST(printf('%032d', number + 500) AS BLOB) WHERE number >= 12").run()
    isReplaced = true
  }
  const { end, rows } = readLines(text)
  // Earlier than the first replaced block if that is not among the recent ones.
  assert.ok(end!.nextBlock > 5 && end!.nextBlock <= 12, `${end!.nextBlock}`)
  assert.ok(rows.block.length > 20 && rows.block.length < exported.blocks.length, `${rows.block.length}`)
  assert.deepEqual(rows.block.slice(0, end!.nextBlock), exported.blocks.slice(0, end!.nextBlock))
})

test('finalizedOnly ends at the newest finalized block', async (t) => {
  const { datadir, read } = await serve(t)
  const db = openForWriting(datadir)
  db.prepare(
    "INSERT INTO meta (key, value) VALUES ('finality', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  ).run(JSON.stringify({ safe: 50, finalized: 40 }))
  db.close()
  const { end, rows } = await read({ from: 30, blocks: true, finalizedOnly: true })
  assert.deepEqual([end!.nextBlock, end!.head!.finalized, rows.block.length], [41, 40, 11])
  assert.equal((await read({ from: 41, blocks: true, finalizedOnly: true })).end!.nextBlock, 41)
})

test('keys, their limits, and the number of streams', async (t) => {
  const { datadir, serving } = await serve(t, { open: false, limits: { streams: 2 } })
  const db = openForWriting(datadir)
  const keys = createApiKeyTable(db)
  const all = keys.create('all')
  const noLogs = keys.create('no logs', { methods: ['!logs'] })
  const noBulk = keys.create('no bulk', { methods: ['!bulk'] })
  const onlyLogs = keys.create('only logs', { methods: ['logs'] })
  db.close()
  const statusOf = async (path: string, body: object = { from: 0, to: 3, logs: [{}] }, headers = {}) =>
    (await askStream(serving.url + path, body, headers)).status
  assert.equal(await statusOf('/v3/stream'), 401)
  assert.equal(await statusOf('/v3/ffffffffffffffffffffffffffffffff/stream'), 401)
  assert.equal(await statusOf(`/v3/${all.key}/stream`), 200)
  assert.equal(await statusOf('/v3/stream', undefined, { Authorization: `Bearer ${all.key}` }), 200)
  assert.equal(await statusOf(`/v3/${noBulk.key}/stream`), 403)
  assert.equal(await statusOf(`/v3/${noLogs.key}/stream`), 403)
  assert.equal(await statusOf(`/v3/${noLogs.key}/stream`, { from: 0, blocks: true }), 200)
  assert.equal(await statusOf(`/v3/${onlyLogs.key}/stream`), 200)
  assert.equal(await statusOf(`/v3/${onlyLogs.key}/stream`, { from: 0, blocks: true }), 403)
  assert.equal((await fetch(`${serving.url}/v3/${all.key}/stream`)).status, 405)
})

test('a client that reads slowly gets everything, keeps one stream, and holds no snapshot', async (t) => {
  const { url, read } = await serve(t, { limits: { streams: 2, bytesPerSecond: 2_000_000 } })
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ from: 0, blocks: true, transactions: [{}], logs: [{}] }),
  })
  const second = await read({ from: 0, logs: [{}] })
  assert.deepEqual([second.status, second.headers.get('retry-after')], [503, '1'])
  assert.match(second.error!, /^1 streams of this client run already; try again$/)
  const text = await response.text()
  const lines = text.trimEnd().split('\n')
  const count = exported.logs.length + exported.transactions.length + exported.blocks.length
  assert.equal(lines.length, count + 1)
  assert.equal((await read({ from: 0, to: 0, logs: [{}] })).status, 200)
})

test('damage is an error before the first row, and cuts the response off after it; never rows that lack some', async (t) => {
  const { datadir, read, url } = await serve(t, { limits: { bytesPerSecond: 3_000_000 } })
  const db = openForWriting(datadir)
  t.after(() => void db.close())
  const late = exported.logs[exported.logs.length - 1]
  const from = Number(late.block_number)
  db.prepare('DELETE FROM transactions WHERE hash = ?').run(Buffer.from(late.transaction_hash!.slice(2), 'hex'))
  const refused = await read({ from, logs: [{}] }, { Accept: ARROW_TYPE })
  assert.deepEqual([refused.status, refused.error], [500, 'internal error'])
  assert.equal((await read({ from: 0, to: from - 1, logs: [{}], fields: { logs: ['data'] } })).status, 200)
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ from: 0, logs: [{}] }),
  })
  assert.equal(response.status, 200)
  await assert.rejects(response.text(), /terminated/)
})
