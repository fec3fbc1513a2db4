import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { getAddress, Interface, JsonRpcProvider, WebSocketProvider } from 'ethers'
import { serveFixture } from '../../support/cairn.js'
import * as fixture from '../../support/chains/fixtureChain.js'

/* The calls that the pages of Otterscan make (its src/useProvider.ts, useLatestBlock.ts, useErigonHooks.ts,
 * PriceBox.tsx and search/search.ts), with the library and the parameters that it makes them with. What they answer is
 * compared with what other methods answer. */

type Provider = JsonRpcProvider | WebSocketProvider
// biome-ignore lint/suspicious/noExplicitAny: JSON of the methods
type Json = any

const server = await serveFixture({ after })
const options = { staticNetwork: true } as const
const PROVIDERS: [string, Provider][] = [
  ['HTTP', new JsonRpcProvider(server.url, undefined, options)],
  ['WebSocket', new WebSocketProvider(server.socketUrl, undefined, options)],
]
after(async () => {
  for (const [, provider] of PROVIDERS) await provider.destroy()
})

/** Otterscan refuses a node whose API level is lower. */
const MIN_API_LEVEL = 8
const PAGE_SIZE = 25

/** Runs the test with each transport. */
function testBoth(name: string, body: (provider: Provider) => Promise<void>): void {
  for (const [transport, provider] of PROVIDERS) test(`Otterscan ${name}, over ${transport}`, () => body(provider))
}

testBoth('connects, and shows the newest header', async (provider) => {
  const [number, header, level, network] = await Promise.all([
    provider.getBlockNumber(),
    provider.send('erigon_getHeaderByNumber', ['latest']),
    provider.send('ots_getApiLevel', []),
    provider.getNetwork(),
  ])
  assert.deepEqual([number, Number(network.chainId)], [fixture.HEAD, fixture.CHAIN_ID])
  assert.ok(level >= MIN_API_LEVEL)
  assert.deepEqual(await provider.send('erigon_getHeaderByNumber', [number]), header)
})

const NUMBERS = Array.from({ length: fixture.HEAD + 1 }, (_, number) => number)

testBoth('shows every block', async (provider) => {
  await Promise.all(NUMBERS.map((number) => checkBlock(provider, number)))
  assert.equal(await provider.send('ots_getBlockDetails', [fixture.HEAD + 1]), null)
})

async function checkBlock(provider: Provider, number: number): Promise<void> {
  const [details, header, block, page] = await Promise.all([
    provider.send('ots_getBlockDetails', [number]),
    provider.send('erigon_getHeaderByNumber', [number]),
    provider.send('eth_getBlockByNumber', [`0x${number.toString(16)}`, true]),
    provider.send('ots_getBlockTransactions', [number, 0, PAGE_SIZE]),
  ])
  const { transactions, size, totalDifficulty, uncles, withdrawals, ...members } = block
  for (const [name, value] of Object.entries(members)) assert.deepEqual(header[name], value, `${name} of ${number}`)
  assert.ok(Object.entries(header).every(([name, value]) => value === null || name in members))
  assert.deepEqual(details.block, {
    ...members,
    ...{ size, totalDifficulty, uncles },
    ...(withdrawals && { withdrawals }),
    logsBloom: null,
    transactionCount: transactions.length,
  })
  assert.deepEqual(await provider.send('ots_getBlockDetailsByHash', [block.hash]), details)
  const receipts = await provider.send('eth_getBlockReceipts', [block.hash])
  const fees = receipts.reduce(
    (sum: bigint, each: Json) => sum + BigInt(each.gasUsed) * BigInt(each.effectiveGasPrice),
    0n,
  )
  assert.equal(BigInt(details.totalFees), fees)

  assert.equal(page.fullblock.transactionCount, transactions.length)
  const hashes = (each: Json[]) => each.map(({ hash }) => hash)
  assert.deepEqual(hashes(page.fullblock.transactions), hashes(transactions).slice(-PAGE_SIZE))
  // Otterscan needs a status of receipts before Byzantium, too; none of these transactions failed.
  const expected = receipts
    .slice(-PAGE_SIZE)
    .map((each: Json) => ({ status: '0x1', ...each, logs: null, logsBloom: null }))
  assert.deepEqual(page.receipts, expected)
}

/** A call of `ots_traceTransaction`. */
interface Entry {
  type: string
  depth: number
  from: string
  to: string
  value: string | null
  input: string
}

/** All instructions of a `vmTrace`, those of the calls too. */
function countInstructions(vm: Json): number {
  if (vm === null) return 0 // no code
  return vm.ops.reduce((sum: number, { sub }: Json) => sum + 1 + (sub ? countInstructions(sub) : 0), 0)
}

testBoth('shows every transaction and its trace', async (provider) => {
  const blocks = await Promise.all(NUMBERS.map((number) => provider.getBlock(number)))
  const seen: { operations: number; error: string }[] = []
  // Traces of a block at a time: the answers of a batch have a limit together.
  for (const block of blocks) {
    seen.push(...(await Promise.all(block!.transactions.map((hash) => checkTransaction(provider, hash)))))
  }
  assert.ok(seen.length > 70, `${seen.length} transactions`)
  assert.ok(seen.filter(({ operations }) => operations > 0).length >= 3, 'there are internal operations')
  assert.ok(seen.filter(({ error }) => error !== '0x').length >= 3, 'there are errors with data')
})

async function checkTransaction(provider: Provider, hash: string): Promise<{ operations: number; error: string }> {
  const [transaction, receipt, entries, internal, error] = await Promise.all([
    provider.getTransaction(hash),
    provider.getTransactionReceipt(hash),
    provider.send('ots_traceTransaction', [hash]) as Promise<Entry[]>,
    provider.send('ots_getInternalOperations', [hash]) as Promise<Json[]>,
    provider.send('ots_getTransactionError', [hash]),
  ])
  const { from, nonce, to, value, blockNumber } = transaction!
  assert.equal(await receipt!.confirmations(), fixture.HEAD - blockNumber! + 1)
  assert.equal(await provider.send('ots_getTransactionBySenderAndNonce', [from, nonce]), hash)
  const [root, ...inner] = entries
  assert.deepEqual(
    [root.depth, getAddress(root.from), getAddress(root.to), BigInt(root.value!)],
    [0, from, to ?? receipt!.contractAddress, value],
  )
  assert.ok(inner.every(({ depth }, i) => depth > 0 && depth <= entries[i].depth + 1))
  for (const each of internal) {
    assert.ok([0, 1, 2, 3].includes(each.type) && BigInt(each.value) >= 0n && getAddress(each.from))
    assert.ok(inner.some((entry) => entry.to === each.to))
  }
  if (receipt!.status !== 0) assert.equal(error, '0x')
  await checkStateDiff(provider, hash)
  if (receipt!.gasUsed < MUCH_GAS) await checkInstructions(provider, hash)
  return { operations: internal.length, error }
}

/** ethers takes long to read the instructions of transactions that use more. */
const MUCH_GAS = 1_000_000n

/** What the page of a transaction shows of its state changes. */
async function checkStateDiff(provider: Provider, hash: string): Promise<void> {
  const { stateDiff } = await provider.send('trace_replayTransaction', [hash, ['stateDiff']])
  const { pre, post } = await provider.send('debug_traceTransaction', [
    hash,
    { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
  ])
  assert.deepEqual(Object.keys(stateDiff).sort(), [...new Set([...Object.keys(pre), ...Object.keys(post)])].sort())
  for (const [address, { balance }] of Object.entries<Json>(stateDiff)) {
    const [kind, change] = balance === '=' ? ['='] : Object.entries<Json>(balance)[0]
    const after = post[address]?.balance
    if (kind === '+') assert.equal(after ?? '0x0', change, `${address}, new in ${hash}`)
    else assert.equal(after, kind === '*' ? change.to : undefined, `${address} after ${hash}`)
  }
}

/** What it shows of the instructions. */
async function checkInstructions(provider: Provider, hash: string): Promise<void> {
  const { vmTrace } = await provider.send('trace_replayTransaction', [hash, ['vmTrace']])
  const { structLogs } = await provider.send('debug_traceTransaction', [hash, { disableStorage: true }])
  assert.equal(countInstructions(vmTrace), structLogs.length, hash)
}

const TOKEN_PAGE = new Interface(fixture.ABI)

testBoth('shows the pages of accounts', async (provider) => {
  const at = fixture.HEAD
  const contracts: [string, string | undefined][] = [
    [fixture.ALICE, undefined],
    [fixture.ABSENT_ACCOUNT, undefined],
    [fixture.TOKEN, fixture.ALICE],
    [fixture.CHILD, fixture.FACTORY],
    [fixture.COUNTER, undefined], // destroyed
  ]
  for (const [address, creator] of contracts) {
    const [code, hasCode, created, balance, nonce] = await Promise.all([
      provider.send('eth_getCode', [address, 'latest']),
      provider.send('ots_hasCode', [address, 'latest']),
      provider.send('ots_getContractCreator', [address]),
      provider.getBalance(address),
      provider.getTransactionCount(address),
    ])
    assert.equal(hasCode, code !== '0x')
    assert.equal(created?.creator, creator)
    assert.equal(await provider.getBalance(address, at), balance)
    if (created) {
      const receipt = await provider.getTransactionReceipt(created.hash)
      const before = receipt!.blockNumber - 1
      assert.equal(await provider.send('ots_hasCode', [address, `0x${before.toString(16)}`]), false)
    }
    if (code === '0x' && nonce > 0) {
      const last = await provider.send('ots_getTransactionBySenderAndNonce', [address, nonce - 1])
      assert.equal((await provider.getTransaction(last))!.nonce, nonce - 1)
      assert.equal(await provider.send('ots_getTransactionBySenderAndNonce', [address, nonce]), null)
    }
  }
  const metadata = ['name', 'symbol', 'decimals'].map(async (name) => {
    const data = await provider.call({ to: fixture.TOKEN, data: TOKEN_PAGE.encodeFunctionData(name) })
    return TOKEN_PAGE.decodeFunctionResult(name, data)[0]
  })
  assert.deepEqual(await Promise.all(metadata), ['Cairn Stone', 'STONE', 18n])
})
