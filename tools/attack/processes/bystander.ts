import { Agent } from 'node:http'
import { setPriority } from 'node:os'
import { post, quantile } from '../../../bench/lib/client.js'
import { rpcText } from '../sockets.js'

/** What the process gets. */
export interface BystanderPlan {
  url: string
  everyMs: number
}

/** Times of one method in milliseconds, and what went wrong. */
export interface Times {
  asked: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  errors: { [message: string]: number }
}

/** What the bystander met since it was last asked. */
export interface BystanderResult {
  blockNumber: Times
  call: Times
}

/* Another client with a key of its own. It asks eth_blockNumber at a fixed beat, whether or not the last one was
 * answered, and one small eth_call after another. A second message ends a count, which is the answer, and begins
 * another. */

const CALL_PAUSE_MS = 20
const SMALL_CALL_GAS = 100_000

class Count {
  readonly asked: Promise<void>[] = []
  private readonly times: number[] = []
  private readonly errors: { [message: string]: number } = {}

  /** Sends a request and counts its time. */
  ask(url: string, agent: Agent, text: string): Promise<void> {
    const asked = post(url, agent, text)
      .then(({ ms, body }) => {
        this.times.push(ms)
        if (!body.includes('"result":"0x')) throw new Error(body.toString().slice(0, 120))
      })
      .catch(({ message }: Error) => {
        this.errors[message] = (this.errors[message] ?? 0) + 1
      })
    this.asked.push(asked)
    return asked
  }

  async end(): Promise<Times> {
    await Promise.all(this.asked)
    const [p50Ms, p99Ms, maxMs] = [0.5, 0.99, 1].map((share) => quantile(this.times, share) ?? 0)
    return { asked: this.asked.length, p50Ms, p99Ms, maxMs, errors: this.errors }
  }
}

process.once('message', ({ url, everyMs }: BystanderPlan) => {
  // What is measured is the server, not this process's own wait for a core; only root may.
  try {
    setPriority(-10)
  } catch {}
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo', timeout: 30_000 })
  const blockNumber = rpcText('eth_blockNumber', [])
  let counts = { blockNumber: new Count(), call: new Count() }
  let calls = 0
  setInterval(() => void counts.blockNumber.ask(url, agent, blockNumber), everyMs)
  const callOn = async () => {
    // Another gas limit makes another call for every cache.
    const gas = `0x${(SMALL_CALL_GAS + calls++).toString(16)}`
    await counts.call.ask(
      url,
      agent,
      rpcText('eth_call', [{ to: `0x${'00'.repeat(19)}04`, data: '0x01', gas }, 'latest']),
    )
    setTimeout(callOn, CALL_PAUSE_MS)
  }
  void callOn()
  process.on('message', async () => {
    const ended = counts
    counts = { blockNumber: new Count(), call: new Count() }
    const result: BystanderResult = { blockNumber: await ended.blockNumber.end(), call: await ended.call.end() }
    process.send!(result)
  })
})
