import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Connections } from '../connections/connections.js'
import type { ByteBudget, ByteShare } from './byteBudget.js'

/** Node's memory per pipelined request that waits, besides its body. */
const WAITING_REQUEST_BYTES = 4096

/** Answers the requests of a connection one after another. Node emits all pipelined requests at once and sends their
 *  responses in this order anyway. Reading stops while requests wait; they count against `bodies`. */
export function createPipelineQueue(bodies: ByteBudget, connections: Connections) {
  const waiting = new WeakMap<Socket, { queue: (() => void)[]; byteShare: ByteShare }>()
  return (socket: Socket, response: ServerResponse, take: () => void) => {
    const begin = () => {
      response.once('close', () => {
        const { queue, byteShare } = waiting.get(socket)!
        const next = socket.destroyed ? undefined : queue.shift()
        byteShare.resize(queue.length * WAITING_REQUEST_BYTES)
        if (next === undefined) {
          waiting.delete(socket)
          byteShare.release()
          connections.idleTrackerOf(socket).end()
          return
        }
        next()
        // Starting a request makes Node resume reading, for its body.
        if (queue.length > 0) stopReading(socket)
        else socket.resume()
      })
      connections.idleTrackerOf(socket).begin()
      take()
    }
    const line = waiting.get(socket)
    if (line === undefined) {
      waiting.set(socket, { queue: [], byteShare: bodies.open() })
      begin()
      return
    }
    line.queue.push(begin)
    stopReading(socket)
    if (!line.byteShare.resize(line.queue.length * WAITING_REQUEST_BYTES)) socket.destroy()
  }
}

/** Stops Node's parser from reading a connection, unless bytes that were received before it took over are not parsed
 *  yet: later bytes, read past the stream, would overtake them. */
function stopReading(socket: Socket): void {
  if (socket.readableLength === 0) socket.pause()
}
