import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serveFixture } from '../support/cairn.js'
import { HEAD, TOKEN } from '../support/chains/fixtureChain.js'
import { ask, resultOf } from '../support/rpcClient.js'

/* Cursors from the program: any of its threads takes those that another one gave. */

const { url } = await serveFixture({ after }, ['--scan-threads', '2'])
const filter = { address: TOKEN, fromBlock: '0x0', toBlock: '0x20' }

interface Page {
  logs: unknown[]
  cursor: string | null
}

test('cursors lead through all logs of a filter', async () => {
  const logs: unknown[] = []
  let cursor: string | null = null
  do {
    const page: Page = await resultOf<Page>(url, 'eth_getLogsWithCursor', [filter, cursor, 2])
    logs.push(...page.logs)
    cursor = page.cursor
  } while (cursor !== null)
  assert.ok(logs.length > 4)
  assert.deepEqual(logs, await resultOf(url, 'eth_getLogs', [filter]))
})

test('an altered last block is not believed', async () => {
  const { cursor } = await resultOf<Page>(url, 'eth_getLogsWithCursor', [filter, null, 2])
  const bytes = Buffer.from(cursor!, 'base64url')
  const toBlockAt = 14
  assert.equal(bytes.readUIntBE(toBlockAt, 6), 0x20)
  bytes.writeUIntBE(HEAD, toBlockAt, 6)
  const { error } = await ask(url, 'eth_getLogsWithCursor', [filter, bytes.toString('base64url'), 2])
  assert.equal(error?.code, -32602)
  assert.match(error!.message, /cursor: was altered, or given by another database/)
})
