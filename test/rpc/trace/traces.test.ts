import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { type OpenContext, openContext } from '../../../src/rpc/core/openContext.js'
import { ALICE, REVERTER, TOKEN } from '../../support/fixtureChain.js'
import { importFixture } from '../../support/fixtureDatabase.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { callMethod } from '../../support/traces.js'

/* Traces of the bundled chain in OpenEthereum's shape. */

let opened: OpenContext
let context: RpcContext

before(async () => {
  const datadir = temporaryDirectory({ after })
  await importFixture(datadir)
  opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  context = opened.context
})
after(() => opened.close())

interface FlatTrace {
  action: Record<string, string>
  error?: string
  result: Record<string, string> | null
  subtraces: number
  traceAddress: number[]
  type: string
  blockNumber: number
  transactionHash: string | null
  transactionPosition: number | null
}

interface Op {
  pc: number
  cost: number
  op: string
  ex: { used: number; push: string[] } | null
  sub: { ops: Op[] } | null
}

interface Replay {
  output: string
  stateDiff: Record<string, { balance: Change; nonce: Change; code: Change; storage: Record<string, Change> }> | null
  trace: FlatTrace[]
  vmTrace: { ops: Op[] } | null
}

type Change = '=' | { '+'?: string; '-'?: string; '*'?: { from: string; to: string } }

const ask = <T>(method: string, ...params: unknown[]) => callMethod<T>(context, method, params)
const blocks = () => Array.from({ length: context.chain.head()! }, (_, i) => context.chain.blockByNumber(i + 1)!)

test('the calls of every transaction are those of flatCallTracer, and trace_block has them all', async () => {
  for (const block of blocks()) {
    const number = formatQuantity(block.header.number)
    const flat = await ask<{ result: FlatTrace[] }[]>('debug_traceBlockByNumber', number, {
      tracer: 'flatCallTracer',
      tracerConfig: { convertParityErrors: true },
    })
    const traces = await ask<FlatTrace[]>('trace_block', number)
    const strip = ({ action, result, ...rest }: FlatTrace) => {
      // That of the first call counts the transaction's own gas.
      if (rest.traceAddress.length > 0) return { action, result: result ?? null, ...rest }
      return { action: { ...action, gas: '' }, result: result ? { ...result, gasUsed: '' } : null, ...rest }
    }
    const calls = traces.filter(({ type }) => type !== 'reward')
    assert.deepEqual(
      calls.map(strip),
      flat.flatMap(({ result }) => result.map(strip)),
    )
    const ofTransactions = context.chain
      .transactionHashes(block)
      .map((hash) => ask<FlatTrace[]>('trace_transaction', formatData(hash)))
    assert.deepEqual((await Promise.all(ofTransactions)).flat(), calls)
  }
})

test('a block of proof of work has its reward and those of its uncles, which add up to the new ether', async () => {
  const { chain, state } = context
  const mined = blocks().filter(({ header }) => header.difficulty > 0n)
  const withUncles = mined.filter(({ header }) => chain.uncles(header.number).length > 0)
  assert.ok(withUncles.length > 0)
  for (const block of [mined[0], ...withUncles]) {
    const { number, miner } = block.header
    const traces = await ask<FlatTrace[]>('trace_block', formatQuantity(number))
    const rewards = traces.filter(({ type }) => type === 'reward')
    assert.deepEqual(
      rewards.map(({ action }) => [action.rewardType, action.author]),
      [['block', formatData(miner)], ...chain.uncles(number).map((uncle) => ['uncle', formatData(uncle.miner)])],
    )
    for (const uncle of chain.uncles(number)) {
      const own = rewards.filter(({ action }) => action.author === formatData(uncle.miner))
      const sum = own.reduce((total, { action }) => total + BigInt(action.value), 0n)
      if (formatData(uncle.miner) === formatData(miner)) continue
      assert.equal(state.balance(uncle.miner, number) - state.balance(uncle.miner, number - 1), sum)
    }
  }
})

test('a replay has the output, the changes and the instructions that the other tracers see', async () => {
  // Blocks that burn their gas in a loop have instructions by the hundred thousand.
  for (const block of blocks().filter(({ header }) => header.gasUsed < 500_000n)) {
    const number = formatQuantity(block.header.number)
    const kinds = ['trace', 'stateDiff', 'vmTrace']
    const replays = await ask<(Replay & { transactionHash: string })[]>('trace_replayBlockTransactions', number, kinds)
    const steps = await ask<
      { result: { returnValue: string; structLogs: { pc: number; op: string; gasCost: number }[] } }[]
    >('debug_traceBlockByNumber', number, {})
    const differences = await ask<
      { result: { pre: Record<string, object>; post: Record<string, { balance?: string }> } }[]
    >('debug_traceBlockByNumber', number, { tracer: 'prestateTracer', tracerConfig: { diffMode: true } })
    for (const [i, replay] of replays.entries()) {
      const { returnValue, structLogs } = steps[i].result
      assert.equal(replay.output, returnValue)
      assert.equal(
        inOrder(replay.vmTrace?.ops ?? [])
          .map(({ pc, op, cost }) => `${pc} ${op} ${cost}`)
          .join(),
        structLogs.map(({ pc, op, gasCost }) => `${pc} ${op} ${gasCost}`).join(),
      )
      const { pre, post } = differences[i].result
      assert.deepEqual(
        Object.keys(replay.stateDiff!).sort(),
        [...new Set([...Object.keys(pre), ...Object.keys(post)])].sort(),
      )
      for (const [address, { balance }] of Object.entries(replay.stateDiff!)) {
        if (balance === '=' || balance['-'] !== undefined) continue
        assert.equal(balance['+'] ?? balance['*']!.to, post[address].balance ?? '0x0')
      }
    }
    const [first] = replays
    if (first === undefined) continue
    const { transactionHash, ...alone } = first
    assert.deepEqual(await ask('trace_replayTransaction', transactionHash, kinds), alone)
  }
})

/** The instructions in the order in which they ran. */
function inOrder(ops: Op[]): Op[] {
  return ops.flatMap((op) => [op, ...inOrder(op.sub?.ops ?? [])])
}

test('trace_filter finds by sender and recipient, skips and counts', async () => {
  const all = (
    await Promise.all(blocks().map(({ header }) => ask<FlatTrace[]>('trace_block', formatQuantity(header.number))))
  ).flat()
  const range = { fromBlock: '0x1', toBlock: 'latest' }
  assert.deepEqual(await ask('trace_filter', range), all)
  const toToken = all.filter(({ action, result }) => action.to === TOKEN || result?.address === TOKEN)
  assert.ok(toToken.length > 3)
  assert.deepEqual(await ask('trace_filter', { ...range, toAddress: [TOKEN] }), toToken)
  const { from } = toToken[1].action
  const both = toToken.filter(({ action }) => action.from === from)
  assert.deepEqual(await ask('trace_filter', { ...range, toAddress: [TOKEN], fromAddress: [from] }), both)
  assert.deepEqual(await ask('trace_filter', { ...range, toAddress: [TOKEN], after: 1, count: 2 }), toToken.slice(1, 3))
})

test('trace_filter refuses more blocks and addresses than it may have', async () => {
  const many = { ...context, chain: { ...context.chain, head: () => 5000 } }
  await assert.rejects(
    callMethod(many, 'trace_filter', [{ fromBlock: '0x1', toBlock: '0x7d0' }]),
    /-32602 .*filter: 2000 blocks, the limit is 1000/,
  )
  const toAddress = Array.from({ length: 1001 }, () => TOKEN)
  await assert.rejects(ask('trace_filter', { toAddress }), /-32602 .*filter: 1001 addresses, the limit is 1000/)
})

test('trace_get finds a call by its address', async () => {
  const [block] = blocks().filter(({ txCount }) => txCount > 0)
  const [hash] = context.chain.transactionHashes(block).map(formatData)
  const [first] = await ask<FlatTrace[]>('trace_transaction', hash)
  assert.deepEqual(await ask('trace_get', hash, []), first)
  assert.equal(await ask('trace_get', hash, ['0x7']), null)
})

test('trace_callMany runs each call on what the one before has left', async () => {
  const to = '0x00000000000000000000000000000000deadbeef'
  const send = [{ from: ALICE, to, value: '0x5' }, ['stateDiff']]
  const [first, second] = await ask<Replay[]>('trace_callMany', [send, send], 'latest')
  assert.deepEqual(first.stateDiff![to].balance, { '+': '0x5' })
  assert.deepEqual(second.stateDiff![to].balance, { '*': { from: '0x5', to: '0xa' } })
  assert.deepEqual(await ask('trace_call', ...send, 'latest'), first)
  const many = Array.from({ length: 101 }, () => send)
  await assert.rejects(ask('trace_callMany', many), /-32602 .*101 calls, the limit is 100/)
})

test('a call that reverts has its error and its output', async () => {
  const call = { to: REVERTER, data: '0xf8f50b81' }
  const { trace, output } = await ask<Replay>('trace_call', call, ['trace'])
  assert.equal(trace[0].error, 'Reverted')
  assert.match(output, /^0x08c379a0/)
})

test('trace_rawTransaction runs a signed transaction of the chain once more', async () => {
  const block = blocks().findLast(({ txCount }) => txCount > 0)!
  const hash = formatData(context.chain.transactionHashes(block)[0])
  const raw = await ask<string>('debug_getRawTransaction', hash)
  const { trace } = await ask<Replay>('trace_rawTransaction', raw, ['trace'])
  const [stored] = await ask<FlatTrace[]>('trace_transaction', hash)
  assert.deepEqual(trace[0].action.from, stored.action.from)
  assert.deepEqual(trace[0].action.input, stored.action.input)
  await assert.rejects(ask('trace_rawTransaction', '0x1234', ['trace']), /-32602 .*expected a signed transaction/)
})
