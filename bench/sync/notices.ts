import { once } from 'node:events'
import { WebSocket } from 'ws'

/** A subscription to new heads: when each came, by `performance.now()`. */
export interface HeadNotices {
  /** Resolves when the head of this hash (as hex) has come, since the last call for it. */
  at(hash: string): Promise<number>
  /** When the first head came after that time. */
  firstAfter(ms: number): number | undefined
  close(): void
}

/** Subscribes at a server. */
export async function openHeadNotices(socketUrl: string): Promise<HeadNotices> {
  const socket = new WebSocket(socketUrl)
  const times = new Map<string, number>()
  const waiting = new Map<string, (ms: number) => void>()
  const all: number[] = []
  await once(socket, 'open')
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }))
  await once(socket, 'message')
  socket.on('message', (data) => {
    const ms = performance.now()
    const { hash } = JSON.parse(String(data)).params.result as { hash: string }
    all.push(ms)
    const resolve = waiting.get(hash)
    waiting.delete(hash)
    if (resolve) resolve(ms)
    else times.set(hash, ms)
  })
  return {
    at: (hash) =>
      new Promise((resolve) => {
        const ms = times.get(hash)
        times.delete(hash)
        if (ms === undefined) waiting.set(hash, resolve)
        else resolve(ms)
      }),
    firstAfter: (after) => all.find((ms) => ms > after),
    close: () => socket.terminate(),
  }
}
