import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Attack, Attacker } from '../attack.js'
import { inParallel, pause, rpcText } from '../sockets.js'

/** Topics of a subscription: as many as a filter may have. */
const TOPICS = 5_000

/** Subscriptions of one connection: the default limit. */
const SUBSCRIPTIONS = 256

/** Subscriptions with as many topics as there may be. */
export const largeSubscriptions: Attack = {
  name: 'subscriptions',
  what: 'eight clients that open sockets and subscribe on each to logs with 5,000 topics as often as they may',
  async run(attacker) {
    const { signal } = attacker
    const open: WebSocket[] = []
    await inParallel(8, signal, async () => {
      const socket = await openWebSocket(attacker)
      if (socket === undefined) return pause(signal, 500)
      open.push(socket)
      for (let i = 0; i < SUBSCRIPTIONS && !signal.aborted; i++) {
        if (!(await subscribe(socket, attacker))) return pause(signal, 1000)
      }
    })
    for (const socket of open) socket.terminate()
  },
}

async function openWebSocket({ target, signal, count }: Attacker): Promise<WebSocket | undefined> {
  const socket = new WebSocket(`ws://${target.host}:${target.port}${target.socketPath}`)
  socket.on('close', (code) => {
    if (!signal.aborted) count(`closed with ${code}`)
  })
  try {
    await once(socket, 'open')
    socket.on('error', () => {})
    return socket
  } catch {
    count('connection refused')
    return undefined
  }
}

/** False once the server refuses. */
async function subscribe(socket: WebSocket, { random, count }: Attacker): Promise<boolean> {
  const first = Buffer.from(random.bytes(32)).toString('hex').slice(8)
  const topics = Array.from({ length: TOPICS }, (_, i) => `0x${i.toString(16).padStart(8, '0')}${first}`)
  socket.send(rpcText('eth_subscribe', ['logs', { topics: [topics] }]))
  const answer = await Promise.race([once(socket, 'message'), once(socket, 'close').then(() => undefined)])
  const message = /"message":"([^"]{0,60})/.exec(String(answer?.[0] ?? ''))?.[1]
  count(answer === undefined ? 'cut off' : (message?.replace(/\d{3,}/g, 'N') ?? 'subscribed'))
  return answer !== undefined && message === undefined
}
