import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { runCairnOk } from '../support/cairn.js'
import { SENDERS } from '../support/chains/branches.js'
import { callEngine } from '../support/engine/engineClient.js'
import { type EngineNode, startCairnEngine, startGethEngine } from '../support/engine/engineServers.js'
import { type BuiltPayload, createPayloadChain, type PayloadChain } from '../support/engine/payloadChain.js'
import { forkChoiceOf } from '../support/engine/payloads.js'
import { SideBySide } from '../support/engine/sideBySide.js'
import { seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { untilValue } from '../support/until.js'
import { SKIP_GETH } from '../support/upstream/geth.js'

const SEED = Number(process.env.SEED ?? 1)
const FORKS = { shanghai: 0, cancun: 0, prague: 0, osaka: 0, amsterdam: 60 }
/** When the process is killed, and up to how many milliseconds later. */
const MOMENTS = {
  'before the fork choice': 0,
  'during a reorg': 400,
  'during a gap': 2_000,
  'after a random time': 1_500,
  'during a payload': 30,
}
const KILLS = 30
const GAP = 40
// Payloads of a consensus client that has just seen the restart.
const SENT_AGAIN = 3

/** The blocks of a consensus client whose execution client is killed: geth has all of them. */
class KilledBeside {
  private readonly chain: PayloadChain
  private readonly geth: EngineNode
  private readonly trunk: BuiltPayload[] = []
  finalized: string

  constructor(chain: PayloadChain, geth: EngineNode) {
    this.chain = chain
    this.geth = geth
    this.finalized = chain.genesisHash
  }

  get newest(): BuiltPayload {
    return this.trunk[this.trunk.length - 1]
  }

  /** Hashes of the stored chain from block 0 on. */
  get hashes(): string[] {
    return [this.chain.genesisHash, ...this.trunk.map(({ payload }) => payload.hash)]
  }

  /** Adds `count` blocks after leaving the newest `depth`. They are sent to geth, which makes the last one its head. */
  async grow(count: number, depth = 0): Promise<BuiltPayload[]> {
    if (depth > 0) {
      this.trunk.length -= depth
      this.chain.rewind(this.trunk.length)
    }
    const added: BuiltPayload[] = []
    for (let i = 0; i < count; i++) {
      const built = await this.chain.add()
      added.push(built)
      await sendTo(this.geth, built)
    }
    this.trunk.push(...added)
    await this.chooseAt(this.geth)
    return added
  }

  async chooseAt({ engineUrl }: Pick<EngineNode, 'engineUrl'>): Promise<void> {
    const { payload } = this.newest
    await callEngine(engineUrl, forkChoiceOf(payload), [this.state(), null])
  }

  state() {
    const { hash: headBlockHash } = this.newest.payload
    return { headBlockHash, safeBlockHash: this.finalized, finalizedBlockHash: this.finalized }
  }

  finalize(depth: number): void {
    if (this.trunk.length > depth) this.finalized = this.trunk[this.trunk.length - 1 - depth].payload.hash
  }

  /** What a consensus client does after a restart: it sends its newest payloads, and the fork choice until it is
   *  reached. */
  async recover(cairn: EngineNode): Promise<void> {
    for (const built of this.trunk.slice(-SENT_AGAIN)) await sendTo(cairn, built)
    const { hash } = this.newest.payload
    const readHead = async () => {
      await this.chooseAt(cairn)
      return (await headOf(cairn))?.hash
    }
    await untilValue(readHead, (head) => head === hash)
  }
}

async function sendTo({ engineUrl }: Pick<EngineNode, 'engineUrl'>, { payload }: BuiltPayload): Promise<void> {
  await callEngine(engineUrl, payload.method, payload.params)
}

const headOf = ({ url }: EngineNode, tag = 'latest') =>
  resultOf<{ hash: string; number: string } | null>(url, 'eth_getBlockByNumber', [tag, false])

/** Compares head, safe and finalized blocks, the newest receipts, balances, and answers to the Engine API. */
async function compareWith(nodes: SideBySide, blocks: KilledBeside): Promise<void> {
  const { geth, cairn } = nodes
  const same = async (method: string, params: unknown[]) => {
    const [expected, actual] = await Promise.all([geth, cairn].map(({ url }) => resultOf(url, method, params)))
    assert.deepEqual(actual, expected, `${method} ${JSON.stringify(params)}`)
  }
  for (const tag of ['latest', 'safe', 'finalized']) {
    assert.equal((await headOf(cairn, tag))?.hash, (await headOf(geth, tag))?.hash, tag)
  }
  const head = blocks.hashes.length - 1
  for (let number = Math.max(1, head - 40); number <= head; number++) {
    await same('eth_getBlockReceipts', [formatQuantity(number)])
  }
  for (const { address } of SENDERS) {
    for (const method of ['eth_getBalance', 'eth_getTransactionCount']) {
      await same(method, [formatData(address), 'latest'])
      await same(method, [formatData(address), formatQuantity(Math.max(0, head - 30))])
    }
  }
  const { payload } = blocks.newest
  const named = { own: payload.hash, parent: payload.parentHash }
  assert.equal(await nodes.send(payload.method, payload.params, named), 'VALID own')
  assert.equal(await nodes.send(forkChoiceOf(payload), [blocks.state(), null], named), 'VALID own')
  await nodes.send('engine_getPayloadBodiesByHashV1', [blocks.hashes.slice(-20)])
  await nodes.send('engine_getPayloadBodiesByRangeV1', [formatQuantity(Math.max(1, head - 25)), '0x20'])
}

test('killed at any moment, the process resumes with the head of a fork choice, and answers as geth does', {
  // Without geth, a few kills are part of engine.long.test.ts.
  skip: SKIP_GETH || (!THOROUGH && 'takes minutes: npm run test:thorough'),
}, async (t) => {
  const random = seededRandom(SEED)
  const chain = await createPayloadChain(t, { random, forks: FORKS })
  const geth = await startGethEngine(t, chain.genesis)
  const blocks = new KilledBeside(chain, geth)
  const datadir = temporaryDirectory(t)
  const start = () =>
    startKillable(t, { genesis: chain.genesis, datadir, args: ['--upstream', geth.url, '--compat', 'geth'] })
  let cairn = await start()
  const nodes = new SideBySide(geth, cairn)
  await blocks.grow(36)
  await blocks.recover(cairn)
  const kept = { before: 0, after: 0, between: 0 }
  for (let kill = 0; kill < KILLS; kill++) {
    const [moment, delayMs] = Object.entries(MOMENTS)[kill % Object.keys(MOMENTS).length]
    const head = blocks.hashes.length - 1
    const former = blocks.hashes
    const work = await prepare(moment)
    const working = work().catch(() => {}) // it is killed meanwhile
    if (moment === 'before the fork choice') await working
    else await delay(random.below(delayMs))
    await cairn.kill()
    await working
    cairn = await start()
    nodes.cairn = cairn
    const { hash, number } = (await headOf(cairn))!
    const at = Number(number)
    const isBefore = at === head && hash === former[head]
    const isAfter = at === blocks.hashes.length - 1 && hash === blocks.newest.payload.hash
    // A gap is filled, and payloads arrive, in more than one transaction.
    const mayBeBetween = moment === 'during a gap' || moment === 'after a random time'
    const isBetween = mayBeBetween && hash === blocks.hashes[at]
    assert.ok(isBefore || isAfter || isBetween, `kill ${kill} ${moment}: head ${number} ${hash}`)
    assert.ok(moment !== 'before the fork choice' || isBefore, `kill ${kill}: a provisional block is stored`)
    kept[isBefore ? 'before' : isAfter ? 'after' : 'between']++
    if (kill % 3 === 2) blocks.finalize(34)
    await blocks.grow(0)
    await blocks.recover(cairn)
    await compareWith(nodes, blocks)
  }
  t.diagnostic(JSON.stringify({ kills: KILLS, head: chain.head, compared: nodes.requests, ...kept }))
  await cairn.stop()
  await runCairnOk(['verify', '--datadir', datadir])

  /** Builds what happens while the process is killed. */
  async function prepare(moment: string): Promise<() => Promise<void>> {
    const sending = cairn
    if (moment === 'during a reorg') {
      const depth = 8 + random.below(25)
      const branch = await blocks.grow(depth + 1, depth)
      for (const built of branch) await sendTo(sending, built)
      return () => blocks.chooseAt(sending)
    }
    if (moment === 'during a gap') {
      const missed = await blocks.grow(GAP)
      return () => sendAndChoose(sending, missed[missed.length - 1])
    }
    const added = await blocks.grow(moment === 'after a random time' ? 30 : 1)
    if (moment === 'before the fork choice') return () => sendTo(sending, added[0])
    return async () => {
      for (const built of added) await sendAndChoose(sending, built)
    }
  }

  async function sendAndChoose(to: EngineNode, built: BuiltPayload): Promise<void> {
    await sendTo(to, built)
    const state = { ...blocks.state(), headBlockHash: built.payload.hash }
    await callEngine(to.engineUrl, forkChoiceOf(built.payload), [state, null])
  }
})

/** Cairn, to be killed by the test. */
async function startKillable(
  t: { after(callback: () => void | Promise<void>): void },
  options: { genesis: string; datadir: string; args: string[] },
) {
  const endings: (() => void | Promise<void>)[] = []
  const server = await startCairnEngine({ after: (ending) => void endings.push(ending) }, options)
  let isRunning = true
  const kill = async () => {
    if (!isRunning) return
    isRunning = false
    server.running.child.kill('SIGKILL')
    await server.running.ended
  }
  t.after(kill)
  const stop = async () => {
    isRunning = false
    await server.stop()
  }
  return { ...server, kill, stop }
}
