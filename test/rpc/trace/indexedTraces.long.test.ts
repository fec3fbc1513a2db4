import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Fork } from '../../../src/chain/eth/forks/rules.js'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { type OpenContext, openContext } from '../../../src/rpc/core/openContext.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { fillTraces } from '../../../src/sync/fillTraces.js'
import { makeCallChain } from '../../support/chains/callChain.js'
import { copyDatabase, importFixture } from '../../support/chains/fixtureDatabase.js'
import { callMethod } from '../../support/compare/traces.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { ALL, THOROUGH } from '../../support/thorough.js'

/* Methods that answer from the trace index, against the same methods by execution. */

const root = temporaryDirectory({ after })

interface Pair {
  readonly name: string
  readonly indexed: RpcContext
  readonly plain: RpcContext
}

const pairs: Pair[] = []
const contexts: OpenContext[] = []

function open(datadir: string): RpcContext {
  const opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  contexts.push(opened)
  return opened.context
}

/** Adds the database, which has no trace index, and a copy with one. */
async function addPair(name: string, datadir: string): Promise<void> {
  const copy = copyDatabase({ after }, datadir)
  const db = openForWriting(copy)
  await fillTraces(db, { progress: noProgress })
  db.close()
  pairs.push({ name, plain: open(datadir), indexed: open(copy) })
}

before(async () => {
  const fixture = join(root, 'fixture')
  await importFixture(fixture)
  await addPair('fixture', fixture)
  const forks: Fork[] = ALL ? ['frontier', 'byzantium', 'shanghai', 'amsterdam'] : ['frontier', 'shanghai']
  for (const [seed, fork] of forks.entries()) {
    const datadir = join(root, fork)
    await makeCallChain(datadir, { random: seededRandom(200 + seed), fork, count: 25 })
    await addPair(fork, datadir)
  }
})
after(() => {
  for (const { close } of contexts) close()
})

/** Compares the answers of both, which may be errors. Returns the number of results. */
async function compare({ name, indexed, plain }: Pair, method: string, ...params: unknown[]): Promise<number> {
  const ask = (context: RpcContext) => callMethod<unknown>(context, method, params).catch(String)
  const expected = await ask(plain)
  assert.deepEqual(await ask(indexed), expected, `${name}: ${method} ${JSON.stringify(params)}`)
  return Array.isArray(expected) ? expected.length : 0
}

interface FlatTrace {
  action: Record<string, string>
  result: Record<string, string> | null
}

/** The addresses that the traces of a chain have, and one that none has. */
function addressesOf(pair: Pair): Promise<string[]> {
  const found = addressesByPair.get(pair) ?? findAddresses(pair)
  addressesByPair.set(pair, found)
  return found
}

const addressesByPair = new Map<Pair, Promise<string[]>>()

async function findAddresses({ plain }: Pair): Promise<string[]> {
  const found = new Set([`0x${'77'.repeat(20)}`])
  for (let number = 1; number <= plain.chain.head()!; number++) {
    for (const { action, result } of await callMethod<FlatTrace[]>(plain, 'trace_block', [formatQuantity(number)])) {
      const { from, to, address, refundAddress, author } = action
      for (const each of [from, to, address, refundAddress, author, result?.address]) if (each) found.add(each)
    }
  }
  return [...found]
}

function randomFilter(random: SeededRandom, addresses: readonly string[], head: number): object {
  const some = (most: number) =>
    Array.from({ length: 1 + random.below(most) }, () => addresses[random.below(addresses.length)])
  const [a, b] = [random.below(head + 1), random.below(head + 1)]
  const kind = random.below(4)
  return {
    fromBlock: formatQuantity(Math.min(a, b)),
    toBlock: formatQuantity(Math.max(a, b)),
    ...(kind === 0 || kind === 2 ? { fromAddress: some(3) } : {}),
    ...(kind === 1 || kind === 2 ? { toAddress: some(3) } : {}),
    ...(random.below(2) === 0 ? { mode: 'union' } : {}),
    ...(random.below(3) === 0 ? { after: random.below(6) } : {}),
    ...(random.below(3) === 0 ? { count: random.below(6) } : {}),
  }
}

test('trace_filter answers as by execution, whatever is filtered', async () => {
  const random = seededRandom(7)
  for (const pair of pairs) {
    const addresses = await addressesOf(pair)
    const head = pair.plain.chain.head()!
    let results = 0
    for (const address of addresses.slice(0, 8)) {
      const range = { fromBlock: '0x0', toBlock: formatQuantity(head) }
      results += await compare(pair, 'trace_filter', { ...range, fromAddress: [address] })
      results += await compare(pair, 'trace_filter', { ...range, toAddress: [address] })
    }
    for (let i = 0; i < (THOROUGH ? 40 : 10); i++)
      results += await compare(pair, 'trace_filter', randomFilter(random, addresses, head))
    assert.ok(results > 100, `${pair.name}: ${results}`)
  }
})

test('ots methods answer as by execution', async () => {
  let operations = 0
  for (const pair of pairs) {
    const { chain } = pair.plain
    for (let number = 1; number <= chain.head()!; number++) {
      const block = chain.blockByNumber(number)!
      await compare(pair, 'ots_getBlockTransactions', formatQuantity(number), 0, 10)
      for (const hash of chain.transactionHashes(block).map(formatData)) {
        operations += await compare(pair, 'ots_getInternalOperations', hash)
        await compare(pair, 'ots_getTransactionError', hash)
      }
    }
    for (const address of await addressesOf(pair)) await compare(pair, 'ots_getContractCreator', address)
    await compare(pair, 'ots_getInternalOperations', `0x${'12'.repeat(32)}`)
  }
  assert.ok(operations > 30, String(operations))
})

test('what the index has is not executed', async () => {
  const { indexed, plain } = pairs.find(({ name }) => name === 'shanghai')!
  let replays = 0
  const counting: RpcContext = {
    ...indexed,
    loadTraces: async () => {
      const traces = await indexed.loadTraces()
      return Object.assign(Object.create(traces), {
        replay: (...args: Parameters<typeof traces.replay>) => {
          replays++
          traces.replay(...args)
        },
      })
    },
  }
  const { chain } = plain
  for (let number = 1; number <= chain.head()!; number++) {
    for (const hash of chain.transactionHashes(chain.blockByNumber(number)!)) {
      await callMethod(counting, 'ots_getInternalOperations', [formatData(hash)])
    }
  }
  for (const address of await addressesOf(pairs[0])) await callMethod(counting, 'ots_getContractCreator', [address])
  const range = { fromBlock: '0x1', toBlock: formatQuantity(chain.head()!) }
  const none = { ...range, fromAddress: [`0x${'77'.repeat(20)}`] }
  assert.deepEqual(await callMethod(counting, 'trace_filter', [none]), [])
  assert.equal(replays, 0)
  await callMethod(counting, 'trace_filter', [range])
  assert.ok(replays > 0)
})

test('with the index a filter with addresses may have any range, of blocks that the address index finds', async (t) => {
  const datadir = join(root, 'long')
  const made = { random: seededRandom(31), fork: 'shanghai', count: 1010, maxTransactions: 1 } as const
  await makeCallChain(datadir, made, { traces: true })
  const indexed = open(datadir)
  const opened: (readonly [name: string, context: RpcContext])[] = [['stake', indexed]]
  if (ALL) {
    const work = join(root, 'work')
    const count = THOROUGH ? 1010 : 300
    await makeCallChain(work, { ...made, fork: 'byzantium', count }, { traces: true })
    opened.push(['work', open(work)])
  }
  for (const [name, context] of opened) {
    const head = context.chain.head()!
    const some = await callMethod<FlatTrace[]>(context, 'trace_filter', [
      { fromBlock: '0x1', toBlock: '0x64', count: 40 },
    ])
    const addresses = new Set(some.flatMap(({ action }) => [action.from, action.to, action.author]))
    addresses.delete(undefined as never)
    assert.ok(addresses.size > 5)
    for (const address of [...addresses].slice(0, 8)) {
      for (const filter of [{ fromAddress: [address] }, { toAddress: [address] }]) {
        const ranges = Array.from({ length: Math.ceil(head / 250) }, (_, i) => [
          1 + 250 * i,
          Math.min(250 * (i + 1), head),
        ])
        const parts: FlatTrace[] = []
        for (const [from, to] of ranges) {
          const part = { ...filter, fromBlock: formatQuantity(from), toBlock: formatQuantity(to) }
          parts.push(...(await callMethod<FlatTrace[]>(context, 'trace_filter', [part])))
        }
        const whole = { ...filter, fromBlock: '0x1', toBlock: formatQuantity(head) }
        assert.deepEqual(await callMethod(context, 'trace_filter', [whole]), parts, `${name} ${address}`)
      }
    }
    if (head < 1000) continue
    const wide = { fromBlock: '0x0', toBlock: formatQuantity(head) }
    await assert.rejects(callMethod(context, 'trace_filter', [wide]), /blocks, the limit is 1000/)
  }
  t.diagnostic(`${indexed.chain.head()} blocks`)
})
