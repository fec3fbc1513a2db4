import { Agent } from 'node:http'
import { setPriority } from 'node:os'
import { post, quantile } from '../../lib/client.js'
import type { ProbePlan, ProbeResult } from '../plans.js'

/* Asks eth_blockNumber at a fixed beat, whether or not the last one was answered: one that waits does not keep the next
 * ones from being asked, and so from being counted. They share a connection unless one is late. A second message ends a
 * count, which is the answer, and begins another. */

process.once('message', ({ url, everyMs }: ProbePlan) => {
  // What is measured is the server, not the prober's own wait for a core; only root may.
  try {
    setPriority(-10)
  } catch {}
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo' })
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
  const probe = async ({ times, errors }: Count) => {
    try {
      const { ms, body } = await post(url, agent, text)
      times.push(ms)
      if (!body.includes('"result":"0x')) throw new Error(body.toString().slice(0, 200))
    } catch (error) {
      const message = (error as Error).message
      errors[message] = (errors[message] ?? 0) + 1
    }
  }
  let count = newCount()
  setInterval(() => void count.asked.push(probe(count)), everyMs)
  process.on('message', async () => {
    const ended = count
    count = newCount()
    await Promise.all(ended.asked)
    const [p50Ms, p99Ms, maxMs] = [0.5, 0.99, 1].map((share) => quantile(ended.times, share) ?? 0)
    const result: ProbeResult = { probes: ended.asked.length, p50Ms, p99Ms, maxMs, errors: ended.errors }
    process.send!(result)
  })
})

interface Count {
  asked: Promise<void>[]
  times: number[]
  errors: { [message: string]: number }
}

function newCount(): Count {
  return { asked: [], times: [], errors: {} }
}
