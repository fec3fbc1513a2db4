import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { type OpenContext, openContext } from '../../../src/rpc/core/openContext.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { callMethod } from '../../support/compare/traces.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* States of the bundled chain in the order of their tries; test/e2e/gethChain.long.test.ts compares those of random
 * chains with geth. */

interface Dump {
  root: string
  accounts: { [address: string]: { key: string; storage?: { [slot: string]: string } } }
  next?: string
}
interface StoragePage {
  storage: { [hash: string]: { key: string; value: string } } | null
  nextKey: string | null
}

const ALL = 10_000
/** A block of one transaction, before system calls. */
const WITH_TRANSFER = 22
const DIFFERENCE = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }

let opened: OpenContext
let context: RpcContext
let head: number

before(async () => {
  const datadir = temporaryDirectory({ after })
  await importFixture(datadir)
  opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  context = opened.context
  head = context.chain.coverage()!.head
})
after(() => opened.close())

test('pages of accounts and of slots together are the whole state', async () => {
  for (const number of [0, 20, head]) {
    const whole = await dump(number)
    const pages: Dump['accounts'] = {}
    let start: string | undefined = '0x'
    for (let pagesLeft = 100; start !== undefined; pagesLeft--) {
      assert.ok(pagesLeft > 0)
      const page: Dump = await callMethod(context, 'debug_accountRange', [formatQuantity(number), start, 3])
      Object.assign(pages, page.accounts)
      start = page.next
    }
    assert.ok(Object.keys(pages).length > 3)
    assert.deepEqual(pages, whole.accounts)
    assert.equal(`0x${whole.root}`, formatData(context.chain.blockByNumber(number)!.header.stateRoot))
  }
})

test('pages of slots together are the whole storage', async () => {
  let slots = 0
  for (const [contract, { storage = {} }] of Object.entries((await dump(WITH_TRANSFER - 1)).accounts)) {
    const found: { [slot: string]: bigint } = {}
    let start: string | null = '0x'
    for (let pagesLeft = 100; start !== null; pagesLeft--) {
      assert.ok(pagesLeft > 0)
      const params: unknown[] = [formatQuantity(WITH_TRANSFER), 0, contract, start, 2]
      const page: StoragePage = await callMethod(context, 'debug_storageRangeAt', params)
      for (const { key, value } of Object.values(page.storage ?? {})) found[key] = BigInt(value)
      start = page.nextKey
    }
    const expected = Object.entries(storage).map(([slot, value]) => [slot, BigInt(`0x${value}`)])
    assert.deepEqual(found, Object.fromEntries(expected))
    slots += expected.length
  }
  assert.ok(slots > 2)
})

test('storage before a transaction is that before the one before it, with what it changed', async () => {
  let compared = 0
  for (let number = 1; number <= head; number++) {
    const differences = await callMethod<{ result: { pre: State; post: State } }[]>(
      context,
      'debug_traceBlockByNumber',
      [formatQuantity(number), DIFFERENCE],
    )
    for (const [index, { result }] of differences.slice(0, -1).entries()) {
      const { pre, post } = result
      const changed = Object.keys(pre).filter((address) => pre[address].storage || post[address]?.storage)
      for (const address of changed) {
        const expected = await storageBefore(number, index, address)
        for (const slot of Object.keys(pre[address].storage ?? {})) delete expected[slot]
        Object.assign(expected, post[address]?.storage)
        assert.deepEqual(await storageBefore(number, index + 1, address), expected, `block ${number}, ${index + 1}`)
        compared++
      }
    }
  }
  assert.ok(compared >= 3, `${compared} compared`)
})

type State = { [address: string]: { storage?: { [slot: string]: string } } }

async function storageBefore(number: number, index: number, address: string): Promise<{ [slot: string]: string }> {
  const params = [formatQuantity(number), index, address, '0x', ALL]
  const { storage } = await callMethod<StoragePage>(context, 'debug_storageRangeAt', params)
  return Object.fromEntries(Object.values(storage ?? {}).map(({ key, value }) => [key, value]))
}

test('modified accounts are those whose dumps differ', async () => {
  const random = seededRandom(7)
  for (let i = 0; i < 20; i++) {
    const from = random.below(head)
    const to = from + 1 + random.below(head - from)
    const [before, { accounts }] = [(await dump(from)).accounts, await dump(to)]
    const differing = Object.keys(accounts).filter(
      (address) => JSON.stringify(before[address]) !== JSON.stringify(accounts[address]),
    )
    const byHash = differing.sort((a, b) => (accounts[a].key < accounts[b].key ? -1 : 1))
    assert.deepEqual(
      await callMethod(context, 'debug_getModifiedAccountsByNumber', [from, to]),
      byHash.map((address) => address.toLowerCase()),
      `blocks ${from} to ${to}`,
    )
  }
})

test('the last root between transactions is that of the header where nothing follows', async () => {
  let compared = 0
  for (let number = 1; number <= head; number++) {
    const block = context.chain.blockByNumber(number)!
    const { difficulty, withdrawalsRoot, requestsHash, stateRoot } = block.header
    const roots = await callMethod<string[]>(context, 'debug_intermediateRoots', [formatData(block.hash)])
    assert.equal(roots.length, block.txCount)
    if (difficulty > 0n || withdrawalsRoot || requestsHash || roots.length === 0) continue
    assert.equal(roots.at(-1), formatData(stateRoot), `block ${number}`)
    compared++
  }
  assert.ok(compared > 0)
})

function dump(number: number): Promise<Dump> {
  return callMethod<Dump>(context, 'debug_dumpBlock', [formatQuantity(number)])
}
