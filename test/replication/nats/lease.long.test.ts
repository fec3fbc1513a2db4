import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLease } from '../../../src/replication/nats/lease.js'
import { NEEDS_NATS, openLink, startNats } from '../../support/nats/nats.js'

const CHAIN = { chainId: 5n, genesisHash: new Uint8Array(32).fill(7) }
const never = new AbortController().signal

test('a lease that is not renewed goes to another process, and its holder learns of it', NEEDS_NATS, async (t) => {
  const server = await startNats(t)
  // Renewals of this holder never come: its clock stands still for sleeps, as in a process that is stopped.
  const stopped = { nowMs: () => 0, unixMs: () => 0, sleep: () => new Promise<void>(() => {}) }
  const first = (await createLease(await openLink(t, [server]), CHAIN, { holder: 'a', clock: stopped }).acquire(never))!
  const lease = createLease(await openLink(t, [server]), CHAIN, { holder: 'b' })
  await lease.untilFree(never)
  const second = (await lease.acquire(never))!
  assert.ok(second.epoch > first.epoch)
  assert.equal(second.lost.aborted, false)
  await second.release()
})

test('a lease is kept beyond its time to live, and is lost when the servers are gone', NEEDS_NATS, async (t) => {
  const server = await startNats(t)
  const atMs = performance.now()
  const held = (await createLease(await openLink(t, [server]), CHAIN, { holder: 'a' }).acquire(never))!
  const other = createLease(await openLink(t, [server]), CHAIN, { holder: 'b' })
  while (performance.now() - atMs < 7000) {
    assert.equal(await other.acquire(never), undefined)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await server.kill()
  await new Promise((resolve) => held.lost.addEventListener('abort', resolve, { once: true }))
  assert.match(String(held.lost.reason), /could not be renewed in time/)
  await held.release()
})
