import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatData } from '../src/lib/hex.js'
import { packagePath } from '../src/store/open.js'
import { openForWriting } from '../src/store/openForWriting.js'
import { runCairnOk, startDefaultCairn } from '../test/support/cairn.js'
import { REVERTER, TOKEN } from '../test/support/chains/fixtureChain.js'
import { ask } from '../test/support/rpcClient.js'
import { plantLogs } from './fixture/plantLogs.js'

/* `npm run show:limits`: what the limits of time are in truth. A server with its defaults is asked a log query that
 * would need longer than 10 s and a call that never ends; meanwhile it answers other requests. Then a thousand calls
 * that never end, one after another. Prints what was measured. */

/** Looked at one by one these take longer than 10 s: about 1.9 µs each were measured on the machine of the first
 *  build. */
const PLANTED_LOGS = Number(process.argv[2] ?? 8_000_000)

const CASES = [
  { name: 'slow eth_getLogs', message: 'query timeout exceeded' },
  { name: 'endless eth_call', message: 'execution aborted (timeout = 5s)' },
] as const

const directory = mkdtempSync(join(tmpdir(), 'cairn-limits-'))
const endings: (() => void | Promise<void>)[] = []
try {
  const address = await plant()
  const { url } = await startDefaultCairn({ after: (end) => endings.push(end) }, [
    ...['--open', '--datadir', directory],
    ...['--gas-cap', '100000'], // at ten blocks' gas the loop is over before its time
  ])
  const token = [{ to: TOKEN, data: '0x18160ddd' }, 'latest']
  await ask(url, 'eth_call', token) // once the threads are there
  const slow = [{ address, fromBlock: '0x0', topics: [null, null, null, null] }]
  const endless = [{ to: REVERTER, data: '0xf0acd7d5' }, 'latest']
  await measure(url, CASES[0], ask(url, 'eth_getLogs', slow), token)
  await measure(url, CASES[1], ask(url, 'eth_call', endless), token)
  await repeatEndless(endless, token)
} finally {
  for (const end of endings) await end()
  rmSync(directory, { recursive: true, force: true })
}

async function plant(): Promise<string> {
  const folder = packagePath('fixtures/chain')
  await runCairnOk(['import', '--datadir', directory, '--genesis', `${folder}/genesis.json`, `${folder}/chain.rlp`])
  const db = openForWriting(directory)
  const started = performance.now()
  const address = formatData(plantLogs(db, PLANTED_LOGS))
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  console.log(`planted ${PLANTED_LOGS.toLocaleString('en')} logs in ${seconds(performance.now() - started)}`)
  return address
}

/** Measures how long the request takes, and other requests meanwhile, one after another. */
async function measure(
  url: string,
  { name, message }: (typeof CASES)[number],
  request: ReturnType<typeof ask>,
  token: unknown[],
): Promise<void> {
  const started = performance.now()
  let done = false
  const ended = request.then((answer) => {
    done = true
    return { answer, ms: performance.now() - started }
  })
  const times: { [method: string]: number[] } = { eth_blockNumber: [], eth_call: [] }
  while (!done) {
    for (const [method, params] of [['eth_blockNumber', []], ['eth_call', token]] as const) {
      const asked = performance.now()
      const { error } = await ask(url, method, params)
      if (error !== undefined) throw new Error(`${method} meanwhile: ${error.message}`)
      times[method].push(performance.now() - asked)
    }
  } // biome-ignore format: two methods read better on one line
  const { answer, ms } = await ended
  const words = answer.error?.message ?? `a result, which was not expected: plant more logs`
  console.log(`${name}: ${answer.error?.code} ${words} after ${seconds(ms)}`)
  for (const [method, list] of Object.entries(times)) console.log(`  meanwhile ${method}: ${describe(list)}`)
  if (words !== message) process.exitCode = 1
}

/** Asks for calls that never end one after another, of a server that stops them after 20 ms, and shows that no thread
 *  was lost by it, and what the memory and an ordinary call take before and after. */
async function repeatEndless([endless]: unknown[], token: unknown[]): Promise<void> {
  // Without the planted logs, which a thread reads into its memory meanwhile.
  const options = ['--open', '--fixture', packagePath('fixtures/chain'), '--call-timeout', '20', '--evm-threads', '1']
  const { url, running } = await startDefaultCairn({ after: (end) => endings.push(end) }, options)
  const ordinary = async () => {
    const times: number[] = []
    for (let i = 0; i < 500; i++) {
      const asked = performance.now()
      await ask(url, 'eth_call', [{ ...(token[0] as object), gas: `0x${(1_000_000 + i).toString(16)}` }, 'latest'])
      times.push(performance.now() - asked)
    }
    const health = (await (await fetch(`${url}/health`)).json()) as { threads: { living: number; lost: number } }
    const { living, lost } = health.threads
    console.log(
      `  ${living} threads, ${lost} lost, ${anonymousMib(running.child.pid!)} MiB; eth_call: ${describe(times)}`,
    )
    return lost
  }
  const spin = async (count: number) => {
    const times: number[] = []
    for (let i = 0; i < count; i++) {
      const asked = performance.now()
      // Each another one, so that none is answered for another.
      const { error } = await ask(url, 'eth_call', [
        { ...(endless as object), gas: `0x${(500_000_000 + i).toString(16)}` },
      ])
      if (!error?.message.startsWith('execution aborted')) throw new Error(`an endless call: ${error?.message}`)
      times.push(performance.now() - asked)
    }
    return times
  }
  await spin(20)
  await ordinary()
  console.log('before 1,000 endless calls in a row, and after them:')
  await ordinary()
  const times = await spin(1000)
  if ((await ordinary()) > 0) process.exitCode = 1
  console.log(`  the endless calls, stopped after 20 ms: ${describe(times)}`)
}

/** Resident memory of a process without the mapped pages of its files, such as the database (proc(5)). */
function anonymousMib(pid: number): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(/^RssAnon:\s+(\d+)/m.exec(status)![1]) / 1024).toFixed(0)
}

function describe(times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1)
  return `${sorted.length} answers, median ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
