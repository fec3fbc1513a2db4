import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { FACTORY, LOGGER, SENDERS } from '../support/chains/branches.js'
import { ConsensusDriver } from '../support/engine/consensusDriver.js'
import { startCairnEngine, startFullGethEngine } from '../support/engine/engineServers.js'
import { createPayloadChain } from '../support/engine/payloadChain.js'
import { SideBySide } from '../support/engine/sideBySide.js'
import { seededRandom } from '../support/random.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { THOROUGH } from '../support/thorough.js'
import { SKIP_GETH } from '../support/upstream/geth.js'

const SEED = Number(process.env.SEED ?? 1)
const FORKS = { shanghai: 0, cancun: 0, prague: 0, osaka: 0, amsterdam: THOROUGH ? 70 : 32 }
// geth has the states of 128 blocks: of all that are sent.
const [BEFORE, STEPS] = THOROUGH ? [60, 40] : [24, 4]
const DEEPEST = 8

test('sparse state begins at the finalized block, follows payloads and reorgs, and answers as a full geth does', {
  skip: SKIP_GETH,
}, async (t) => {
  const random = seededRandom(SEED)
  const chain = await createPayloadChain(t, { random, forks: FORKS })
  const geth = await startFullGethEngine(t, chain.genesis)
  const nodes = new SideBySide(geth, geth)
  const driver = new ConsensusDriver(nodes, chain, random)
  while (chain.head < BEFORE) await driver.extend()
  await driver.finalize(16)
  const args = ['--state', 'sparse', '--upstream', geth.url, '--compat', 'geth', '--block-access-lists=on']
  const cairn = await startCairnEngine(t, { genesis: chain.genesis, args })
  nodes.cairn = cairn
  await driver.catchUp()
  const first = Number(
    (await resultOf<{ number: string }>(cairn.url, 'eth_getBlockByNumber', ['finalized', false])).number,
  )
  assert.equal(first, driver.finalizedBlock)
  const { error } = await ask(cairn.url, 'eth_getBalance', [formatData(LOGGER), formatQuantity(first - 1)])
  assert.ok(error, 'it has state before its first block')
  let compared = await compareState()
  for (let i = 0; i < STEPS; i++) {
    await driver.extend()
    await driver.reorg(1 + random.below(DEEPEST))
    await driver.step(DEEPEST)
  }
  await driver.invalid()
  await driver.finalize(10)
  await driver.compareChains(first)
  compared += await compareState()
  t.diagnostic(JSON.stringify({ first, head: chain.head, compared, ...driver.counts, differences: [...nodes.seen] }))

  /** Compares state at each block since the first one. @returns how many answers */
  async function compareState(): Promise<number> {
    const requests: [string, unknown[]][] = []
    const others = Array.from({ length: 3 }, () => random.bytes(20))
    for (let number = first; number <= chain.head; number += 1 + random.below(4)) {
      const at = formatQuantity(number)
      for (const account of [...SENDERS.map(({ address }) => address), LOGGER, FACTORY, ...others]) {
        const address = formatData(account)
        requests.push(['eth_getBalance', [address, at]], ['eth_getTransactionCount', [address, at]])
        requests.push(['eth_getCode', [address, at]])
      }
      const logger = formatData(LOGGER)
      const slot = formatQuantity(random.below(30))
      requests.push(['eth_getStorageAt', [logger, slot, at]], ['eth_getProof', [logger, [slot], at]])
      const data = formatData(random.bytes(96))
      requests.push(['eth_call', [{ to: logger, data }, at]], ['eth_estimateGas', [{ to: logger, data }, at]])
    }
    for (const [method, params] of requests) {
      const [expected, actual] = await Promise.all([geth, cairn].map(({ url }) => ask(url, method, params)))
      assert.deepEqual(actual.result, expected.result, `${method} ${JSON.stringify(params)}`)
      assert.equal(actual.error?.code, expected.error?.code, `${method} ${JSON.stringify(params)}`)
    }
    return requests.length
  }
})
