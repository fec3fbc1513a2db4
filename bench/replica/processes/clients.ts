import { Agent, request } from 'node:http'
import { seededRandom } from '../../../test/support/random.js'
import { quantile } from '../../lib/client.js'
import { type Asked, drawParameters, KINDS, type Kind } from '../requests.js'

/** Sent to the process to begin with. */
export interface ClientsPlan {
  readonly url: string
  readonly asked: Asked
  /** Connections, each with one request under way. The first of four asks for a least block. */
  readonly connections: number
  readonly seconds: number
  /** Of one kind only. */
  readonly only?: Kind
}

/** Sent by the process in the end. */
export interface ClientsResult {
  readonly seconds: number
  readonly answers: number
  /** With another status than 200, or an error. */
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of the requests for a least block. */
  readonly least: {
    readonly answers: number
    /** Answers from a chain that did not have the block. */
    readonly below: number
    /** Answers with status 503: no replica had the block in time. */
    readonly refused: number
    readonly p50Ms: number
    readonly p99Ms: number
  }
}

/* Clients that ask all the time. Gets the plan, then the number of each block that the writer has committed. */

process.once('message', async (plan: ClientsPlan) => {
  const agent = new Agent({ keepAlive: true, maxSockets: plan.connections })
  let newest = plan.asked.head
  process.on('message', (number: number) => {
    newest = number
  })
  const startedMs = performance.now()
  const [plain, least]: number[][] = [[], []]
  let [failed, below, refused] = [0, 0, 0]
  const run = async (client: number) => {
    const random = seededRandom(1 + client)
    while (performance.now() - startedMs < plan.seconds * 1000) {
      const kind = plan.only ?? KINDS[random.below(KINDS.length)]
      const body = JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: kind },
        params: drawParameters(kind, plan.asked, random),
      })
      const wanted = client % 4 === 0 ? newest : undefined
      const { ms, status, head, text } = await post(plan.url, { agent, body, wanted })
      if (wanted === undefined) plain.push(ms)
      else least.push(ms)
      if (wanted !== undefined && status === 503) refused++
      else if (status !== 200 || !text.includes('"result"')) failed++
      else if (wanted !== undefined && head < wanted) below++
    }
  }
  await Promise.all(Array.from({ length: plan.connections }, (_, client) => run(client)))
  const times = (values: number[]) =>
    values.length === 0 ? { p50Ms: 0, p99Ms: 0 } : { p50Ms: quantile(values, 0.5), p99Ms: quantile(values, 0.99) }
  const result: ClientsResult = {
    seconds: (performance.now() - startedMs) / 1000,
    answers: plain.length + least.length,
    failed,
    ...times(plain),
    least: { answers: least.length, below, refused, ...times(least) },
  }
  process.send!(result)
  agent.destroy()
  process.disconnect()
})

function post(url: string, { agent, body, wanted }: { agent: Agent; body: string; wanted: number | undefined }) {
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...(wanted === undefined ? {} : { 'Cairn-Min-Block': String(wanted) }),
  }
  return new Promise<{ ms: number; status: number; head: number; text: string }>((resolve, reject) => {
    const startedMs = performance.now()
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => {
        const head = Number(response.headers['cairn-head'])
        resolve({ ms: performance.now() - startedMs, status: response.statusCode!, head, text })
      })
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
