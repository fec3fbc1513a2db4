import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLease } from '../../../src/replication/nats/lease.js'
import { NEEDS_NATS, openLink, startNats } from '../../support/nats/nats.js'

const CHAIN = { chainId: 5n, genesisHash: new Uint8Array(32).fill(7) }
const never = new AbortController().signal

test('one process has the lease; released, it is free at once, with a higher epoch', NEEDS_NATS, async (t) => {
  const server = await startNats(t)
  const [a, b] = await Promise.all(
    ['a', 'b'].map(async (holder) => createLease(await openLink(t, [server]), CHAIN, { holder })),
  )
  const first = (await a.acquire(never))!
  assert.equal(await b.holder(), 'a')
  assert.equal(await b.acquire(never), undefined)
  await first.release()
  assert.equal(await b.holder(), undefined)
  await b.untilFree(never)
  const second = (await b.acquire(never))!
  assert.ok(second.epoch > first.epoch)
  assert.equal(await a.acquire(never), undefined)
  await second.release()
})

test('the epoch is higher than any that is known, also in a new bucket', NEEDS_NATS, async (t) => {
  const server = await startNats(t)
  const held = (await createLease(await openLink(t, [server]), CHAIN, { holder: 'a' }).acquire(never, 1000))!
  assert.ok(held.epoch > 1000)
  await held.release()
})
