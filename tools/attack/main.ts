import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type BenchProcess, startProcess } from '../../bench/lib/process.js'
import { mountSmallDisk, SKIP_SMALL_DISK } from '../../test/support/smallDisk.js'
import { type Arena, type AttackedServer, copyArena, createArena, startAttacked } from './arena.js'
import { type Attack, FAULT } from './attack.js'
import { ATTACKS } from './attacks.js'
import type { AttackOutcomes, AttackPlan } from './processes/attacker.js'
import type { BystanderPlan, BystanderResult } from './processes/bystander.js'

/* `npm run attack`: attacks a server on loopback in every way that docs/verification.md lists, one after another, each
 * on a fresh server with its defaults, while a bystander with a key of its own keeps asking. Prints peak memory and the
 * bystander's times. Exit code 1 when a server died, used too much memory, did not stop, or kept the bystander
 * waiting. */

const USAGE = `usage: npm run attack -- [--only NAME[,NAME]] [--seconds N] [--seed N] [--scale X] [--lenient] [--json FILE]
  --only LIST    of: ${ATTACKS.map(({ name }) => name).join(', ')}
  --seconds N    how long each attack lasts: 30
  --seed N       seed of everything random: 1
  --scale X      clients and sizes, in parts of the whole: 1
  --lenient      does not judge the bystander's times`

const LIMIT_BYTES = 1_500 * 2 ** 20
const BEAT_MS = 10
const MAX_P99_MS = 100
const REST_MS = 1_000
/** Of the file system of an attack that needs a small one: the chain takes less than 2. */
const DISK_MB = 16
/** Outcomes that are printed; the JSON report has all. */
const MOST_OUTCOMES = 5
/** The server has to stop while the attack continues; it gives itself 15 s. */
const STOP_MS = 20_000

interface Report {
  attack: string
  peakMb: number | undefined
  enforced: boolean
  bystander: BystanderResult
  outcomes: { [outcome: string]: number }
  faults: string[]
}

interface Options {
  attacks: readonly Attack[]
  seconds: number
  seed: number
  scale: number
  lenient: boolean
  json: string | undefined
}

const options = parseOptions()
const arena = await createArena()
const reports: Report[] = []
try {
  console.log(
    ['attack'.padEnd(20), 'peak MB', 'eth_blockNumber p50/p99/max ms', 'eth_call p50/p99 ms', 'outcomes'].join('  '),
  )
  for (const attack of options.attacks) {
    if (attack.needsSmallDisk && SKIP_SMALL_DISK !== false) {
      console.log(`${attack.name.padEnd(20)}  skipped: ${SKIP_SMALL_DISK}`)
      continue
    }
    const report = await runPlaced(arena, attack, options)
    reports.push(report)
    print(report)
  }
} finally {
  arena.remove()
}
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(reports, undefined, 2)}\n`)
if (reports.some(({ faults }) => faults.length > 0)) process.exitCode = 1

function parseOptions(): Options {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      seconds: { type: 'string', default: '30' },
      seed: { type: 'string', default: '1' },
      scale: { type: 'string', default: '1' },
      lenient: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(USAGE)
    process.exit(0)
  }
  const wanted = values.only.split(',').filter((name) => name !== '')
  const unknown = wanted.find((name) => !ATTACKS.some((attack) => attack.name === name))
  const [seconds, seed, scale] = [values.seconds, values.seed, values.scale].map(Number)
  if (unknown !== undefined || !(seconds > 0 && scale > 0 && Number.isSafeInteger(seed))) {
    console.error(unknown === undefined ? USAGE : `no attack is called '${unknown}'\n${USAGE}`)
    process.exit(2)
  }
  const attacks = ATTACKS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
  return { attacks, seconds, seed, scale, lenient: values.lenient, json: values.json }
}

/** Runs an attack, on a file system of its own where it needs one. */
async function runPlaced(arena: Arena, attack: Attack, options: Options): Promise<Report> {
  if (!attack.needsSmallDisk) return runAttack(arena, attack, options)
  const cleanUps: (() => void | Promise<void>)[] = []
  try {
    const disk = mountSmallDisk({ after: (cleanUp) => void cleanUps.push(cleanUp) }, DISK_MB)
    return await runAttack(copyArena(arena, disk.path), attack, options)
  } finally {
    for (const cleanUp of cleanUps) await cleanUp()
  }
}

async function runAttack(arena: Arena, { name, options: serveOptions }: Attack, options: Options): Promise<Report> {
  const server = await startAttacked(arena, LIMIT_BYTES, serveOptions)
  const bystanderPlan: BystanderPlan = { url: server.url, everyMs: BEAT_MS }
  const bystander = startProcess<BystanderResult>(new URL('./processes/bystander.js', import.meta.url), bystanderPlan)
  let attacker: BenchProcess<AttackOutcomes> | undefined
  try {
    await sleep(REST_MS)
    bystander.send('count')
    await bystander.next() // what it met while everything started is no part of it
    server.resetPeak()
    const { seed, scale, seconds } = options
    const plan: AttackPlan = { name, target: server.target, seed, scale }
    attacker = startProcess<AttackOutcomes>(new URL('./processes/attacker.js', import.meta.url), plan)
    await sleep(seconds * 1000)
    attacker.send('report')
    const outcomes = await attacker.next()
    const peakMb = server.peakMb()
    bystander.send('count')
    const times = await bystander.next()
    bystander.kill()
    const faults = await judge(server, { peakMb, times, lenient: options.lenient })
    faults.push(...Object.keys(outcomes).filter((outcome) => outcome.startsWith(FAULT)))
    return { attack: name, peakMb, enforced: server.enforced, bystander: times, outcomes, faults }
  } finally {
    attacker?.kill()
    bystander.kill()
    if (!server.ended()) await server.stop()
  }
}

async function judge(
  server: AttackedServer,
  { peakMb, times, lenient }: { peakMb: number | undefined; times: BystanderResult; lenient: boolean },
): Promise<string[]> {
  const faults: string[] = []
  const died = server.ended()
  if (died) return [`the server died: ${died.signal ?? died.code}: ${died.stderr.slice(-500)}`]
  if (peakMb !== undefined && peakMb * 2 ** 20 > LIMIT_BYTES) faults.push(`peak memory ${peakMb.toFixed(0)} MB`)
  const { blockNumber, call } = times
  for (const [method, { errors }] of Object.entries({ eth_blockNumber: blockNumber, eth_call: call })) {
    for (const [message, count] of Object.entries(errors))
      faults.push(`the bystander's ${method}: ${count} x ${message}`)
  }
  if (!lenient && blockNumber.p99Ms > MAX_P99_MS) faults.push(`eth_blockNumber p99 ${blockNumber.p99Ms.toFixed(0)} ms`)
  const end = await Promise.race([server.stop(), sleep(STOP_MS, undefined, { ref: false })])
  if (!end) faults.push(`did not stop within ${STOP_MS / 1000} s`)
  else if (end.code !== 0) faults.push(`stopped with ${end.signal ?? end.code}: ${end.stderr.slice(-500)}`)
  return faults
}

function print({ attack, peakMb, bystander: { blockNumber, call }, outcomes, faults }: Report): void {
  const times = [blockNumber.p50Ms, blockNumber.p99Ms, blockNumber.maxMs].map((ms) => ms.toFixed(1)).join(' / ')
  const calls = [call.p50Ms, call.p99Ms].map((ms) => ms.toFixed(1)).join(' / ')
  const ranked = Object.entries(outcomes).toSorted(([, a], [, b]) => b - a)
  const said = ranked.slice(0, MOST_OUTCOMES).map(([outcome, count]) => `${count} x ${outcome}`)
  console.log(
    [
      attack.padEnd(20),
      (peakMb?.toFixed(0) ?? '?').padStart(7),
      times.padEnd(30),
      calls.padEnd(19),
      said.join(', '),
    ].join('  '),
  )
  for (const fault of faults) console.log(`  FAULT ${fault}`)
}
