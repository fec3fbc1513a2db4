import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { packagePath } from '../src/store/open.js'
import { spawnCairn } from '../test/support/cairn.js'

/* `npm run bench:start -- [COUNT]`: starts `serve --fixture` COUNT times, 9 by default, and prints how long after the
 * start of the process the first call is answered and `ready` is printed: medians, fastest and slowest. */

const count = Number(process.argv[2] ?? 9)
const RETRY_MS = 2

interface StartTimes {
  readonly answerMs: number
  readonly readyMs: number
}

const times: StartTimes[] = []
for (let i = 0; i < count; i++) times.push(await startOnce())
console.log(`serve --fixture, ${count} starts, milliseconds from the start of the process`)
print(
  'first answer',
  times.map(({ answerMs }) => answerMs),
)
print(
  'ready',
  times.map(({ readyMs }) => readyMs),
)

async function startOnce(): Promise<StartTimes> {
  const port = await findFreePort()
  const begun = performance.now()
  const args = ['serve', '--fixture', packagePath('fixtures/chain'), '--port', String(port), '--log-level', 'error']
  const { child, ended, waitFor } = spawnCairn(args)
  const ready = waitFor('stdout', /^ready /).then(() => performance.now() - begun)
  const failed = ended.then(({ stderr }) => Promise.reject(new Error(`the server ended: ${stderr}`)))
  failed.catch(() => {}) // it ends in any case
  const answerMs = await Promise.race([waitForAnswer(`http://127.0.0.1:${port}`, begun), failed])
  const readyMs = await ready
  child.kill('SIGTERM')
  await ended
  return { answerMs, readyMs }
}

async function waitForAnswer(url: string, begun: number): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
  for (;;) {
    try {
      const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
      await response.json()
      return performance.now() - begun
    } catch {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS)) // the port is not open yet
    }
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

function print(name: string, values: readonly number[]): void {
  const sorted = values.toSorted((a, b) => a - b)
  const [median, least, most] = [sorted[sorted.length >> 1], sorted[0], sorted[sorted.length - 1]]
  console.log(`${name.padEnd(12)} median ${median.toFixed(0)}, ${least.toFixed(0)} to ${most.toFixed(0)}`)
}
