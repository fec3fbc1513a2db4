import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'

/** A local socket on which acceptor threads pass connections to the main thread. Its name is abstract: it has no file,
 *  and ends with the process (unix(7)). */
export interface PassedConnections {
  readonly path: string
  /** The first line of a connection has it. The names of abstract sockets are public. */
  readonly token: string
  listen(): Promise<void>
  /** Accepts no more; resolves when all connections have ended. */
  close(): Promise<void>
}

/** The first line: a token and an address. */
const MAX_LINE_BYTES = 512
const LINE_MS = 5000

/** Calls `accept` for each passed connection, whose `remoteAddress` is that of its client. */
export function createPassedConnections(accept: (socket: Socket) => void): PassedConnections {
  const token = randomBytes(32).toString('hex')
  const path = `\0cairn-${process.pid}-${randomBytes(8).toString('hex')}`
  const server = createServer({ allowHalfOpen: true }, (socket) => readFirstLine(socket, token, accept))
  return {
    path,
    token,
    listen: () => listen(server, path),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path }, resolve)
  })
}

function readFirstLine(socket: Socket, token: string, accept: (socket: Socket) => void): void {
  let read = Buffer.alloc(0)
  const refuse = () => void socket.destroy()
  const timer = setTimeout(refuse, LINE_MS)
  const end = () => {
    clearTimeout(timer)
    socket.off('data', onData).off('end', refuse).off('error', refuse).off('close', end)
  }
  const onData = (chunk: Buffer) => {
    read = Buffer.concat([read, chunk])
    const newline = read.subarray(0, MAX_LINE_BYTES).indexOf('\n')
    if (newline < 0 && read.length < MAX_LINE_BYTES) return
    const line = newline < 0 ? undefined : parseLine(read.toString('latin1', 0, newline), token)
    if (line === undefined) return refuse()
    end()
    socket.pause()
    Object.defineProperties(socket, {
      remoteAddress: { value: line.remoteAddress },
      // A local socket knows no reset; its thread then ends the client's connection.
      resetAndDestroy: { value: () => socket.destroy() },
    })
    if (read.length > newline + 1) socket.unshift(read.subarray(newline + 1))
    accept(socket)
    socket.resume()
  }
  socket.on('data', onData).on('end', refuse).on('error', refuse).on('close', end)
}

/** The address of the client; undefined for a line without the token. */
function parseLine(text: string, token: string): { remoteAddress: string | undefined } | undefined {
  try {
    const { token: received, remoteAddress } = JSON.parse(text)
    const bytes = Buffer.from(String(received))
    if (bytes.length !== token.length || !timingSafeEqual(bytes, Buffer.from(token))) return undefined
    return { remoteAddress: remoteAddress === undefined ? undefined : String(remoteAddress) }
  } catch {
    return undefined
  }
}
