import { connect, type Socket } from 'node:net'
import { formatData } from '../../../src/lib/hex.js'
import { quantile } from '../../lib/client.js'
import { readThreadsMs } from '../../lib/processorTime.js'
import type { ClientPlan, ClientResult } from '../plans.js'
import { type BenchCall, makeCallShapes, numbered } from '../shapes.js'

/* Asks a server for calls on connections of plain sockets, one request under way on each. Request texts are made
 * before, save the number at the end of the call data that makes each of them another: the client is to use little of a
 * core. */

process.once('message', async (plan: ClientPlan) => {
  const shape = makeCallShapes().find(({ name }) => name === plan.shape)!
  const calls = Array.from({ length: shape.variants }, (_, variant) => shape.call(variant))
  const requests = createRequests(calls, plan.url)
  const expected = new Map(Object.entries(plan.expected).map(([variant, hex]) => [Number(variant), hex]))
  const clock = { from: Number.POSITIVE_INFINITY, until: Number.POSITIVE_INFINITY }
  const times: number[] = []
  let variant = 0
  let answered = 0
  const readServerMs = () => (process.platform === 'linux' ? sum(readThreadsMs(plan.serverPid).values()) : Number.NaN)
  const runConnection = async () => {
    const connection = await openConnection(plan.url)
    // On a busy machine the first answer may come after the time.
    while (performance.now() < clock.until || times.length === 0) {
      const mine = variant++ % calls.length
      const asked = performance.now()
      const body = await connection.ask(requests(mine))
      const now = performance.now()
      answered++
      checkAnswer(body, expected.get(mine), `${plan.shape}, variant ${mine}`)
      if (asked < clock.from || (now > clock.until && times.length > 0)) continue
      times.push(now - asked)
      clock.until = Math.max(clock.until, now)
    }
    connection.close()
  }
  // A server that has just begun to listen still starts what answers.
  const first = await openConnection(plan.url)
  await first.ask(requests(0))
  first.close()
  const started = performance.now()
  clock.from = started + plan.warmSeconds * 1000
  clock.until = clock.from + plan.seconds * 1000
  let cpu: NodeJS.CpuUsage | undefined
  let before = { cpuMs: readServerMs(), answered: 0 }
  setTimeout(() => {
    cpu = process.cpuUsage()
    before = { cpuMs: readServerMs(), answered }
  }, plan.warmSeconds * 1000)
  await Promise.all(Array.from({ length: plan.connections }, runConnection))
  const serverCpuMs = (readServerMs() - before.cpuMs) / Math.max(1, answered - before.answered)
  const seconds = (clock.until - clock.from) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const result: ClientResult = {
    perSecond: times.length / seconds,
    requests: times.length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    clientCpu: (user + system) / 1e6 / seconds,
    serverCpuMs: Number.isNaN(serverCpuMs) ? undefined : serverCpuMs,
  }
  process.send!(result)
  process.disconnect()
})

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}

/** @throws Error when an answer is no result, or not the one that is known. */
function checkAnswer(body: Buffer, expected: string | undefined, what: string): void {
  if (expected === undefined) {
    if (body.includes('"result":"0x')) return
  } else {
    const { result } = JSON.parse(body.toString('latin1'))
    if (result === expected) return
  }
  throw new Error(`${what}: ${body.toString('latin1').slice(0, 300)} instead of ${expected ?? 'a result'}`)
}

/** Texts of requests by variant, each made from a head and a tail that are there already. */
function createRequests(calls: readonly BenchCall[], url: string): (variant: number) => string {
  const { host } = new URL(url)
  const blank = new Uint8Array(0)
  const digits = numbered(blank, 0).length * 2
  const parts = calls.map(({ from, to, data }) => {
    const sender = from === undefined ? '' : `"from":"${formatData(from)}",`
    const head = `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{${sender}"to":"${formatData(to)}","data":"${formatData(data)}`
    const tail = '"},"latest"]}'
    const length = head.length + digits + tail.length
    const lines = ['POST / HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json', `Content-Length: ${length}`]
    return { head: `${lines.join('\r\n')}\r\n\r\n${head}`, tail }
  })
  // Numbers of another process than the last one.
  let n = Date.now() * 1000
  return (variant) => {
    const { head, tail } = parts[variant]
    return head + (n++).toString(16).padStart(digits, '0') + tail
  }
}

interface Connection {
  /** Sends a request and gives the body of its answer. */
  ask(text: string): Promise<Buffer>
  close(): void
}

async function openConnection(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url)
  const socket = await new Promise<Socket>((resolve, reject) => {
    const made = connect({ host: hostname, port: Number(port), noDelay: true }, () => resolve(made))
    made.once('error', reject)
  })
  let received: Buffer | undefined
  let settle: { resolve(body: Buffer): void; reject(error: Error): void } | undefined
  socket.on('data', (chunk) => {
    received = received === undefined ? chunk : Buffer.concat([received, chunk])
    const body = readBody(received)
    if (body === undefined) return
    received = undefined
    settle?.resolve(body)
  })
  socket.on('error', (error) => settle?.reject(error))
  socket.on('close', () => settle?.reject(new Error(`${url} closed the connection`)))
  return {
    ask: (text) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject }
        socket.write(text, 'latin1')
      }),
    close: () => {
      settle = undefined
      socket.destroy()
    },
  }
}

/** The body of a whole answer; undefined when more is to come. @throws Error when its length is not said. */
function readBody(received: Buffer): Buffer | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = received.toString('latin1', 0, end)
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  if (length === undefined) throw new Error(`an answer of no known length: ${head}`)
  const body = received.subarray(end + 4)
  return body.length < Number(length) ? undefined : body
}
