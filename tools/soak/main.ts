import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { yieldToEventLoop } from '../../src/lib/pause.js'
import { DATABASE_FILE } from '../../src/store/open.js'
import { spawnNode, startDefaultCairn } from '../../test/support/cairn.js'
import { openBranches } from '../../test/support/chains/branches.js'
import { checkDatabase } from '../../test/support/compare/checkDatabase.js'
import { seededRandom } from '../../test/support/random.js'
import type { SoakChain } from './chain.js'
import { createLoad } from './load.js'
import { createMainnetChain } from './mainnetChain.js'
import { findTrends, type Sample, sampleHeader, sampleRow, takeSample } from './samples.js'
import { createSmallChain } from './smallChain.js'
import { openSoakSubscriber } from './subscribers.js'
import { startSoakUpstream } from './upstream.js'

/* `npm run soak`: `cairn serve` follows two upstreams, which are killed and come back, along a chain that grows and
 * reorganizes, with subscribers and HTTP load. Prints the server's memory over time. Exit code 1 when a subscriber was
 * notified of anything else than what is on the chain, when the database differs from the upstream's, or when the
 * second half of half an hour or more shows a leak. */

const USAGE = `usage: npm run soak -- [--chain small|mainnet] [--accounts N] [--minutes N] [--seed N] [--subscribers N]
                       [--sample-seconds N] [--check-minutes N]
  --chain NAME         small: a small block each 0.3 to 1.1 s, and reorgs of up to 64 blocks. mainnet: a block of
                       mainnet's size each 2 s, and reorgs of up to 7 blocks. Default: small
  --accounts N         of the state that a mainnet chain begins with: 100000
  --minutes N          how long: 60
  --seed N             of everything random: 1
  --subscribers N      WebSocket clients, each with new heads and logs: 50
  --sample-seconds N   between two rows of the table: 60
  --check-minutes N    between two comparisons: 10`

const REQUEST_MS = [50, 150] as const
const UP_MS = [15_000, 45_000] as const
const DOWN_MS = [500, 8_000] as const
const CHURN_MS = [2_000, 6_000] as const
const COMPARE = fileURLToPath(new URL('compareDatabases.js', import.meta.url))
/** Of the server's log that are printed at the end. */
const MOST_LINES = 50
/** The server waits for its readers from 256 MiB on. */
const MOST_WAL_MB = 512
/** Shorter runs are not judged: caches still fill. */
const LEAST_MINUTES = 30

const { values } = parseArgs({
  options: {
    chain: { type: 'string', default: 'small' },
    accounts: { type: 'string', default: '100000' },
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    subscribers: { type: 'string', default: '50' },
    'sample-seconds': { type: 'string', default: '60' },
    'check-minutes': { type: 'string', default: '10' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const seed = Number(values.seed)
const directory = mkdtempSync(join(tmpdir(), 'cairn-soak-'))
const [nodeDatadir, datadir, genesis] = ['node', 'cairn', 'genesis.json'].map((name) => join(directory, name))
const random = seededRandom(seed)
const chain = await createChain()
const upstreams = [await startSoakUpstream(nodeDatadir), await startSoakUpstream(nodeDatadir)]
writeFileSync(genesis, JSON.stringify(chain.genesis))
const server = await startDefaultCairn({ after() {} }, [
  ...['--datadir', datadir, '--genesis', genesis, '--open', '--metrics'],
  ...upstreams.flatMap(({ url }) => ['--upstream', url]),
])
const { url, socketUrl, running } = server
let stderr = ''
running.child.stderr!.on('data', (text: string) => {
  stderr += text
})
const pid = running.child.pid!
const openSubscriber = () => openSoakSubscriber(socketUrl, { filter: chain.randomFilter(random), blocks: chain.blocks })
const subscribers = await Promise.all(Array.from({ length: Number(values.subscribers) }, openSubscriber))

const begunMs = performance.now()
const minutes = () => (performance.now() - begunMs) / 60_000
const lasts = Number(values.minutes)
const load = createLoad()
const requestRandom = seededRandom(seed + 2)
const totals = { reorgs: 0, removed: 0, kills: 0, checks: 0 }
const samples: Sample[] = []
const problems: string[] = []
let pause: Promise<void> | undefined

async function createChain(): Promise<SoakChain> {
  if (values.chain === 'mainnet') {
    mkdirSync(nodeDatadir)
    const made = await createMainnetChain(nodeDatadir, random, { accounts: Number(values.accounts) })
    mkdirSync(datadir)
    copyFileSync(join(nodeDatadir, DATABASE_FILE), join(datadir, DATABASE_FILE))
    return made
  }
  if (values.chain !== 'small') throw new Error(`--chain: expected small or mainnet, got ${values.chain}`)
  const { db } = await openBranches(datadir) // with chunks that are soon full
  db.close()
  return createSmallChain(nodeDatadir, random)
}

/** Does `step` again and again until the end, after a random time from `fromMs` to `toMs` each. */
async function repeat(seedOffset: number, [fromMs, toMs]: readonly [number, number], step: () => Promise<void>) {
  const own = seededRandom(seed * 1_000 + seedOffset)
  const leftMs = () => (lasts - minutes()) * 60_000
  while (problems.length === 0) {
    await sleep(Math.max(0, Math.min(fromMs + own.below(toMs - fromMs), leftMs())))
    if (leftMs() <= 0) return
    await pause
    await step()
  }
}

async function changeChain(): Promise<void> {
  if (random.below(chain.oneReorgIn) > 0) return chain.grow()
  totals.reorgs++
  totals.removed += await chain.reorganize()
}

const killRandom = seededRandom(seed + 1)
/** One of the upstreams dies, or both, and comes back. */
async function killUpstream(): Promise<void> {
  const dead = [[0], [1], [0, 1]][killRandom.below(3)].map((i) => upstreams[i])
  totals.kills += dead.length
  await Promise.all(dead.map((each) => each.kill()))
  await sleep(DOWN_MS[0] + killRandom.below(DOWN_MS[1] - DOWN_MS[0]))
  await Promise.all(dead.map((each) => each.start()))
}

/** A client that comes and goes. */
async function churn(): Promise<void> {
  const client = await openSubscriber()
  await sleep(500)
  client.close()
}

async function sample(): Promise<void> {
  const [readP99Ms, logsP99Ms] = (['read', 'logs'] as const).map(load.takeP99)
  const counted = { minutes: minutes(), blocks: chain.blocks.length, readP99Ms, logsP99Ms }
  samples.push(await takeSample({ pid, url, datadir }, counted, samples.at(-1)))
  console.log(sampleRow(samples.at(-1)!))
  const { walMb } = samples.at(-1)!
  if (walMb > MOST_WAL_MB) problems.push(`the write-ahead log has ${walMb.toFixed(0)} MB`)
}

/** Stops the chain until all subscribers were notified of its head, and compares. */
async function check(): Promise<void> {
  let resume = () => {}
  pause = new Promise((resolve) => {
    resume = resolve
  })
  await sleep(chain.stepMs[1] * 2) // what was under way
  await chain.grow()
  const { hash } = chain.blocks.at(-1)!
  const notified = Promise.all(subscribers.map((each) => each.reaches(hash))).then(() => true)
  if (!(await Promise.race([notified, sleep(120_000, false)]))) problems.push('the head was not reported in 2 minutes')
  for (const [i, subscriber] of subscribers.entries()) {
    const wrong = subscriber.compare(chain.blocks)
    if (wrong.length > 0) problems.push(`subscriber ${i}: ${wrong.length} differences; first: ${wrong[0]}`)
    await yieldToEventLoop() // a server ends connections that do not answer its pings
  }
  const compared = await spawnNode(['--enable-source-maps', COMPARE, datadir, nodeDatadir]).ended
  if (compared.code !== 0) problems.push(`after ${minutes().toFixed(0)} minutes: ${compared.stderr.slice(0, 1_000)}`)
  totals.checks++
  const received = subscribers.reduce((sum, each) => sum + each.received, 0)
  console.log(
    `${problems.length > 0 ? problems.join('\n') : 'equal'}: ${JSON.stringify({ ...totals, received, counts: load.counts })}`,
  )
  pause = undefined
  resume()
}

console.log(sampleHeader())
await sample()
const sampleMs = Number(values['sample-seconds']) * 1_000
const checkMs = Number(values['check-minutes']) * 60_000
await Promise.all([
  repeat(1, chain.stepMs, changeChain),
  repeat(2, REQUEST_MS, () => load.send(url, chain.randomRequest(requestRandom))),
  repeat(3, UP_MS, killUpstream),
  repeat(4, CHURN_MS, churn),
  repeat(5, [sampleMs, sampleMs + 1], sample),
  repeat(6, [checkMs, checkMs + 1], check),
])
await check()
const trends = lasts < LEAST_MINUTES ? [] : findTrends(samples)
for (const { figure, perHour, errorPerHour, mean, isLeak } of trends) {
  const numbers = [perHour, errorPerHour, mean].map((value) => value.toFixed(2).padStart(9))
  console.log(
    `${figure.padEnd(12)} slope ${numbers[0]} ± ${numbers[1]} an hour, mean ${numbers[2]}: ${isLeak ? 'LEAK' : 'no leak'}`,
  )
}
for (const line of stderr.split('\n').slice(0, MOST_LINES)) console.log(line)
for (const subscriber of subscribers) subscriber.close()
await server.stop()
checkDatabase(datadir)
for (const upstream of upstreams) await upstream.kill()
chain.close()
rmSync(directory, { recursive: true, force: true })
const failed = problems.length > 0 || trends.some(({ isLeak }) => isLeak)
console.log(failed ? 'FAILED' : 'passed')
process.exit(failed ? 1 : 0)
