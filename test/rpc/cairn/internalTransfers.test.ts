import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Fork } from '../../../src/chain/eth/forks/rules.js'
import { formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { type OpenContext, openContext } from '../../../src/rpc/core/openContext.js'
import { METHODS } from '../../../src/rpc/methods.js'
import { openForQueries } from '../../../src/store/sql/queryDatabase.js'
import { makeCallChain } from '../../support/chains/callChain.js'
import { callMethod } from '../../support/compare/traces.js'
import { seededRandom } from '../../support/random.js'
import { validatorOf } from '../../support/schemas.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* Internal transfers on random chains, compared with debug_traceBlockByNumber and with v_native_transfers. */

const root = temporaryDirectory({ after })

interface Chain {
  readonly datadir: string
  readonly rpc: OpenContext
  readonly transfers: readonly Transfer[]
}

interface Transfer {
  blockNumber: string
  transactionHash: string
  transferIndex: string
  traceAddress: number[]
  type: string
  from: string
  to: string
  value: string
}

interface Frame {
  type: string
  from: string
  to?: string
  value?: string
  error?: string
  calls?: Frame[]
}

const TYPES: Record<string, string> = { CALL: 'call', CREATE: 'create', CREATE2: 'create', SELFDESTRUCT: 'suicide' }
const chains: Chain[] = []

before(async () => {
  for (const [seed, fork] of (['byzantium', 'shanghai', 'osaka'] as Fork[]).entries()) {
    const datadir = join(root, fork)
    await makeCallChain(
      datadir,
      { random: seededRandom(300 + seed), fork, count: 50, maxTransactions: 12 },
      { traces: true },
    )
    const rpc = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
    chains.push({ datadir, rpc, transfers: await transfersByTraces(rpc.context) })
  }
})
after(() => {
  for (const { rpc } of chains) rpc.close()
})

/** All internal transfers of a chain by callTracer, in chain order. */
async function transfersByTraces(context: RpcContext): Promise<Transfer[]> {
  const found: Transfer[] = []
  for (let number = 1; number <= context.chain.head()!; number++) {
    const params = [formatQuantity(number), { tracer: 'callTracer' }]
    const traced = await callMethod<{ txHash: string; result: Frame }[]>(context, 'debug_traceBlockByNumber', params)
    let index = 0
    const visit = (transactionHash: string, frame: Frame, traceAddress: number[]) => {
      if (frame.error !== undefined) return
      const type = TYPES[frame.type]
      const { from, to, value = '0x0', calls = [] } = frame
      if (type !== undefined && BigInt(value) > 0n) {
        const place = { blockNumber: formatQuantity(number), transactionHash, transferIndex: formatQuantity(index++) }
        if (traceAddress.length > 0) found.push({ ...place, traceAddress, type, from, to: to!, value })
      }
      for (const [i, call] of calls.entries()) visit(transactionHash, call, [...traceAddress, i])
    }
    for (const { txHash, result } of traced) visit(txHash, result, [])
  }
  return found
}

interface Page {
  transfers: Transfer[]
  cursor: string | null
}

async function pageOf({ rpc }: Chain, filter: object): Promise<Page> {
  const page = await callMethod<Page>(rpc.context, 'cairn_getInternalTransfers', [filter])
  assert.deepEqual(validatorOf(METHODS.get('cairn_getInternalTransfers')!.result.schema)(page), [])
  return page
}

/** The transfers of all pages. */
async function pagesOf(chain: Chain, filter: object): Promise<Transfer[]> {
  const found: Transfer[] = []
  for (let cursor: string | null = null; ; ) {
    const page: Page = await pageOf(chain, { ...filter, cursor })
    found.push(...page.transfers)
    cursor = page.cursor
    if (cursor === null) return found
  }
}

/** The members that traces have. Calls of precompiles without value count in `traceAddress` of geth only. */
const comparable = ({ blockNumber, transactionHash, transferIndex, type, from, to, value }: Transfer) => {
  return [blockNumber, transactionHash, transferIndex, type, from, to, value]
}

test('all internal transfers of every address, in pages of any size and both orders', async () => {
  const random = seededRandom(11)
  for (const chain of chains) {
    const accounts = [...new Set(chain.transfers.flatMap(({ from, to }) => [from, to])), `0x${'77'.repeat(20)}`]
    for (const account of accounts) {
      const bounds = [random.below(50), random.below(50)].sort((a, b) => a - b)
      const [fromBlock, toBlock] = random.below(2) === 0 ? [undefined, undefined] : bounds.map(formatQuantity)
      const expected = chain.transfers.filter(
        ({ from, to, blockNumber }) =>
          (from === account || to === account) &&
          Number(blockNumber) >= Number(fromBlock ?? 0) &&
          Number(blockNumber) <= Number(toBlock ?? 50),
      )
      for (const order of ['newest', 'oldest']) {
        const limit = 1 + random.below(8)
        const found = await pagesOf(chain, { account, order, limit, fromBlock, toBlock })
        const inOrder = order === 'newest' ? found.toReversed() : found
        assert.deepEqual(inOrder.map(comparable), expected.map(comparable), `${account} ${order}`)
      }
    }
    assert.ok(chain.transfers.length > 20, `${chain.transfers.length}`)
  }
  const types = new Set(chains.flatMap(({ transfers }) => transfers.map(({ type }) => type)))
  assert.deepEqual([...types].sort(), ['call', 'create', 'suicide'])
})

test('entries have the trace address and the index that trace_ methods and v_native_transfers have', async () => {
  for (const chain of chains) {
    const db = openForQueries(chain.datadir, () => [])
    const rows = db.prepare<[], { hash: string; place: bigint; from: string; to: string }>(
      `SELECT transaction_hash AS hash, transfer_index AS place, "from", "to" FROM v_native_transfers WHERE depth > 0`,
    )
    const keyOf = (hash: string, place: bigint | string) => `${hash} ${BigInt(place)}`
    const byPlace = new Map(rows.all().map((row) => [keyOf(row.hash, row.place), row]))
    db.close()
    assert.equal(byPlace.size, chain.transfers.length)
    const account = busiest(chain)
    for (const each of await pagesOf(chain, { account })) {
      const { from, to } = byPlace.get(keyOf(each.transactionHash, each.transferIndex))!
      assert.deepEqual([from, to], [each.from, each.to])
      const traces = await callMethod<{ action: Record<string, string>; traceAddress: number[] }[]>(
        chain.rpc.context,
        'trace_transaction',
        [each.transactionHash],
      )
      const trace = traces.find(({ traceAddress }) => traceAddress.join() === each.traceAddress.join())!
      assert.equal(trace.action.from ?? trace.action.address, each.from)
      assert.equal(trace.action.value ?? trace.action.balance, each.value)
    }
  }
})

/** The account with the most transfers. */
function busiest({ transfers }: Chain): string {
  const count = (account: string) => transfers.filter(({ from, to }) => from === account || to === account).length
  return transfers.map(({ from }) => from).sort((a, b) => count(b) - count(a))[0]
}

test('a cursor belongs to its query, and a page ends with its time', async () => {
  const [chain] = chains
  const account = busiest(chain)
  const { cursor } = await pageOf(chain, { account, limit: 1 })
  for (const filter of [
    { account: `0x${'12'.repeat(20)}` },
    { account, order: 'oldest' },
    { account, fromBlock: '0x1' },
  ]) {
    await assert.rejects(pageOf(chain, { ...filter, cursor }), /cursor: was altered, or is of another query/)
  }
  const hurried = { ...chain.rpc.context, limits: { ...DEFAULT_LIMITS, logsTimeoutMs: 0 } }
  const slow = { ...chain, rpc: { ...chain.rpc, context: hurried } }
  const expected = await pagesOf(chain, { account })
  for (const order of ['newest', 'oldest']) {
    const found = await pagesOf(slow, { account, order })
    assert.deepEqual(order === 'newest' ? found : found.toReversed(), expected)
  }
  assert.ok((await pageOf(slow, { account })).transfers.length < expected.length)
})
