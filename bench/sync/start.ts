import { packagePath } from '../../src/store/open.js'
import { spawnCairn } from '../../test/support/cairn.js'
import { freePort } from '../../test/support/freePort.js'

const RETRY_MS = 2

interface StartTimes {
  readonly answerMs: number
  readonly readyMs: number
}

/** Times of starts, in milliseconds from the start of the process. */
export interface StartFigures {
  /** Until the first call is answered. */
  readonly answer: Spread
  /** Until `ready` is printed. */
  readonly ready: Spread
}

interface Spread {
  readonly medianMs: number
  readonly leastMs: number
  readonly mostMs: number
}

/** Starts `serve --fixture` `starts` times. */
export async function measureStarts(starts: number): Promise<StartFigures> {
  const times: StartTimes[] = []
  for (let i = 0; i < starts; i++) times.push(await startOnce())
  return {
    answer: spreadOf(times.map(({ answerMs }) => answerMs)),
    ready: spreadOf(times.map(({ readyMs }) => readyMs)),
  }
}

async function startOnce(): Promise<StartTimes> {
  const port = await freePort()
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

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  return { medianMs: sorted[sorted.length >> 1], leastMs: sorted[0], mostMs: sorted[sorted.length - 1] }
}
