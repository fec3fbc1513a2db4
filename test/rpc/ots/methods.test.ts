import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { type OpenContext, openContext } from '../../../src/rpc/core/openContext.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { ABSENT_ACCOUNT, ALICE, CHILD, COUNTER, DELEGATOR, FACTORY, TOKEN } from '../../support/chains/fixtureChain.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { type CallTrace, callMethod } from '../../support/compare/traces.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* The methods of Otterscan over the bundled chain, compared with what other methods answer. */

let opened: OpenContext
let context: RpcContext
let head: number
const datadir = temporaryDirectory({ after })

before(async () => {
  await importFixture(datadir)
  opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  context = opened.context
  head = context.chain.head()!
})
after(() => opened.close())

const ask = <T>(method: string, ...params: unknown[]) => callMethod<T>(context, method, params)
type Json = Record<string, unknown>

/** Every transaction of the chain with its hash. */
function* allTransactions() {
  for (let number = 1; number <= head; number++) {
    const block = context.chain.blockByNumber(number)!
    for (const [index, transaction] of context.chain.transactions(block).entries()) {
      yield { block, index, transaction, hash: formatData(transaction.hash) }
    }
  }
}

test('details of every block: its object without transactions, and the fees of its receipts', async () => {
  for (let number = 0; number <= head; number++) {
    const details = await ask<{ block: Json; totalFees: string; issuance: Json }>('ots_getBlockDetails', number)
    const { transactions, ...expected } = await ask<Json & { transactions: string[] }>(
      'eth_getBlockByNumber',
      formatQuantity(number),
      false,
    )
    assert.deepEqual(details.block, { ...expected, logsBloom: null, transactionCount: transactions.length })
    const receipts = await ask<{ gasUsed: string; effectiveGasPrice: string }[]>('eth_getBlockReceipts', number)
    const fees = receipts.reduce((sum, each) => sum + BigInt(each.gasUsed) * BigInt(each.effectiveGasPrice), 0n)
    assert.equal(details.totalFees, formatQuantity(fees))
    assert.deepEqual(await ask('ots_getBlockDetailsByHash', expected.hash), details)
  }
  assert.equal(await ask('ots_getBlockDetails', head + 1), null)
})

test('pages of transactions go from the end of a block to its start', async () => {
  let number = 0
  for (let at = 1; at <= head; at++) {
    if (context.chain.blockByNumber(at)!.txCount > context.chain.blockByNumber(number)!.txCount) number = at
  }
  const block = await ask<Json & { transactions: (Json & { input: string })[] }>(
    'eth_getBlockByNumber',
    formatQuantity(number),
    true,
  )
  const receipts = await ask<Json[]>('eth_getBlockReceipts', number)
  const expected = block.transactions.map((each) => ({ ...each, input: each.input.slice(0, 10) }))
  const size = 3
  const [found, foundReceipts]: [unknown[], unknown[]] = [[], []]
  for (let page = 0; found.length < expected.length; page++) {
    const answer = await ask<{ fullblock: Json & { transactions: unknown[] }; receipts: unknown[] }>(
      'ots_getBlockTransactions',
      number,
      page,
      size,
    )
    assert.equal(answer.fullblock.transactionCount, expected.length)
    assert.ok(answer.fullblock.transactions.length > 0)
    found.unshift(...answer.fullblock.transactions)
    foundReceipts.unshift(...answer.receipts)
  }
  assert.deepEqual(found, expected)
  assert.deepEqual(
    foundReceipts,
    receipts.map((each) => ({ ...each, logs: null, logsBloom: null })),
  )
  const beyond = await ask<{ receipts: unknown[] }>('ots_getBlockTransactions', number, 1_000_000, size)
  assert.deepEqual(beyond.receipts, [])
  await assert.rejects(ask('ots_getBlockTransactions', number, 0, 1_001), /-32602 .*pageSize/)
  await assert.rejects(ask('ots_getBlockTransactions', number, -1, 1), /-32602 .*pageNumber/)
})

test('every transaction is found by its sender and nonce', async () => {
  const next = new Map<string, bigint>()
  for (const { transaction, hash } of allTransactions()) {
    const from = formatData(transaction.from)
    assert.equal(await ask('ots_getTransactionBySenderAndNonce', from, Number(transaction.nonce)), hash)
    assert.deepEqual(
      await ask('eth_getTransactionBySenderAndNonce', from, formatQuantity(transaction.nonce)),
      await ask('eth_getTransactionByHash', hash),
    )
    next.set(from, transaction.nonce + 1n)
  }
  assert.ok(next.size > 2)
  for (const [from, nonce] of next) {
    assert.equal(await ask('ots_getTransactionBySenderAndNonce', from, formatQuantity(nonce)), null)
  }
  assert.equal(await ask('ots_getTransactionBySenderAndNonce', ABSENT_ACCOUNT, 0), null)
})

test('the creator of every contract is the one that callTracer shows', async () => {
  const creations = new Map<string, Json>()
  for (const { hash } of allTransactions()) {
    const visit = (call: CallTrace) => {
      if (call.error !== undefined) return
      if (call.type.startsWith('CREATE')) creations.set(call.to!, { hash, creator: call.from })
      for (const each of call.calls ?? []) visit(each)
    }
    visit(await ask<CallTrace>('debug_traceTransaction', hash, { tracer: 'callTracer' }))
  }
  for (const address of [TOKEN, FACTORY, CHILD, COUNTER]) assert.ok(creations.has(address))
  let alive = 0
  for (const [address, creation] of creations) {
    const isAlive = await ask<boolean>('ots_hasCode', address, 'latest')
    assert.equal(isAlive, (await ask('eth_getCode', address, 'latest')) !== '0x')
    if (isAlive) alive++
    assert.deepEqual(await ask('ots_getContractCreator', address), isAlive ? creation : null)
  }
  assert.ok(alive >= 3)
  assert.equal(await ask('ots_getContractCreator', ALICE), null)
  assert.equal(await ask('ots_hasCode', TOKEN, 1), false)
  assert.equal(await ask('ots_hasCode', DELEGATOR, 41), true)
})

test('traces, operations and errors of every transaction agree with callTracer', async () => {
  const seen = new Set<number>()
  let failed = 0
  for (const { hash } of allTransactions()) {
    const root = await ask<CallTrace & { value?: string; input: string }>('debug_traceTransaction', hash, {
      tracer: 'callTracer',
    })
    const entries = await ask<(Json & { depth: number })[]>('ots_traceTransaction', hash)
    const expected: Json[] = []
    const operations: Json[] = []
    const visit = (call: CallTrace & { value?: string }, depth: number, isEffective: boolean) => {
      const { type, from, to, value } = call
      const isPrecompile = depth > 0 && /^0x0{36}/.test(to ?? '') && type !== 'SELFDESTRUCT'
      if (!isPrecompile) expected.push({ type, depth, from })
      const holds = isEffective && call.error === undefined
      const kind = ['CALL', 'SELFDESTRUCT', 'CREATE', 'CREATE2'].indexOf(type)
      if (holds && depth > 0 && kind >= 0 && (kind > 0 || value !== '0x0'))
        operations.push({ type: kind, from, to, value })
      if (!isPrecompile) for (const each of call.calls ?? []) visit(each, depth + 1, holds)
    }
    visit(root, 0, true)
    assert.deepEqual(
      entries.map(({ type, depth, from }) => ({ type, depth, from })),
      expected,
    )
    const internal = await ask<(Json & { type: number })[]>('ots_getInternalOperations', hash)
    assert.deepEqual(internal, operations)
    for (const { type } of internal) seen.add(type)
    const error = await ask('ots_getTransactionError', hash)
    assert.equal(error, root.error === 'execution reverted' ? (root.output ?? '0x') : '0x')
    if (root.error !== undefined) failed++
  }
  assert.ok(failed > 0)
  assert.deepEqual([...seen].sort(), [0, 1, 3], 'the chain has transfers, SELFDESTRUCT and CREATE2')
})

test('what is not there: level, unknown transactions, and the searches', async () => {
  assert.equal(await ask('ots_getApiLevel'), 8)
  const unknown = `0x${'12'.repeat(32)}`
  for (const method of ['ots_getTransactionError', 'ots_getInternalOperations', 'ots_traceTransaction']) {
    await assert.rejects(ask(method, unknown), /-32000 transaction not found/)
  }
})

test('the header of every block is that of its hash, as Otterscan asks for it', async () => {
  for (let number = 0; number <= head; number++) {
    const header = await ask<Json>('erigon_getHeaderByNumber', number)
    const block = await ask<Json>('eth_getBlockByNumber', formatQuantity(number), false)
    const { size, totalDifficulty, transactions, uncles, withdrawals, ...members } = block
    const present = Object.entries(header).filter(([, value]) => value !== null)
    assert.deepEqual(Object.fromEntries(present), members)
  }
  assert.deepEqual(await ask('erigon_getHeaderByNumber', 'latest'), await ask('erigon_getHeaderByNumber', head))
  assert.equal(await ask('erigon_getHeaderByNumber', head + 1), null)
})

test('receipts of a page have a status, before Byzantium too', async () => {
  const early = new Set<number>()
  for (let number = 1; number <= head; number++) {
    const { receipts } = await ask<{ receipts: Json[] }>('ots_getBlockTransactions', number, 0, 25)
    const page = (await ask<Json[]>('eth_getBlockReceipts', number)).slice(-25)
    for (const [i, { status, root }] of receipts.entries()) {
      assert.equal(root, page[i].root)
      assert.equal(status, page[i].status ?? '0x1') // none failed before Byzantium
      if (root !== undefined) early.add(number)
    }
  }
  assert.ok(early.size > 5)
})

test('a call that another connection overtakes with a commit, before its first read, is answered', async (t) => {
  const writer = openForWriting(datadir)
  t.after(() => void writer.close())
  const raw = await ask('debug_getRawBlock', '0x1')
  const expected = await ask('debug_traceBlock', raw)
  opened.watch.withSnapshot(() => {}) // has read nothing: the next snapshot begins without a transaction
  let runs = 0
  const found = await opened.watch.withSnapshot(() => {
    writer.pragma(`user_version = ${++runs}`)
    return ask('debug_traceBlock', raw)
  })
  assert.deepEqual(found, expected)
  assert.equal(runs, 2)
})
