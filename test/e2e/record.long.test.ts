import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { FixtureManifest } from '../../src/sync/import/recordedFixture.js'
import { runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { startAnvilPeer } from '../support/upstream/anvil.js'
import { compareFrom, type Peer, startTraffic, type Traffic } from '../support/upstream/followPeer.js'
import { findFoundry } from '../support/upstream/foundry.js'
import { SKIP_GETH, startGethPeer } from '../support/upstream/geth.js'
import { findHardhat, startHardhatPeer } from '../support/upstream/hardhat.js'

/* `cairn record` of running nodes: what is served from the recording is what the node answers. */

const anvil = findFoundry('anvil')
const hardhat = findHardhat()
const GAS = '0x30d40'
const ACCOUNT = `0x${'5b'.repeat(20)}`

/** Blocks of every sort: contracts, logs, storage, failing calls and creations, access lists. */
async function makeChain(peer: Peer): Promise<Traffic> {
  const traffic = await startTraffic(peer)
  await traffic.mine(24)
  const accessList = [{ address: traffic.loggers[0], storageKeys: [`0x${'0'.repeat(64)}`] }]
  await peer.mine([
    { gas: GAS, data: '0xfe' }, // a creation that fails
    { gas: GAS, data: '0x60016000f3', value: '0x1' },
    { gas: GAS, to: ACCOUNT, value: '0xde0b6b3a7640000' },
    { gas: GAS, to: traffic.loggers[0], data: `0x${'7'.padStart(64, '0')}`, accessList },
    { gas: GAS, to: traffic.loggers[1], data: `0x${'8'.padStart(64, '0')}`, gasPrice: '0x77359400' },
  ])
  return traffic
}

interface Recorded {
  folder: string
  manifest: FixtureManifest
}

async function record(t: TestContext, peer: Peer, ...args: string[]): Promise<Recorded> {
  const folder = join(temporaryDirectory(t), 'fixture')
  await runCairnOk(['record', '--upstream', peer.url, '--out', folder, '--log-level', 'error', ...args])
  return { folder, manifest: JSON.parse(readFileSync(join(folder, 'fixture.json'), 'utf8')) as FixtureManifest }
}

/** Serves the recording and compares every answer about its blocks from `fromBlock` on. */
async function compare(
  t: TestContext,
  peer: Peer,
  traffic: Traffic,
  { folder, tracing, fromBlock = 0 }: { folder: string; tracing: Tracing; fromBlock?: number },
) {
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', datadir, '--log-level', 'error', folder])
  await runCairnOk(['verify', '--datadir', datadir])
  // A part as the database that it was imported into.
  const server = await startCairn(t, fromBlock === 0 ? ['--fixture', folder] : ['--datadir', datadir, '--open'])
  await compareFrom(fromBlock, { server, peer, datadir, traffic })
  await compareTraces(peer, server.url, tracing, fromBlock)
  const { verified } = (await (await fetch(`${server.url}/health`)).json()) as { verified: boolean }
  return verified
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of two programs
type Json = any

/** How the nodes trace, and what of their traces is compared; what else differs is named. */
interface Tracing {
  config: object
  /** @param own what Cairn answers */
  mend(trace: Json, own: Json): void
}

const CALL_TRACER = { tracer: 'callTracer' }
const GETH: Tracing = { config: CALL_TRACER, mend: () => {} }
const ANVIL: Tracing = {
  config: CALL_TRACER,
  mend: (trace, own) => {
    trace.gas = own.gas // of the transaction, without the intrinsic gas
  },
}
// It has struct logs only, in the form of older versions of geth: whole words without a prefix.
const HARDHAT: Tracing = {
  config: { disableMemory: true, disableStorage: true },
  mend: (trace) => {
    trace.returnValue ||= '0x'
    for (const step of trace.structLogs) {
      step.stack = step.stack.map((word: string) => `0x${BigInt(`0x${word}`).toString(16)}`)
    }
  },
}

/** Compares the trace of every transaction. */
async function compareTraces(peer: Peer, url: string, { config, mend }: Tracing, fromBlock: number): Promise<void> {
  const head = Number(await resultOf<string>(url, 'eth_blockNumber'))
  for (let number = Math.max(1, fromBlock); number <= head; number++) {
    const at = `0x${number.toString(16)}`
    const { transactions } = await resultOf<{ transactions: string[] }>(url, 'eth_getBlockByNumber', [at, false])
    for (const hash of transactions) {
      const [own, trace] = await Promise.all(
        [url, peer.url].map((each) => resultOf<Json>(each, 'debug_traceTransaction', [hash, config])),
      )
      mend(trace, own)
      assert.deepEqual(trace, own, `block ${number}`)
    }
  }
}

test("geth: a recording is verified, and every answer is the node's", { skip: SKIP_GETH }, async (t) => {
  const peer = await startGethPeer(t)
  const traffic = await makeChain(peer)
  const { folder, manifest } = await record(t, peer)
  assert.deepEqual([manifest.verified, manifest.state, manifest.unchecked], [true, 'complete', []])
  assert.equal(await compare(t, peer, traffic, { folder, tracing: GETH }), true)
})

test("anvil: a whole recording is marked as unverified, a part is verified, and every answer is the node's", {
  skip: anvil === undefined && 'anvil cannot be installed',
}, async (t) => {
  const peer = await startAnvilPeer(t, anvil!)
  const traffic = await makeChain(peer)
  const { folder, manifest } = await record(t, peer)
  assert.deepEqual([manifest.verified, manifest.unchecked], [false, ['state root']])
  assert.equal(await compare(t, peer, traffic, { folder, tracing: ANVIL }), false)
  const part = await record(t, peer, '--blocks', '8:20')
  assert.deepEqual(
    [part.manifest.verified, part.manifest.state, part.manifest.blocks],
    [true, 'proved', { from: 8, to: 20 }], // the roots after block 0 are those of its state
  )
  const faults = new RegExp(`${peer.faults.source}|got error \\{"code":-32000,"message":"state of 0x`)
  const compared = { folder: part.folder, tracing: ANVIL, fromBlock: 8 }
  assert.equal(await compare(t, { ...peer, faults }, traffic, compared), true)
})

test('anvil: state that was set outside of transactions, and impersonated senders, are named', {
  skip: anvil === undefined && 'anvil cannot be installed',
}, async (t) => {
  const peer = await startAnvilPeer(t, anvil!)
  await peer.mine([{ gas: GAS, to: ACCOUNT, value: '0x1' }])
  const refused = async (pattern: RegExp) => {
    const out = join(temporaryDirectory(t), 'fixture')
    const { code, stderr } = await runCairn(['record', '--upstream', peer.url, '--out', out, '--log-level', 'error'])
    assert.equal(code, 1)
    assert.match(stderr, pattern)
    assert.ok(!existsSync(out))
  }
  await resultOf(peer.url, 'anvil_setBalance', [ACCOUNT, '0x64'])
  await peer.mine([{ gas: GAS, to: ACCOUNT, value: '0x1' }])
  await refused(
    /balance of 0x5b\w+: executing the blocks gives 2, the node has 101: it was set outside of transactions/,
  )
  await resultOf(peer.url, 'anvil_impersonateAccount', [ACCOUNT])
  await resultOf(peer.url, 'anvil_setBalance', [ACCOUNT, '0xde0b6b3a7640000'])
  const transaction = { from: ACCOUNT, to: ACCOUNT, gas: GAS }
  await resultOf(peer.url, 'eth_sendTransaction', [transaction])
  await resultOf(peer.url, 'anvil_mine', ['0x1'])
  await refused(/block 3.*transactions\[0\]/)
})

test("Hardhat: every answer of a recording is the node's", {
  skip: hardhat === undefined && 'Hardhat cannot be installed',
}, async (t) => {
  const peer = await startHardhatPeer(t, hardhat!)
  const traffic = await makeChain(peer)
  const { folder, manifest } = await record(t, peer)
  await compare(t, peer, traffic, { folder, tracing: HARDHAT })
  assert.equal(manifest.client.split('/')[0], 'HardhatNetwork')
  const part = await record(t, peer, '--blocks', '8:20')
  await compare(t, peer, traffic, { folder: part.folder, tracing: HARDHAT, fromBlock: 8 })
})
void runCairn
