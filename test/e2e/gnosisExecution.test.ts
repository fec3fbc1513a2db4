import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { keccak256 } from '../../src/chain/crypto.js'
import { decodeBlock, encodeBlock } from '../../src/chain/eth/block.js'
import { withdrawalsRoot } from '../../src/chain/eth/withdrawals.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { type CairnServer, runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { readGnosisChain, withoutNewMembers } from '../support/chains/gnosis/gnosisChain.js'
import { endOfFile } from '../support/endings.js'
import { callEngine } from '../support/engine/engineClient.js'
import { startCairnEngine } from '../support/engine/engineServers.js'
import { forkChoiceOf, hasNoRequests, payloadOf } from '../support/engine/payloads.js'
import { resultOf, resultsOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { ALL, THOROUGH } from '../support/thorough.js'
import { untilBlockNumber } from '../support/until.js'

/* The program executes a chain of Gnosis from block 0. geth of Gnosis executed it too. */

const { genesis, hash, blocks } = readGnosisChain()
const HEAD = blocks.length
const WITHDRAWALS = genesis.config.aura.withdrawalContractAddress as string
const quantity = (number: number) => `0x${number.toString(16)}`

const folder = temporaryDirectory({ after })
const genesisFile = join(folder, 'genesis.json')
const datadir = join(folder, 'data')
const ending = endOfFile()
let server: CairnServer
/** Estimates of a batch wait for each other, on a busy machine for seconds. */
const PATIENT = ['--call-timeout', '60000']

function writeBlocks(name: string, raw: readonly (string | Uint8Array)[]): string {
  const file = join(folder, name)
  writeFileSync(file, Buffer.concat(raw.map((each) => (typeof each === 'string' ? parseHex(each) : each))))
  return file
}

const rawOf = (to: number) => blocks.slice(0, to).map(({ raw }) => raw)

before(async () => {
  writeFileSync(genesisFile, JSON.stringify(genesis))
  // Compares receipts, gas and the state root of each block with its header.
  const args = ['--genesis', genesisFile, '--root-interval', '1', '--traces', 'on', writeBlocks('chain', rawOf(HEAD))]
  assert.match(await runCairnOk(['import', '--datadir', datadir, ...args]), new RegExp(`${HEAD} blocks imported`))
  server = await startCairn(ending, ['--datadir', datadir, '--open', ...PATIENT])
})

/** Compares what a server answers after the blocks from `first` on with the answers of geth: each, or every fourth. */
async function check(url: string, first: number, isEach: boolean): Promise<void> {
  const all = blocks.map((block, i) => ({ ...block, id: quantity(i + 1) })).slice(first - 1)
  const numbered = isEach ? all : all.filter((_, i) => i % 4 === 0)
  const compare = async (method: string, calls: readonly (readonly [params: unknown[], expected: unknown])[]) => {
    const params = calls.map(([each]) => each)
    for (const [i, found] of (await resultsOf(url, method, params)).entries()) {
      assert.deepEqual(found, calls[i][1], `${method} ${JSON.stringify(params[i])}`)
    }
  }
  const tracer = { tracer: 'callTracer', tracerConfig: { withLog: true } }
  const traced = await resultsOf<{ result: object }[]>(
    ...([url, 'debug_traceBlockByNumber', numbered.map(({ id }) => [id, tracer])] as const),
  )
  for (const [i, { traces, id }] of numbered.entries()) {
    assert.deepEqual(
      withoutNewMembers(traced[i].map(({ result }) => result)),
      withoutNewMembers(traces),
      `traces of block ${id}`,
    )
  }
  const each = <T>(list: (block: (typeof numbered)[0]) => T[]) => numbered.flatMap(list)
  await compare(
    'eth_estimateGas',
    each(({ calls, id }) => calls.map(({ request, estimate }) => [[request, id], estimate])),
  )
  await compare(
    'eth_getBalance',
    each(({ balances, id }) => Object.entries(balances).map(([address, balance]) => [[address, id], balance])),
  )
  await compare(
    'eth_getStorageAt',
    each(({ withdrawn, id }) => Object.entries(withdrawn).map(([slot, value]) => [[WITHDRAWALS, slot, id], value])),
  )
}

/** Simulated calls pay the base fee to the collector, as those of blocks do. */
async function checkSimulation(url: string): Promise<void> {
  const [from, probe] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`]
  const code = `0x73${(genesis.config.aura.eip1559FeeCollector as string).slice(2)}315f5260205ff3` // its balance
  const stateOverrides = { [from]: { balance: '0xffffffffffffffffff' }, [probe]: { code } }
  const blockOverrides = { baseFeePerGas: '0x3b9aca00' }
  const read = { from, to: probe, gas: '0x10000' }
  const paid = { from, to: from, gas: '0x5208', maxFeePerGas: '0x3b9aca00' }
  const blockStateCalls = [{ blockOverrides, stateOverrides, calls: [read, paid, read] }]
  const [{ calls }] = await resultOf<{ calls: { returnData: string }[] }[]>(
    ...([url, 'eth_simulateV1', [{ blockStateCalls }, 'latest']] as const),
  )
  const [before, , after] = calls.map(({ returnData }) => (returnData === '0x' ? 0n : BigInt(returnData)))
  assert.equal(after - before, 21_000n * 1_000_000_000n)
}

/** Accounts that get nothing but rewards. */
const REWARDED = ['0x0000000000000000000000000000000000b41d02', '0x0000000000000000000000000000000000b41d03']

/** Compares the traces of rewards with the balances that geth of Gnosis has. */
async function checkRewards(url: string): Promise<void> {
  type Reward = { type: string; action: { author: string; rewardType: string; value: string } }
  const ids = blocks.map((_, i) => [quantity(i + 1)])
  const traced = await resultsOf<Reward[]>(url, 'trace_block', ids)
  const rewards = traced.map((traces) => traces.filter(({ type }) => type === 'reward'))
  assert.ok(rewards.flat().every(({ action }) => action.rewardType === 'external'))
  for (const address of REWARDED) {
    const own = rewards.map((all) => all.filter(({ action }) => action.author === address))
    const sums = own.map((all) => all.reduce((sum, { action }) => sum + BigInt(action.value), 0n))
    const balances = [0n, ...blocks.map((block) => BigInt(block.balances[address]))]
    assert.deepEqual(
      sums,
      balances.slice(1).map((balance, i) => balance - balances[i]),
    )
    assert.ok(sums.some((sum) => sum > 0n))
    // The filter reads the trace index, and executes the blocks after which the balance is another one.
    const filter = { fromBlock: '0x1', toAddress: [address] }
    const paid = own.filter((_, i) => sums[i] > 0n).flat()
    const found = await resultOf<Reward[]>(url, 'trace_filter', [filter])
    assert.deepEqual(
      found.filter(({ type }) => type === 'reward'),
      paid,
    )
  }
}

test('state, traces and estimates are those of geth of Gnosis at every height', async () => {
  const { url } = server
  const first = await resultOf<{ hash: string; signature: string }>(url, 'eth_getBlockByNumber', ['0x0', false])
  assert.deepEqual([first.hash, first.signature], [hash, `0x${'00'.repeat(65)}`])
  const raw = await resultOf<string>(url, 'debug_getRawHeader', ['0x0'])
  assert.equal(formatData(keccak256(parseHex(raw))), hash)
  const { hash: newest } = await resultOf<{ hash: string }>(url, 'eth_getBlockByNumber', ['latest', false])
  assert.equal(newest, blocks.at(-1)!.hash)
  await check(url, 1, ALL)
  await checkRewards(url)
  await checkSimulation(url)
  const types = new Set(blocks.flatMap(({ raw }) => decodeBlock(parseHex(raw)).transactions.map(({ type }) => type)))
  assert.deepEqual([...types].sort(), [0, 1, 2, 3, 4])
  if (!ALL) return
  await runCairnOk(['verify', '--datadir', datadir])
})

const skip = !ALL && 'takes seconds: npm run test:all'

test('sparse state begins in the middle of the chain, and answers the same from there on', { skip }, async (t) => {
  const upstream = server
  const first = 10
  const own = temporaryDirectory(t)
  const sparse = ['--state', 'sparse', '--from', String(first), '--upstream', upstream.url]
  const { url, stop } = await startCairn(t, [
    '--datadir',
    own,
    '--open',
    '--genesis',
    genesisFile,
    ...PATIENT,
    ...sparse,
  ])
  await untilBlockNumber({ url }, HEAD)
  await check(url, first + 1, THOROUGH)
  await stop()
  await runCairnOk(['verify', '--datadir', own])
})

test('a withdrawal that differs is refused, and the check is named', async (t) => {
  const number = blocks.findIndex(({ raw }) => decodeBlock(parseHex(raw)).withdrawals!.length > 1) + 1
  const block = decodeBlock(parseHex(blocks[number - 1].raw))
  const withdrawals = block.withdrawals!.map((each, i) =>
    i === 0 ? { ...each, amountGwei: each.amountGwei + 1n } : each,
  )
  const changed = { ...block, withdrawals }
  const header = { ...block.header, withdrawalsRoot: withdrawalsRoot(withdrawals) }
  const own = temporaryDirectory(t)
  const refused = async (...raw: (string | Uint8Array)[]) => {
    const args = ['--genesis', genesisFile, '--root-interval', '1', writeBlocks('changed', raw)]
    return (await runCairn(['import', '--datadir', own, ...args])).stderr
  }
  const at = `block ${number} .*`
  const before = rawOf(number - 1)
  assert.match(
    await refused(...before, encodeBlock({ ...changed, header })),
    new RegExp(`${at}state root: expected 0x`),
  )
  if (!ALL) return
  assert.match(await refused(encodeBlock(changed)), new RegExp(`${at}withdrawals root: expected 0x`))
})

test('a chain that pays fees or rewards elsewhere, or whose contracts fail, is refused', { skip }, async (t) => {
  const importing = async (aura: object) => {
    const file = join(folder, 'other.json')
    const config = { ...genesis.config, aura: { ...genesis.config.aura, ...aura } }
    writeFileSync(file, JSON.stringify({ ...genesis, config }))
    const args = ['--genesis', file, '--root-interval', '1', writeBlocks('first', rawOf(1))]
    return (await runCairn(['import', '--datadir', temporaryDirectory(t), ...args])).stderr
  }
  const other = `0x${'12'.repeat(20)}`
  assert.match(await importing({ eip1559FeeCollector: other }), /block 1 .*state root: expected 0x/)
  const failing = `0x${'0'.repeat(34)}0c0de4`
  assert.match(
    await importing({ withdrawalContractAddress: failing }),
    /block 1 .*system call: withdrawals, contract 0x0{34}0c0de4: execution reverted/,
  )
  assert.match(await importing({ blockRewardContractAddress: other }), /block 1 .*state root: expected 0x/)
  assert.match(await importing({ withdrawalContractAddress: other }), /block 1 .*state root: expected 0x/)
})

test('networks of Gnosis are not executed from block 0, and not with the reference', { skip }, async (t) => {
  const importing = async (...args: readonly string[]) =>
    (await runCairn(['import', '--datadir', temporaryDirectory(t), ...args, join(folder, 'chain')])).stderr
  assert.match(
    await importing('--network', 'gnosis'),
    /--state execute: Authority Round seals the blocks before the merge, which Cairn does not execute; --state sparse/,
  )
  const reference = await importing('--genesis', genesisFile, '--evm', 'reference')
  assert.match(reference, /--evm reference does not execute blocks of Gnosis/)
})

test('a consensus client drives the chain through the Engine API', { skip }, async (t) => {
  const cairn = await startCairnEngine(t, { genesis: genesisFile })
  const decoded = blocks.map(({ raw }) => decodeBlock(parseHex(raw)))
  const driven = decoded.slice(0, decoded.findIndex((block) => !hasNoRequests(block)) >>> 0)
  for (const block of driven) {
    const sent = payloadOf(block)
    const { result, error } = await callEngine(cairn.engineUrl, sent.method, sent.params)
    assert.deepEqual(result, { status: 'VALID', latestValidHash: sent.hash, validationError: null }, error?.message)
    const state = { headBlockHash: sent.hash, safeBlockHash: sent.hash, finalizedBlockHash: sent.hash }
    const chosen = await callEngine(cairn.engineUrl, forkChoiceOf(sent), [state, null])
    assert.equal((chosen.result as { payloadStatus: { status: string } }).payloadStatus.status, 'VALID')
  }
  const methods = new Set(driven.map((block) => payloadOf(block).method))
  assert.deepEqual([...methods], ['engine_newPayloadV2', 'engine_newPayloadV3', 'engine_newPayloadV4'])
  assert.equal(await resultOf(cairn.url, 'eth_blockNumber', []), quantity(driven.length))
})
