import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeTransaction, type UnsignedTransaction } from '../../../src/chain/eth/transaction.js'
import { formatData, formatQuantity, parseHex } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { type OpenContext, openContext } from '../../../src/rpc/core/openContext.js'
import { createSender } from '../../../tools/fixture/chainBuilder.js'
import { ALICE, BOB, REVERTER, TOKEN } from '../../support/chains/fixtureChain.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { callMethod } from '../../support/compare/traces.js'
import { signTransaction } from '../../support/signing.js'
import { temporaryDirectory } from '../../support/temporary.js'

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

test('trace_filter joins its lists by mode, and reads its blocks as eth_getLogs does', async () => {
  const all = (
    await Promise.all(blocks().map(({ header }) => ask<FlatTrace[]>('trace_block', formatQuantity(header.number))))
  ).flat()
  const range = { fromBlock: '0x1', toBlock: 'latest' }
  const isFrom = ({ action }: FlatTrace) => action.from === ALICE || action.address === ALICE
  const isTo = ({ action, result }: FlatTrace) => action.to === TOKEN || result?.address === TOKEN
  const lists = { fromAddress: [ALICE], toAddress: [TOKEN] }
  const union = all.filter((each) => isFrom(each) || isTo(each))
  const both = all.filter((each) => isFrom(each) && isTo(each))
  assert.ok(union.length > both.length && both.length > 0)
  assert.deepEqual(await ask('trace_filter', { ...range, ...lists, mode: 'union' }), union)
  assert.deepEqual(await ask('trace_filter', { ...range, ...lists, mode: 'intersection' }), both)
  const tos = all.filter(isTo)
  assert.deepEqual(await ask('trace_filter', { ...range, toAddress: [TOKEN], mode: 'union' }), tos, 'one list')
  assert.deepEqual(await ask('trace_filter', { ...range, mode: 'union' }), all, 'no list')
  for (const { hash, header } of blocks().slice(20, 30)) {
    const ofBlock = await ask('trace_block', formatQuantity(header.number))
    assert.deepEqual(await ask('trace_filter', { blockHash: formatData(hash) }), ofBlock)
  }
  const head = context.chain.head()!
  const wrong = [
    { fromBlock: '0x9', toBlock: '0x8' },
    { fromBlock: 'latest', toBlock: '0x8' },
    { fromBlock: '0x1', toBlock: formatQuantity(head + 1) },
    { fromBlock: formatQuantity(head + 1) },
    { fromBlock: '0x1', blockHash: formatData(blocks()[0].hash) },
    { blockHash: `0x${'5a'.repeat(32)}` },
  ]
  for (const filter of wrong) {
    const words = async (method: string) =>
      ask(method, filter).then(
        () => 'no error',
        ({ message }: Error) => message.slice(method.length),
      )
    assert.equal(await words('trace_filter'), await words('eth_getLogs'), JSON.stringify(filter))
    assert.notEqual(await words('trace_filter'), 'no error')
  }
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

test('trace_rawTransaction refuses what no block could have, the nonce aside', async () => {
  const { privateKey } = createSender('alice')
  const fees = { type: 2, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 0n, accessList: [] } as const
  const common = { nonce: 7n, gasLimit: 100_000n, to: parseHex(BOB), value: 1n, input: new Uint8Array(0) }
  const trace = (fields: object, chainId: bigint | undefined = context.chain.chainId()) => {
    const signed = signTransaction(
      { ...common, ...fees, chainId, ...fields } as unknown as UnsignedTransaction,
      privateKey,
    )
    return ask<Replay>('trace_rawTransaction', formatData(encodeTransaction(signed)), ['trace'])
  }
  assert.equal((await trace({})).trace[0].action.to, BOB)
  await assert.rejects(trace({}, 1n), /-32000 invalid chain id for signer: have 1 want 20261/)
  await assert.rejects(trace({ type: 0, gasPrice: 1n }, 1n), /-32000 invalid chain id for signer: have 1 want 20261/)
  await assert.rejects(trace({ maxFeePerGas: 0n }), /-32000 .*max fee per gas less than block base fee/)
  await assert.rejects(trace({ type: 0, gasPrice: 0n }), /-32000 .*max fee per gas less than block base fee/)
  await assert.rejects(trace({ maxPriorityFeePerGas: 10n ** 12n }), /-32000 .*max priority fee per gas higher than/)
  await assert.rejects(trace({ gasLimit: 10n ** 9n }), /-32000 .*gas limit reached/)
  await assert.rejects(trace({ gasLimit: 1_000n }), /-32000 .*intrinsic gas too low/)
  await assert.rejects(trace({ value: 10n ** 30n }), /-32000 .*insufficient funds for gas \* price \+ value/)
})
