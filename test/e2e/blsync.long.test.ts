import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { spawnProgram } from '../support/cairn.js'
import { SENDERS } from '../support/chains/branches.js'
import { serveBeaconApi } from '../support/engine/beacon/beaconApi.js'
import {
  type BeaconBlock,
  createBeaconBlock,
  createCommittees,
  ELECTRA_VERSION,
  SLOTS_PER_PERIOD,
  VALIDATORS_ROOT,
} from '../support/engine/beacon/beaconChain.js'
import { callEngine, writeSecret } from '../support/engine/engineClient.js'
import { type EngineNode, startCairnEngine, startFullGethEngine } from '../support/engine/engineServers.js'
import { type BuiltPayload, createPayloadChain } from '../support/engine/payloadChain.js'
import { forkChoiceOf } from '../support/engine/payloads.js'
import { seededRandom } from '../support/random.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { untilValue } from '../support/until.js'
import { SKIP_GETH } from '../support/upstream/geth.js'

type After = { after(callback: () => void | Promise<void>): void }

const HAS_BLSYNC = spawnSync('blsync', ['--version'], { encoding: 'utf8' }).status === 0
const NEVER = Number.POSITIVE_INFINITY
const FORKS = { shanghai: 0, cancun: 0, prague: 0, osaka: NEVER, amsterdam: NEVER }
const SECONDS_PER_SLOT = 12
/** The first slot of the second committee. */
const SECOND = SLOTS_PER_PERIOD
const FORK_NAMES = ['ALTAIR', 'BELLATRIX', 'CAPELLA', 'DENEB', 'ELECTRA']

/** `config.yaml` of a chain that has all forks from its begin. */
function beaconConfig(): string {
  const versions = FORK_NAMES.map((name, i) => {
    const version = name === 'ELECTRA' ? formatData(ELECTRA_VERSION) : `0x0${i + 1}000035`
    return `${name}_FORK_VERSION: "${version}"\n${name}_FORK_EPOCH: 0\n`
  })
  return `GENESIS_FORK_VERSION: "0x00000035"\n${versions.join('')}`
}

/** Starts geth's light client on a beacon API and an Engine API. It ends with the test. */
function startBlsync(
  t: After,
  { beaconUrl, engineUrl, checkpoint }: { beaconUrl: string; engineUrl: string; checkpoint: BeaconBlock },
): void {
  const config = join(temporaryDirectory(t), 'config.yaml')
  writeFileSync(config, beaconConfig())
  // All slots of the test are over.
  const genesisTime = Math.floor(Date.now() / 1000) - SECONDS_PER_SLOT * (SECOND + 64)
  const { child, ended } = spawnProgram('blsync', [
    ...['--beacon.api', beaconUrl, '--beacon.config', config, '--beacon.genesis.time', String(genesisTime)],
    ...['--beacon.genesis.gvroot', formatData(VALIDATORS_ROOT), '--beacon.checkpoint', formatData(checkpoint.root)],
    ...['--blsync.engine.api', engineUrl, '--blsync.jwtsecret', writeSecret(t)],
  ])
  t.after(async () => {
    child.kill('SIGKILL')
    const { stderr } = await ended
    if (process.env.CAIRN_TEST_LOG) process.stderr.write(stderr)
  })
}

test('blsync drives sparse state from a checkpoint on: no node is trusted', {
  skip: SKIP_GETH || (!HAS_BLSYNC && 'no blsync on the PATH'),
}, async (t) => {
  const random = seededRandom(35)
  const chain = await createPayloadChain(t, { random, forks: FORKS })
  const geth = await startFullGethEngine(t, chain.genesis)
  const committees = createCommittees()
  const toGeth = async ({ payload }: BuiltPayload) => {
    await callEngine(geth.engineUrl, payload.method, payload.params)
    const zero = `0x${'00'.repeat(32)}`
    const state = { headBlockHash: payload.hash, safeBlockHash: zero, finalizedBlockHash: zero }
    await callEngine(geth.engineUrl, forkChoiceOf(payload), [state, null])
  }
  const addBlock = async (slot: number, parent?: BeaconBlock, finalized?: BeaconBlock): Promise<BeaconBlock> => {
    const built = await chain.add(parent && { parentBeaconBlockRoot: parent.root })
    await toGeth(built)
    return createBeaconBlock(committees, { slot, payload: built.block, parent, finalized })
  }
  for (let i = 0; i < 20; i++) await toGeth(await chain.add())
  const checkpoint = await addBlock(SECOND - 32)
  const api = await serveBeaconApi(t, { committees, checkpoint })
  // The last blocks of the first committee, and the first ones of the second.
  let head = checkpoint
  const publishAt = async (slot: number, finalized?: BeaconBlock) => {
    head = await addBlock(slot, head, finalized)
    await api.publish(head)
  }
  for (const slot of [SECOND - 9, SECOND - 2]) await publishAt(slot)
  await publishAt(SECOND, checkpoint)
  const args = ['--state', 'sparse', '--upstream', geth.url, '--compat', 'geth']
  const cairn = await startCairnEngine(t, { genesis: chain.genesis, args })
  startBlsync(t, { beaconUrl: api.url, engineUrl: cairn.engineUrl, checkpoint })
  const hashOf = async ({ url }: EngineNode, tag: string) =>
    ((await ask(url, 'eth_getBlockByNumber', [tag, false])).result as { hash: string } | null | undefined)?.hash
  const untilHead = async (block: BeaconBlock) => {
    const wanted = formatData(block.payload.hash)
    await untilValue(
      () => hashOf(cairn, 'latest'),
      (hash) => hash === wanted,
    )
  }
  await untilHead(head)
  assert.equal(await hashOf(cairn, 'finalized'), formatData(checkpoint.payload.hash))

  for (let slot = SECOND + 1; slot < SECOND + 4; slot++) {
    await publishAt(slot, checkpoint)
    await untilHead(head)
  }
  const finalized = head
  await publishAt(SECOND + 4, finalized)
  await untilHead(head)
  assert.equal(await hashOf(cairn, 'finalized'), formatData(finalized.payload.hash))

  // A branch of two blocks: the light client sees the second one only, and the first is fetched.
  const left = head
  chain.rewind(finalized.payload.header.number)
  head = await addBlock(SECOND + 5, finalized, finalized)
  await publishAt(SECOND + 6, finalized)
  await untilHead(head)
  assert.notEqual(head.payload.header.parentHash, left.payload.hash)

  for (const { address } of SENDERS) {
    for (let { number } = checkpoint.payload.header; number <= chain.head; number++) {
      const params = [formatData(address), formatQuantity(number)]
      assert.equal(
        await resultOf(cairn.url, 'eth_getBalance', params),
        await resultOf(geth.url, 'eth_getBalance', params),
      )
    }
  }
  const health = (await (await fetch(`${cairn.url}/health`)).json()) as {
    following: { engine: { newPayloads: number; invalidPayloads: number } }
  }
  t.diagnostic(JSON.stringify({ head: chain.head, ...health.following.engine, requests: api.requests.length }))
  assert.equal(health.following.engine.invalidPayloads, 0)
  const kinds = ['bootstrap/', 'updates', 'finality_update', 'optimistic_update']
  for (const kind of kinds) {
    assert.ok(
      api.requests.some((path) => path.includes(`light_client/${kind}`)),
      kind,
    )
  }
})
