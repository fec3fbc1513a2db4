import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { startServing } from '../../../src/cli/serving.js'
import { DEFAULT_SQL_LIMITS, type SqlLimits } from '../../../src/server/sql/sqlLimits.js'
import { createAddedAbiTable } from '../../../src/store/addedAbis.js'
import { createApiKeyTable } from '../../../src/store/keys/apiKeys.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { copyDatabase, importFixture } from '../../support/chains/fixtureDatabase.js'
import { endOfFile } from '../../support/endings.js'
import { servingOptions } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'

const imported = temporaryDirectory({ after })
before(() => importFixture(imported))
const ending = endOfFile()

const ENDLESS = 'WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'

interface Answer {
  status: number
  type: string | null
  text: string
  retryAfter: string | null
}

/** A server with SQL and a function that queries it. */
async function serve(
  t: Pick<typeof ending, 'after'>,
  limits: Partial<SqlLimits> = {},
  options: { open?: boolean; rateLimitRps?: number } = {},
) {
  const datadir = copyDatabase(t, imported)
  const { open = true, rateLimitRps = 0 } = options
  const sql = { ...DEFAULT_SQL_LIMITS, processes: 1, ...limits }
  const serving = await startServing({ ...servingOptions(datadir), open, rateLimitRps, sql })
  t.after(() => serving.close())
  const query = async (body: string | object, headers: Record<string, string> = {}, path = '/sql'): Promise<Answer> => {
    const type = typeof body === 'string' ? 'text/plain' : 'application/json'
    const response = await fetch(serving.url + path, {
      method: 'POST',
      headers: { 'Content-Type': type, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const { status, headers: given } = response
    const text = await response.text()
    return { status, type: given.get('content-type'), text, retryAfter: given.get('retry-after') }
  }
  return { datadir, url: serving.url, query }
}

let shared: ReturnType<typeof serve> | undefined
/** The server of the tests that need no options of their own. */
const serveShared = () => {
  shared ??= serve(ending)
  return shared
}

const rowsOf = ({ text }: Answer) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as object)
const errorOf = ({ text }: Answer) => (JSON.parse(text) as { error: string }).error

test('answers in NDJSON or CSV', async () => {
  const { query } = await serveShared()
  const sql = `SELECT 1 AS a, 'x"y' AS b, NULL AS c, x'01ff' AS d, 9007199254740993 AS e, 1.5 AS f`
  const plain = await query(sql)
  assert.deepEqual([plain.status, plain.type], [200, 'application/x-ndjson'])
  assert.deepEqual(rowsOf(plain), [{ a: 1, b: 'x"y', c: null, d: '0x01ff', e: '9007199254740993', f: 1.5 }])
  const csv = 'a,b,c,d,e,f\n1,"x""y",,0x01ff,9007199254740993,1.5\n'
  assert.equal((await query(sql, { Accept: 'text/csv' })).text, csv)
  assert.equal((await query({ query: sql, format: 'csv' })).text, csv)
  assert.equal((await query({ query: 'SELECT 1 AS a WHERE 0', format: 'csv' })).text, 'a\n')
  const counted = await query('SELECT block_number, log_index FROM v_logs')
  assert.equal(rowsOf(counted).length, 10_553)
})

test('a query ends after the most rows; a response with an end is whole, and says why there are no more', async (t) => {
  const { query } = await serve(t, { maxRows: 600 })
  assert.equal((await query({ query: 'SELECT 1 AS a', end: true })).text, '{"a":1}\n{"end":{}}\n')
  assert.equal((await query({ query: 'SELECT 1 AS a WHERE 0', end: true })).text, '{"end":{}}\n')
  const rows = rowsOf(await query({ query: 'SELECT block_number FROM v_logs', end: true }))
  const error = 'more than 600 rows; add a LIMIT or narrow the query'
  assert.deepEqual([rows.length, rows.at(-1)], [501, { end: { error } }])
  assert.equal(errorOf(await query({ query: 'SELECT 1', end: 1 })), 'end: expected a boolean, got 1')
  const csv = await query({ query: 'SELECT 1', end: true, format: 'csv' })
  assert.equal(errorOf(csv), 'end: expected false with format csv')
  const series = (rows: number) =>
    `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT i FROM n`
  assert.equal(rowsOf(await query(series(600))).length, 600)
  const few = await query(series(601)).catch((error: Error) => error)
  assert.ok(few instanceof Error, 'the response is cut off')
})

test('is off unless asked for', async (t) => {
  const serving = await startServing({ ...servingOptions(copyDatabase(t, imported)), open: true })
  t.after(() => serving.close())
  const { status } = await fetch(`${serving.url}/sql`, { method: 'POST', body: 'SELECT 1' })
  assert.equal(status, 404)
})

test('says what is wrong with a request', async () => {
  const { query, url } = await serveShared()
  assert.deepEqual(await query('SELEC 1').then((answer) => [answer.status, errorOf(answer)]), [
    400,
    "query: expected SELECT, WITH, VALUES or EXPLAIN, got 'SELEC'",
  ])
  assert.match(errorOf(await query('SELECT nonsense')), /no such column: nonsense/)
  assert.match(errorOf(await query({ query: 7 })), /query: expected a string/)
  assert.match(errorOf(await query({ query: 'SELECT 1', format: 'xml' })), /format: expected ndjson or csv, got "xml"/)
  assert.equal((await query('SELECT 1', { 'Content-Type': 'image/png' })).status, 415)
  assert.equal((await fetch(`${url}/sql`)).status, 405)
  assert.equal((await query(`SELECT '${'x'.repeat(1_000_000)}'`)).status, 413)
  assert.match(errorOf(await query(`SELECT '${'x'.repeat(200_000)}'`)), /at most 100000 characters/)
  assert.equal((await query('SELECT 1', { Origin: 'https://evil.example', 'Content-Type': 'text/plain' })).status, 200)
})

test('only reads, and no files or settings', async () => {
  const { query, datadir } = await serveShared()
  const other = join(datadir, 'other.db')
  const refused = [
    'DELETE FROM logs',
    'WITH x AS (SELECT 1) DELETE FROM logs',
    `ATTACH '${other}' AS other`,
    `VACUUM INTO '${other}'`,
    'PRAGMA query_only = 0',
    'PRAGMA writable_schema = 1',
    '/* SELECT */ PRAGMA hard_heap_limit = 0',
    'CREATE TABLE x (y)',
    'CREATE TEMP TABLE x (y)',
    "SELECT load_extension('x')",
    "SELECT readfile('/etc/passwd')",
    'SELECT * FROM dbstat',
    'SELECT * FROM "pragma_database_list"',
    'SELECT 1; SELECT 2',
    'BEGIN',
    '',
  ]
  for (const sql of refused) assert.equal((await query(sql)).status, 400, sql)
  assert.equal(existsSync(other), false)
  assert.deepEqual(rowsOf(await query('/* c */ -- d\n SELECT 1 AS a')), [{ a: 1 }])
  assert.equal((await query('EXPLAIN QUERY PLAN SELECT * FROM v_logs')).status, 200)
})

test('hides API keys and the cursor secret, however a query names them', async () => {
  const { query, datadir } = await serveShared()
  const db = openForWriting(datadir)
  createApiKeyTable(db).create('somebody')
  db.close()
  const secret = [
    'SELECT * FROM api_keys',
    'SELECT name FROM main."api_keys"',
    'SELECT * FROM [API_KEYS] LIMIT 1',
    'SELECT count(*) FROM api_keys',
    'SELECT 1 WHERE EXISTS (SELECT 1 FROM api_keys)',
    'SELECT (SELECT max(hash) FROM api_keys INDEXED BY api_keys_by_hash)',
    'WITH k AS (SELECT * FROM api_keys) SELECT * FROM k',
    'SELECT * FROM v_blocks LEFT JOIN api_keys ON id = number',
    "SELECT number FROM v_blocks WHERE 1 = (SELECT count(*) FROM api_keys WHERE name LIKE 's%')",
    'SELECT * FROM meta',
    "SELECT value FROM meta WHERE key = 'cursor_secret'",
    'SELECT 1 UNION SELECT id FROM api_keys',
    'VALUES ((SELECT name FROM api_keys))',
  ]
  for (const sql of secret) {
    const answer = await query(sql)
    assert.equal(answer.status, 400, `${sql}: ${answer.text}`)
    assert.match(errorOf(answer), /the table (api_keys|meta) cannot be queried/)
  }
})

test('ends a query at the time limit, and answers the next one', async (t) => {
  const { query } = await serve(t, { timeoutMs: 300 })
  const slow = await query(ENDLESS)
  assert.deepEqual([slow.status, errorOf(slow)], [400, 'the query took longer than 0.3 s'])
  assert.equal((await query('SELECT 1 AS a')).status, 200)
})

test('ends a query that needs too much memory, and answers the next one', async (t) => {
  const { query } = await serve(t, { memoryBytes: 256 * 2 ** 20 })
  const series = 'WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n)'
  const big = await query(`${series} SELECT * FROM (SELECT hex(zeroblob(1000)) || i AS h FROM n) ORDER BY h`)
  assert.equal(big.status, 400, big.text)
  assert.match(errorOf(big), /the query needs too much memory/)
  assert.equal((await query('SELECT 1 AS a')).status, 200)
})

test('refuses more queries than there are processes, and frees the process of a client that leaves', async () => {
  const { query, url } = await serveShared()
  let leaving = ask()
  function ask() {
    const asking = httpRequest(`${url}/sql`, { method: 'POST', headers: { 'Content-Type': 'text/plain' } })
    asking.on('error', () => {})
    // Refused, as the query beside it was first.
    asking.on('response', (response) => {
      response.resume()
      leaving = ask()
    })
    asking.end(ENDLESS)
    return asking
  }
  const until = async (status: number) => {
    for (;;) {
      const answer = await query('SELECT 1 AS a')
      if (answer.status === status) return answer
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  assert.equal((await until(503)).retryAfter, '1')
  leaving.destroy()
  await until(200)
})

/** A database for keys, and its table of them. */
function changeKeys<T>(datadir: string, change: (keys: ReturnType<typeof createApiKeyTable>) => T): T {
  const db = openForWriting(datadir)
  try {
    return change(createApiKeyTable(db))
  } finally {
    db.close()
  }
}

/** Begins a query that streams rows for ever. @returns its response once the first row has come */
async function streamRows(t: TestContext, url: string): Promise<IncomingMessage> {
  const asking = httpRequest(url, { method: 'POST', headers: { 'Content-Type': 'text/plain' } })
  asking.on('error', () => {})
  t.after(() => asking.destroy())
  asking.end('WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob(500)) FROM n')
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  await once(response, 'readable')
  return response
}

test('a query ends when its key is revoked, whether it is read or not', async (t) => {
  const { datadir, url } = await serve(t, { processes: 3, maxRows: 1e12, timeoutMs: 600_000 }, { open: false })
  const { id, key } = changeKeys(datadir, (keys) => keys.create('mine'))
  const [read, unread] = [await streamRows(t, `${url}/sql/${key}`), await streamRows(t, `${url}/sql/${key}`)]
  const ended = [read, unread].map((response) => {
    response.on('error', () => {})
    return new Promise((resolve) => response.once('close', resolve))
  })
  read.resume()
  changeKeys(datadir, (keys) => keys.revoke(id))
  await ended[0]
  unread.resume()
  await ended[1]
})

test('one key leaves a process to others, and its calls at once are limited', async (t) => {
  const { datadir, url, query } = await serve(t, { processes: 3, maxRows: 1e12 }, { open: false })
  const keyOf = (limits = {}) => changeKeys(datadir, (keys) => keys.create('n', limits)).key
  const [greedy, limited, other] = [keyOf(), keyOf({ maxConcurrent: 1 }), keyOf()]
  const ask = (key: string) => query('SELECT 1 AS a', {}, `/sql/${key}`)
  const own = await streamRows(t, `${url}/sql/${limited}`)
  const second = await ask(limited)
  assert.deepEqual([second.status, errorOf(second)], [429, 'too many requests under way'])
  own.destroy()
  while ((await ask(limited)).status !== 200);
  for (let i = 0; i < 2; i++) await streamRows(t, `${url}/sql/${greedy}`)
  const third = await ask(greedy)
  assert.deepEqual([third.status, errorOf(third)], [503, '2 queries of this client run already; try again'])
  assert.equal((await ask(other)).status, 200)
})

test('a row has at most 16 million characters, and a long one comes in pieces, whole', async () => {
  const { query } = await serveShared()
  const wide = await query('SELECT zeroblob(8000001) AS b')
  assert.equal(wide.status, 400)
  const message = 'row 1 has 16000002 characters, the limit is 16000000; select fewer or shorter columns'
  assert.equal(errorOf(wide), message)
  const text = await query("SELECT replace(hex(zeroblob(1300001)), '00', '\u{1f600}') AS t, 'end' AS e")
  assert.deepEqual(rowsOf(text), [{ t: '\u{1f600}'.repeat(1_300_001), e: 'end' }])
})

test('takes the key from the path or the headers, and limits its rate', async (t) => {
  const { query, datadir } = await serve(t, {}, { open: false, rateLimitRps: 2 })
  const db = openForWriting(datadir)
  const { key } = createApiKeyTable(db).create('mine')
  db.close()
  assert.equal((await query('SELECT 1')).status, 401)
  assert.equal((await query('SELECT 1', {}, '/sql/0123456789abcdef0123456789abcdef')).status, 401)
  assert.equal((await query('SELECT 1', {}, `/sql/${key}`)).status, 200)
  assert.equal((await query('SELECT 1', { 'X-API-Key': key })).status, 200)
  const answers = await Promise.all(Array.from({ length: 8 }, () => query('SELECT 1', {}, `/sql/${key}`)))
  const limited = answers.find(({ status }) => status === 429)
  assert.ok(limited?.retryAfter, `no answer is 429: ${answers.map(({ status }) => status)}`)
})

test('a key whose methods do not name sql may not query', async (t) => {
  const { query, datadir } = await serve(t, {}, { open: false })
  const db = openForWriting(datadir)
  const keys = createApiKeyTable(db)
  const made = ['eth_*', 'eth_*,sql', '!sql', '!debug_*'].map((methods) => {
    return keys.create(methods, { methods: methods.split(',') }).key
  })
  db.close()
  const answers = await Promise.all(made.map((key) => query('SELECT 1', {}, `/sql/${key}`)))
  const refused = 'this API key may not query: its methods do not include sql'
  assert.deepEqual(
    answers.map((answer) => (answer.status === 403 ? errorOf(answer) : 'allowed')),
    [refused, 'allowed', refused, 'allowed'],
  )
})

test('refuses queries of pages that may not call', async (t) => {
  const datadir = copyDatabase(t, imported)
  const sql = { ...DEFAULT_SQL_LIMITS, processes: 1 }
  const serving = await startServing({ ...servingOptions(datadir), open: true, cors: [], sql })
  t.after(() => serving.close())
  const ask = (origin: string) =>
    fetch(`${serving.url}/sql`, { method: 'POST', body: 'SELECT 1', headers: { Origin: origin } })
  assert.equal((await ask('https://evil.example')).status, 403)
  assert.equal((await ask(serving.url)).status, 200)
})

test('has a view for each event of an added ABI, also of one added later', async () => {
  const { query, datadir } = await serveShared()
  const inputs = ['number', 'caller', 'seed'].map((name) => {
    return { name, type: name === 'caller' ? 'address' : 'uint256', indexed: true }
  })
  const db = openForWriting(datadir)
  createAddedAbiTable(db).add({
    name: 'Emitter',
    address: undefined,
    json: JSON.stringify([{ type: 'event', name: 'Numbered', inputs }]),
  })
  db.close()
  const [first] = rowsOf(await query('SELECT * FROM v_event_emitter_numbered LIMIT 1')) as {
    [column: string]: unknown
  }[]
  assert.deepEqual(Object.keys(first).slice(-4), ['address', 'number', 'caller', 'seed'])
  assert.match(String(first.caller), /^0x[0-9a-f]{40}$/)
  assert.match(String(first.seed), /^\d+$/)
  const counts =
    await query(`SELECT (SELECT count(*) FROM v_event_emitter_numbered) AS decoded, (SELECT count(*) FROM v_logs
    WHERE topic0 = '0xf08e32ff64450cca5b8aec304231bfac198b40944b7058df408baf6979d9f30a' AND topic3 IS NOT NULL) AS stored`)
  const [{ decoded, stored }] = rowsOf(counts) as { decoded: number; stored: number }[]
  assert.equal(decoded, stored)
})
