import assert from 'node:assert/strict'
import { renameSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import { createApiKeyTable } from '../../src/store/keys/apiKeys.js'
import { DATABASE_FILE } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { startCairn } from '../support/cairn.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { copyDatabase, importFixture } from '../support/chains/fixtureDatabase.js'
import { request } from '../support/serving.js'
import { temporaryDirectory } from '../support/temporary.js'

const whole = temporaryDirectory({ after })
let key: string
before(async () => {
  await importFixture(whole)
  const db = openForWriting(whole)
  key = createApiKeyTable(db).create('client').key
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
})

interface Answer {
  readonly status: number
  readonly body: string
}

/** Asks again until the answer is as wanted; gives up with what came last. */
async function until(url: string, isWanted: (answer: Answer) => boolean): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    const response = await fetch(url)
    const answer = { status: response.status, body: await response.text() }
    if (isWanted(answer) || tries > 400) return answer
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

const has = (status: number) => (answer: Answer) => answer.status === status

const CALLS = [
  request('eth_blockNumber'),
  request('eth_getBlockByNumber', '0x20', true),
  request('eth_getLogs', { fromBlock: '0x1', toBlock: '0x30' }),
]

test('a database that is cut while it is served does not end the server', async (t) => {
  const datadir = copyDatabase(t, whole)
  const server = await startCairn(t, ['--datadir', datadir, '--metrics', '--scan-threads', '1', '--evm-threads', '1'])
  const post = async (body: object) => {
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(`${server.url}/v3/${key}`, { method: 'POST', body: JSON.stringify(body), headers })
    return { status: response.status, text: await response.text() }
  }
  assert.equal((await until(`${server.url}/ready`, has(200))).status, 200)
  // The last thread has read what it warms up with: a cut while a page is being read ends the process, since the file
  // is mapped.
  const spare = 'cairn_threads{class="spare",state="idle"} 1'
  const metrics = await until(`${server.url}/metrics`, ({ body }) => body.includes(spare))
  assert.ok(metrics.body.includes(spare))
  const socket = new WebSocket(`${server.socketUrl}/ws/v3/${key}`)
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  truncateSync(join(datadir, DATABASE_FILE), 0)

  const ready = await until(`${server.url}/ready`, has(503))
  assert.equal(ready.status, 503)
  assert.match(ready.body, /^\{"ready":false,"error":".+","problem":null\}$/)
  assert.equal((await fetch(`${server.url}/health`)).status, 503)
  for (const call of CALLS) {
    const { status, text } = await post(call)
    assert.equal(status, 503)
    assert.match(text, /"code":-32603,"message":"internal error"/)
  }
  // The key poll comes every second: it must have met the error, more than once, before the server ends.
  await server.running.waitFor('stderr', /the database cannot be read/)
  await new Promise((resolve) => setTimeout(resolve, 2200))
  socket.close()
  const { stderr } = await server.stop()
  assert.equal(stderr.match(/"the database cannot be read"/g)?.length, 1, 'logged once')
})

test('a database that is replaced or removed is served on, and the server says that it is not ready', async (t) => {
  const datadir = copyDatabase(t, whole)
  const server = await startCairn(t, ['--datadir', datadir, '--open', '--scan-threads', '1', '--evm-threads', '1'])
  assert.equal((await until(`${server.url}/ready`, has(200))).status, 200)
  const path = join(datadir, DATABASE_FILE)
  renameSync(join(copyDatabase(t, whole), DATABASE_FILE), path)
  const replaced = await until(`${server.url}/ready`, has(503))
  assert.match(replaced.body, /was replaced; restart the server to serve the new file/)
  rmSync(path)
  assert.match((await until(`${server.url}/ready`, has(503))).body, /"ready":false/)
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(server.url, { method: 'POST', body: JSON.stringify(CALLS[0]), headers })
  assert.match(await answer.text(), new RegExp(`"result":"0x${HEAD.toString(16)}"`))
})
