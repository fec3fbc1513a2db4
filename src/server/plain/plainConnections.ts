import type { Server, Socket } from 'node:net'
import type { IdleTracker } from '../connections/connections.js'
import { PlainConnection, type PlainContext } from './plainConnection.js'

/* Reads plain call requests from sockets and answers them without Node's HTTP parser: Node's path from a socket to a
 *  handler and back takes as long as a small call. At the first request that is not plain, a connection is handed to
 *  Node for good. */

/** Connections that are handled here and not by Node's HTTP parser. */
export interface PlainConnections {
  /** Closes connections without a request in progress. */
  closeIdle(): void
  /** Closes all connections. */
  closeAll(): void
}

/** Dependencies of plain connections. */
export interface PlainOptions<Admitted> extends Omit<PlainContext<Admitted>, 'leave' | 'onClose' | 'isClosing'> {
  /** Undefined when a new connection is refused. */
  admit(socket: Socket): IdleTracker | undefined
  /** Calls `check` regularly with the time of `performance.now()`. */
  onSweep(check: (nowMs: number) => void): void
}

/** Handles plain requests on all connections of a server. */
export function takePlainRequests<Admitted>(server: Server, options: PlainOptions<Admitted>): PlainConnections {
  const connections = new Set<PlainConnection<Admitted>>()
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  const context: PlainContext<Admitted> = {
    ...options,
    leave: (socket) => {
      for (const listener of listeners) listener.call(server, socket)
    },
    onClose: (connection) => void connections.delete(connection),
    isClosing: () => !server.listening,
  }
  server.on('connection', (socket) => {
    const idleTracker = options.admit(socket)
    if (idleTracker !== undefined) connections.add(new PlainConnection({ socket, idleTracker }, context))
  })
  options.onSweep((nowMs) => {
    for (const connection of connections) connection.sweep(nowMs)
  })
  return {
    closeIdle() {
      for (const connection of connections) if (connection.isIdle()) connection.destroy()
    },
    closeAll() {
      for (const connection of connections) connection.destroy()
    },
  }
}
