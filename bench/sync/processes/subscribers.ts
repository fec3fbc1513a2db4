import { once } from 'node:events'
import { WebSocket } from 'ws'

/* WebSocket subscribers to logs of one topic each, in a process of their own. Gets a plan, says 'ready', and then for
 * each block when the first and the last of its notifications came. */

/** Subscribers; each gets one log of each block. */
export interface SubscribersPlan {
  readonly url: string
  /** The topic of each subscriber. */
  readonly topics: readonly string[]
}

/** When the notifications of a block came, in nanoseconds of `process.hrtime`, which all processes share. */
export interface BlockArrival {
  readonly number: number
  readonly firstNs: string
  readonly lastNs: string
}

const OPENED_AT_ONCE = 100
const NUMBER = Buffer.from('"blockNumber":"')

process.once('message', async ({ url, topics }: SubscribersPlan) => {
  const arrivals = new Map<number, { firstNs: bigint; count: number }>()
  const arrive = (data: Buffer) => {
    const at = data.indexOf(NUMBER) + NUMBER.length
    const number = Number(data.toString('latin1', at, data.indexOf('"', at)))
    const lastNs = process.hrtime.bigint()
    const arrival = arrivals.get(number) ?? { firstNs: lastNs, count: 0 }
    arrivals.set(number, arrival)
    arrival.count++
    if (arrival.count < topics.length) return
    arrivals.delete(number)
    process.send!({ number, firstNs: String(arrival.firstNs), lastNs: String(lastNs) } satisfies BlockArrival)
  }
  const open = async (topic: string) => {
    const socket = new WebSocket(url)
    await once(socket, 'open')
    const params = ['logs', { topics: [topic] }]
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }))
    const [answer] = await once(socket, 'message')
    if (JSON.parse(String(answer)).result === undefined) throw new Error(`no subscription: ${answer}`)
    socket.on('message', arrive)
    socket.on('close', (code) => {
      throw new Error(`a subscriber was closed with ${code}`)
    })
  }
  for (let i = 0; i < topics.length; i += OPENED_AT_ONCE) {
    await Promise.all(topics.slice(i, i + OPENED_AT_ONCE).map(open))
  }
  process.send!('ready')
})
