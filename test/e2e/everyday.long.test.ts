import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatQuantity } from '../../src/lib/hex.js'
import type { HealthReport } from '../../src/server/admin/healthReport.js'
import { EverydayContracts } from '../support/chains/everydayContracts.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { startAnvilPeer } from '../support/upstream/anvil.js'
import { compareFrom, type Peer, reachHead, startFollower, startTraffic } from '../support/upstream/followPeer.js'
import { findFoundry } from '../support/upstream/foundry.js'
import { SKIP_GETH, startGethPeer } from '../support/upstream/geth.js'

/* Development nodes are followed through what contracts do every day: contracts written in Solidity, constructors that
 * write zeros, creations that fail, contracts that are created and destroyed, deployments, slots that are set and
 * cleared, value for new accounts. */

const BLOCKS = THOROUGH ? 1_000 : 48

const ANVIL_GAS = 3_000_000
const GETH_GAS = '0x989680' // 10,000,000
const CREATIONS = [
  '0x5f5f555f5ff3', // SSTORE(0, 0) in a constructor
  '0xfe', // fails
  '0x33ff', // SELFDESTRUCT in a constructor
  '0x6001600055600060005560016002555f5ff3', // sets a slot, clears it, sets another
  '0x5f5ffd', // reverts
  '0x60205ff3', // a word of code
  '0x5f5f5f5f600160fe5af15f5ff3', // a call with value that fails
  '0x635f5ff3005f526004601c5ff05f5ff3', // creates a contract
]

/** Half of the transactions are of Solidity contracts, a quarter are creations, the others transfers, calls and
 *  failures. Each may use `gas`. */
async function mineEveryday(peer: Peer, gas: string) {
  const traffic = await startTraffic(peer, gas)
  const contracts = await EverydayContracts.deploy(peer, gas)
  const transactions = Array.from({ length: BLOCKS }, (_, i) => {
    if (i % 2 === 0) return contracts.make()
    return i % 4 === 1 ? { gas, data: CREATIONS[((i - 1) / 4) % CREATIONS.length] } : traffic.make()
  })
  const hashes = await peer.mine(transactions)
  await contracts.checkReceipts(hashes.filter((_, i) => i % 2 === 0))
  return { traffic, asksAt: (blockNumber: number) => contracts.asksAt(blockNumber) }
}

/** Follows the peer and compares every answer. @returns whether all state roots were right */
async function follow(t: TestContext, peer: Peer, gas: string): Promise<boolean | null> {
  const { traffic, asksAt } = await mineEveryday(peer, gas)
  const datadir = temporaryDirectory(t)
  const server = await startFollower(t, { datadir, peer })
  const head = await reachHead(server, peer)
  assert.ok(head >= BLOCKS)
  await compareFrom(0, { server, peer, datadir, traffic, asksAt })
  const { verified, problem } = (await (await fetch(`${server.url}/health`)).json()) as HealthReport
  assert.equal(problem, null)
  return verified
}

test(`geth in its dev mode: ${BLOCKS} blocks of everyday contracts are verified, and every answer is its own`, {
  skip: SKIP_GETH,
}, async (t) => {
  assert.equal(await follow(t, await startGethPeer(t), GETH_GAS), true)
})

const anvil = findFoundry('anvil')

test(`anvil: ${BLOCKS} blocks of everyday contracts are followed, and every answer but proofs is its own`, {
  skip: anvil === undefined && 'anvil cannot be installed',
}, async (t) => {
  const peer = await startAnvilPeer(t, anvil!, { gasLimit: ANVIL_GAS + 10_000 })
  const faults = new RegExp(`${peer.faults.source}|^eth_getProof `)
  assert.equal(await follow(t, { ...peer, faults }, formatQuantity(ANVIL_GAS)), false)
})
