import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type GrowingChain, growRandomChain } from '../../tools/fuzz-chain/buildChain.js'
import { readFacts } from '../../tools/fuzz-chain/facts.js'
import { type CairnServer, runCairnOk, startCairn } from '../support/cairn.js'
import { compareWithComplete, SPARSE_LIMITS } from '../support/compare/sparseAnswers.js'
import { type SeededRandom, seededRandom } from '../support/random.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { untilValue } from '../support/until.js'
import { type ChangingProxy, startChangingProxy } from '../support/upstream/changingProxy.js'
import { type FullGeth, SKIP_GETH, startFullGeth } from '../support/upstream/geth.js'

/* The whole of sparse state: a geth that keeps 128 states is followed from the middle of a random chain, through reorgs
 * and its restart. Every answer is that of a complete Cairn which followed it from the genesis, and geth was asked for
 * no older state than a full node has. */

const MODES = THOROUGH ? ['witness', 'proofs', 'auto'] : ['proofs']
const TAIL = THOROUGH ? 950 : 160
const REORGS = THOROUGH ? 20 : 2
const REQUESTS = THOROUGH ? 10_000 : 3_000
// Of the requests each how many-th is asked.
const STEP = THOROUGH ? 1 : 120
/** Transactions of a block, at most. */
const MOST = THOROUGH ? 7 : 3
const DEEPEST = 20
const STATES = 128
const SEED = Number(process.env.SEED ?? 1)
const MAX_SHOWN = 5

for (const [i, mode] of MODES.entries()) {
  test(`behind a full geth, by ${mode}: all heights since the first block are answered as by a complete Cairn`, {
    skip: SKIP_GETH,
  }, async (t) => {
    const random = seededRandom(SEED + i)
    const network = await startNetwork(t, SEED + i)
    const { chain } = network
    await network.grow(Math.floor(chain.last / 2))
    const complete = await startCairn(t, ['--datadir', temporaryDirectory(t), ...follow(network, network.geth.url)])
    await reach(complete, network)
    const datadir = temporaryDirectory(t)
    const sparseArgs = ['--datadir', datadir, '--state', 'sparse', '--state-fetch', mode]
    const start = () => startCairn(t, [...sparseArgs, ...follow(network, network.watched.url)])
    let sparse = await start()
    await reach(sparse, network)
    const first = await stateFirst(sparse)
    const ends = [...endsOf(chain, random)]
    for (const [round, end] of ends.entries()) {
      await network.grow(end - chain.head)
      await Promise.all([sparse, complete].map((each) => reach(each, network)))
      await network.reorg(1 + random.below(DEEPEST), random)
      if (round === Math.floor(ends.length / 2)) await network.geth.restart()
      if (round === 1) {
        await sparse.stop()
        sparse = await start()
      }
      await Promise.all([sparse, complete].map((each) => reach(each, network)))
    }
    const facts = await readFacts((method, params) => resultOf(complete.url, method, params), chain)
    const served = { complete, genesis: network.genesis, facts, head: chain.head, first }
    const { compared, skipped, differences } = await compareWithComplete(sparse, served, {
      ...{ random, count: REQUESTS, step: STEP },
      // Of the blocks before the merge, which geth does not have any more.
      ignored: /"totalDifficulty":"0x[0-9a-f]+",/g,
    })
    t.diagnostic(`first block ${first} of ${chain.head}; compared ${compared}, skipped ${skipped}`)
    t.diagnostic(`requests about states: ${network.asked()}; the oldest was ${network.oldest} blocks old`)
    assert.deepEqual(differences.slice(0, MAX_SHOWN), [], `${differences.length} differences`)
    assert.ok(compared > REQUESTS / STEP / 2)
    assert.ok(network.oldest < STATES)
    await sparse.stop()
    assert.match(await runCairnOk(['verify', '--datadir', datadir]), /^state: roots of \d+ blocks, /m)
  })
}

/** The heads between which there is a reorg. */
function* endsOf({ head, last }: GrowingChain, random: SeededRandom): Generator<number> {
  for (let reorg = 1; reorg <= REORGS; reorg++) {
    const end = head + Math.floor(((last - head) * reorg) / REORGS)
    yield reorg === REORGS ? last : end - random.below(3)
  }
}

interface Network {
  readonly chain: GrowingChain
  readonly genesis: string
  readonly geth: FullGeth
  /** geth behind a proxy that sees what is asked. */
  readonly watched: ChangingProxy
  /** How old the oldest state was that was asked for through the proxy, in blocks. */
  readonly oldest: number
  /** How often each method that needs a state was asked. */
  asked(): string
  grow(count: number): Promise<void>
  reorg(depth: number, random: SeededRandom): Promise<void>
}

/** A full geth that imports a random chain as it grows. */
async function startNetwork(t: TestContext, seed: number): Promise<Network> {
  const folder = temporaryDirectory(t)
  const chain = await growRandomChain(seed, { tail: TAIL, most: MOST })
  t.after(() => chain.close())
  const genesis = join(folder, 'genesis.json')
  writeFileSync(genesis, chain.genesis)
  const geth = await startFullGeth(t, { genesis, args: ['--rpc.gascap=10000000'] })
  const watched = await startChangingProxy(t, geth.url)
  const numbers = new Map<string, number>()
  const counts = new Map<string, number>()
  let oldest = 0
  let files = 0
  const put = async (blocks: Uint8Array) => {
    const file = join(folder, `${files++}.rlp`)
    writeFileSync(file, blocks)
    await geth.import(file)
  }
  watched.fault = {
    call: (call) => {
      const at = STATE_METHODS[call.method]?.(call.params as unknown[])
      if (at !== undefined) {
        counts.set(call.method, (counts.get(call.method) ?? 0) + 1)
        oldest = Math.max(oldest, chain.head - (numbers.get(at) ?? Number(at)))
      }
      return call
    },
  }
  const grow = async (count: number) => {
    const from = chain.head
    const blocks = await chain.add(count)
    for (let number = from + 1; number <= chain.head; number++) numbers.set(chain.hash(number), number)
    await put(blocks)
  }
  return {
    ...{ chain, genesis, geth, watched, grow },
    get oldest() {
      return oldest
    },
    asked: () => [...counts].map(([method, count]) => `${method} ${count}`).join(', '),
    reorg: async (depth, random) => {
      chain.rewind(depth)
      // A branch may be shorter than what it replaces; at the end of the schedule it cannot be longer.
      await grow(Math.min(depth + random.below(2), chain.last - chain.head))
    },
  }
}

/** The block whose state a call needs: a hash or a number. */
const STATE_METHODS: { readonly [method: string]: (params: unknown[]) => string } = {
  eth_getProof: (params) => blockOf(params[2]),
  eth_getCode: (params) => blockOf(params[1]),
  eth_createAccessList: (params) => blockOf(params[1]),
  // The witness of a block is of its parent's state.
  debug_executionWitness: (params) => blockOf(params[0]),
}

function blockOf(param: unknown): string {
  return typeof param === 'object' ? (param as { blockHash: string }).blockHash : String(param)
}

function follow({ genesis }: Network, url: string): string[] {
  return ['--open', '--genesis', genesis, '--upstream', url, ...SPARSE_LIMITS]
}

async function reach({ url }: CairnServer, { chain }: Network): Promise<void> {
  const hash = chain.hash(chain.head)
  await untilValue(
    async () => ((await ask(url, 'eth_getBlockByNumber', ['latest', false])).result as { hash: string } | null)?.hash,
    (found) => found === hash,
    600_000,
  )
}

async function stateFirst({ url }: CairnServer): Promise<number> {
  const { coverage } = (await (await fetch(`${url}/health`)).json()) as { coverage: { stateFirst: number } }
  return coverage.stateFirst
}
