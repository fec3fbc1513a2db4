import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { decodeBlock, encodeBlock, transactionsRoot } from '../../src/chain/eth/block.js'
import type { Block, Header, Transaction } from '../../src/chain/eth/types.js'
import { parseHex } from '../../src/lib/hex.js'
import { type CairnServer, runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { checkOtterscan } from '../support/chains/op/checkOtterscan.js'
import { rollupConfigOf } from '../support/chains/op/opAnswers.js'
import {
  EXECUTED_BLOCKS_PER_FORK,
  type ExecutedBlock,
  type RecordedObject,
  readExecutedOpChain,
} from '../support/chains/op/opChain.js'
import { endOfFile } from '../support/endings.js'
import { writeSecret } from '../support/engine/engineClient.js'
import { freePort } from '../support/freePort.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { ALL, THOROUGH } from '../support/thorough.js'
import { untilBlockNumber } from '../support/until.js'

/* The program executes a chain of the OP stack from its genesis, through all forks. op-geth executed it too. */

const chain = readExecutedOpChain()
const { blocks, genesis } = chain
const HEAD = blocks.length - 1
const quantity = (number: number) => `0x${number.toString(16)}`
/** A block in the middle of a fork: 0 for Bedrock. */
const inFork = (fork: number) => fork * EXECUTED_BLOCKS_PER_FORK + 6

const folder = temporaryDirectory({ after })
const genesisFile = join(folder, 'genesis.json')
const rollup = join(folder, 'rollup.json')
const chainFile = join(folder, 'chain.rlp')
const datadir = join(folder, 'data')
const ending = endOfFile()
let server: CairnServer

function writeBlocks(file: string, raw: readonly (string | Uint8Array)[]): string {
  writeFileSync(file, Buffer.concat(raw.map((each) => (typeof each === 'string' ? parseHex(each) : each))))
  return file
}

before(async () => {
  writeFileSync(genesisFile, JSON.stringify(genesis))
  writeFileSync(rollup, JSON.stringify(rollupConfigOf(chain)))
  writeBlocks(
    chainFile,
    blocks.slice(1).map(({ raw }) => raw),
  )
  // Compares receipts, gas and the state root of each block with its header.
  const named = ['--genesis', genesisFile, '--rollup-config', rollup]
  const args = ['import', '--datadir', datadir, ...named, '--root-interval', '1', '--traces', 'on', chainFile]
  assert.match(await runCairnOk(args), new RegExp(`${HEAD} blocks imported`))
  server = await startCairn(ending, ['--datadir', datadir, '--open'])
})

/** A frame of the callTracer with inputs cut as those of the recording. */
function shortened(frame: RecordedObject): RecordedObject {
  const { input, calls } = frame as { input: string; calls?: RecordedObject[] }
  return { ...frame, input: input.slice(0, 1000), ...(calls && { calls: calls.map(shortened) }) }
}

/** Writes a slot whose key is the gas that it has left. */
const PROBER = `0x${'10656'.padStart(40, '0')}`

/** Compares what a server answers after a block with the answers of op-geth. */
async function check(url: string, number: number, isSparse = false): Promise<void> {
  const { traces, calls, balances }: ExecutedBlock = blocks[number]
  const id = quantity(number)
  if (number > 0) {
    const tracer = { tracer: 'callTracer', tracerConfig: { withLog: true } }
    const traced = await resultOf<{ result: RecordedObject }[]>(url, 'debug_traceBlockByNumber', [id, tracer])
    assert.deepEqual(
      traced.map(({ result }) => shortened(result)),
      traces,
      `traces of block ${number}`,
    )
  }
  for (const { request, estimate } of calls) {
    if (isSparse && request.to === PROBER) continue // every step of the search reads another unknown slot
    assert.equal(await resultOf(url, 'eth_estimateGas', [request, id]), estimate, `${request.to} after ${number}`)
  }
  for (const [address, balance] of Object.entries(balances)) {
    assert.equal(await resultOf(url, 'eth_getBalance', [address, id]), balance, `${address} after ${number}`)
  }
}

const skip = !ALL && 'takes seconds: npm run test:all'

test('traces, estimates and balances are those of op-geth at every height', async () => {
  const { url } = server
  assert.equal(await resultOf(url, 'eth_blockNumber', []), quantity(HEAD))
  for (let number = 0; number <= HEAD; number += ALL ? 1 : 4) await check(url, number)
  const failed = inFork(8) - 4
  const [, deposit] = await resultOf<{ action: object; error: string }[]>(url, 'trace_block', [quantity(failed)])
  const stopped = { callType: 'stop', from: `0x${'0'.repeat(40)}`, gas: '0x0', input: '0x' }
  assert.deepEqual([deposit.action, deposit.error], [stopped, 'failed deposit transaction'])
  const raw = await resultOf(url, 'debug_traceBlock', [blocks[failed].raw, { tracer: 'callTracer' }])
  const stored = await resultOf(url, 'debug_traceBlockByNumber', [quantity(failed), { tracer: 'callTracer' }])
  assert.deepEqual(raw, stored)
  // Two calls of at most 100 bytes each, as op-geth estimates them: 400 gas a byte.
  const simulation = { blockStateCalls: [{ calls: [{}, {}] }] }
  const [simulated] = await resultOf<RecordedObject[]>(url, 'eth_simulateV1', [simulation, 'latest'])
  assert.equal(Number(simulated.blobGasUsed), 2 * 100 * 400)
  await checkOtterscan(url, blocks)
  await runCairnOk(['verify', '--datadir', datadir])
})

test('sparse state begins at a block of Ecotone, and answers the same from there on', { skip }, async (t) => {
  const upstream = server
  const first = inFork(3)
  const own = temporaryDirectory(t)
  const sparse = ['--state', 'sparse', '--from', String(first), '--upstream', upstream.url]
  const { url, stop } = await startCairn(t, ['--datadir', own, '--open', '--rollup-config', rollup, ...sparse])
  await untilBlockNumber({ url }, HEAD)
  for (let number = first + 1; number <= HEAD; number++) {
    if (THOROUGH || number % 4 === 0) await check(url, number, true)
    const id = [quantity(number)]
    const receipts = await resultOf(upstream.url, 'eth_getBlockReceipts', id)
    assert.deepEqual(await resultOf(url, 'eth_getBlockReceipts', id), receipts)
  }
  await stop()
  await runCairnOk(['verify', '--datadir', own])
})

test('a block that differs is refused, and the check is named', async (t) => {
  const number = inFork(7)
  const block = decodeBlock(parseHex(blocks[number].raw))
  const own = temporaryDirectory(t)
  const before = blocks.slice(1, number).map(({ raw }) => raw)
  await runCairnOk(['import', '--datadir', own, '--genesis', genesisFile, writeBlocks(join(folder, 'before'), before)])
  const refused = async (changed: Block, expected: RegExp) => {
    const file = writeBlocks(join(folder, 'changed'), [encodeBlock(changed)])
    const { code, stderr } = await runCairn(['import', '--datadir', own, file])
    assert.notEqual(code, 0)
    assert.match(stderr, expected)
  }
  const withHeader = (changes: Partial<Header>) => ({ ...block, header: { ...block.header, ...changes } })
  const withFirst = (changes: Partial<Transaction>) => {
    const transactions = [{ ...block.transactions[0], ...changes }, ...block.transactions.slice(1)]
    return { ...withHeader({ transactionsRoot: transactionsRoot(transactions) }), transactions }
  }
  await refused(withHeader({ withdrawalsRoot: new Uint8Array(32) }), /withdrawals root: expected 0x/)
  await refused(withHeader({ stateRoot: new Uint8Array(32) }), /state root: expected 0x/)
  const [{ input, deposit }] = block.transactions
  await refused(
    withFirst({ deposit: { ...deposit!, isSystemTransaction: true } }),
    /transaction: system transaction: .*none is allowed since Regolith/,
  )
  // One wei more of layer 1's base fee: every transaction pays more.
  await refused(withFirst({ input: input.map((byte, at) => (at === 67 ? byte + 1 : byte)) }), /state root: expected 0x/)
})

test('Karst has the prices of Osaka, and blocks of Beryl are refused', async (t) => {
  const importing = async (forks: object) => {
    const file = join(folder, 'later.json')
    writeFileSync(file, JSON.stringify({ ...genesis, config: { ...genesis.config, ...forks } }))
    const args = ['--genesis', file, chainFile]
    return (await runCairn(['import', '--datadir', temporaryDirectory(t), ...args])).stderr
  }
  // These blocks have Jovian's price of P256VERIFY. The third one calls it.
  const first = 9 * EXECUTED_BLOCKS_PER_FORK + 1
  const time = Number(genesis.timestamp) + 10 * first
  assert.match(await importing({ karstTime: time }), new RegExp(`block ${first + 2} .*gas used: expected`))
  const azul = { azulTime: time, berylTime: time + 10 }
  assert.match(await importing(azul), new RegExp(`block ${first + 1} .*fork: Beryl of Base.*--state none`))
})

test('blocks are not executed without the state of block 0, or with the reference', async (t) => {
  const importing = (...args: readonly string[]) =>
    runCairn(['import', '--datadir', temporaryDirectory(t), ...args, chainFile])
  for (const named of [
    ['--network', 'base'],
    ['--rollup-config', rollup],
  ]) {
    assert.match((await importing(...named)).stderr, /--state execute: the state of block 0 is not known; --genesis/)
  }
  const other = join(folder, 'other.json')
  writeFileSync(other, JSON.stringify({ ...genesis, timestamp: '0x3e9' }))
  const mixed = await importing('--rollup-config', rollup, '--genesis', other)
  assert.match(mixed.stderr, /genesis\.l2\.hash: expected 0x[0-9a-f]{64} of --genesis, got 0x/)
  const reference = await importing('--genesis', genesisFile, '--evm', 'reference')
  const served = await runCairn(['serve', '--datadir', datadir, '--open', '--port', '0', '--evm', 'reference'])
  for (const { stderr } of [reference, served]) {
    assert.match(stderr, /--evm reference does not execute blocks of the OP stack/)
  }
  const engine = ['--engine', String(await freePort()), '--jwt-secret', writeSecret(t)]
  const driven = await runCairn(['serve', '--datadir', datadir, '--open', '--port', '0', ...engine])
  assert.match(
    driven.stderr,
    /--engine: Cairn does not have the Engine API of the OP stack; follow its execution client/,
  )
})
