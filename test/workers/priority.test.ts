import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { test } from 'node:test'
import { serveFixture } from '../support/cairn.js'
import { resultOf } from '../support/rpcClient.js'

test('reader threads give way to the main thread', {
  skip: process.platform !== 'linux' && 'only Linux has a priority for each thread',
}, async (t) => {
  setPriority(getPriority() + 3) // as of a server that is started with `nice`
  const { running, url } = await serveFixture(t)
  // Threads may start after the server says that it is ready; whoever has answered has started.
  await resultOf(url, 'eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x5' }])
  const pid = running.child.pid!
  const priorities = readdirSync(`/proc/${pid}/task`).map((task) => getPriority(Number(task)))
  assert.equal(getPriority(pid), getPriority())
  const expected = Math.min(getPriority() + 10, constants.priority.PRIORITY_LOW)
  assert.ok(priorities.includes(expected), priorities.join(' '))
})
