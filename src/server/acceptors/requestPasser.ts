import type { Socket } from 'node:net'
import type { Reply } from '../exchange.js'
import type { PlainHead } from '../plain/plainHead.js'
import type { AcceptorCommand, AcceptorReport } from './messages.js'

/** A request under way on the main thread. */
interface PassedReply {
  readonly reply: Reply
  /** Parts of a long response that have arrived, and what waits for the next one. */
  readonly parts: Uint8Array[]
  hasEnded: boolean
  wake?: () => void
}

/** A connection with passed requests, one at a time. */
interface Connection {
  readonly number: number
  lastId: number
}

/** Passes plain requests to the main thread and sends its responses. */
export class RequestPasser {
  readonly #post: (report: AcceptorReport) => void
  readonly #requests = new Map<number, PassedReply>()
  readonly #connections = new WeakMap<Socket, Connection>()
  #lastRequest = 0
  #lastConnection = 0

  constructor(post: (report: AcceptorReport) => void) {
    this.#post = post
  }

  pass(request: { head: PlainHead; body: string; socket: Socket; isCharged: boolean }, reply: Reply): void {
    const { head, body, socket, isCharged } = request
    const id = ++this.#lastRequest
    this.#requests.set(id, { reply, parts: [], hasEnded: false })
    const connection = this.#connectionOf(socket)
    connection.lastId = id
    const { remoteAddress } = socket
    this.#post({ kind: 'request', id, connection: connection.number, head, body, remoteAddress, isCharged })
  }

  /** Sends what has arrived of a response. */
  receive(command: Extract<AcceptorCommand, { readonly id: number }>): void {
    const { id } = command
    const request = this.#requests.get(id)
    if (request === undefined) return
    const { reply } = request
    switch (command.kind) {
      case 'response':
        this.#requests.delete(id)
        reply.send(command.status, command.headers, command.body, () => this.#post({ kind: 'taken', id }))
        break
      case 'begin':
        void reply
          .sendParts(command.status, command.headers, this.#partsOf(id, request))
          .finally(() => this.#post({ kind: 'taken', id }))
        break
      case 'part':
        request.parts.push(command.part)
        request.wake?.()
        break
      case 'end':
        this.#requests.delete(id)
        request.hasEnded = true
        request.wake?.()
        break
      case 'destroy':
        this.#requests.delete(id)
        reply.destroy()
        this.#post({ kind: 'taken', id })
    }
  }

  /** The parts of a response. The main thread sends the next one once it is notified that the last one was taken. */
  async *#partsOf(id: number, request: PassedReply): AsyncGenerator<Uint8Array> {
    for (;;) {
      const part = request.parts.shift()
      if (part !== undefined) {
        yield part
        this.#post({ kind: 'taken', id })
      } else if (request.hasEnded) return
      else
        await new Promise<void>((resolve) => {
          request.wake = resolve
        })
    }
  }

  #connectionOf(socket: Socket): Connection {
    const known = this.#connections.get(socket)
    if (known !== undefined) return known
    const connection: Connection = { number: ++this.#lastConnection, lastId: 0 }
    const { number } = connection
    this.#connections.set(socket, connection)
    socket.once('end', () => this.#post({ kind: 'left', connection: number }))
    socket.once('close', () => {
      const request = this.#requests.get(connection.lastId)
      this.#requests.delete(connection.lastId)
      if (request !== undefined) request.hasEnded = true
      request?.wake?.()
      this.#post({ kind: 'closed', connection: number })
    })
    return connection
  }
}
