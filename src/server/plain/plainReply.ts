import type { Socket } from 'node:net'
import { sizeOf } from '../../rpc/core/responseBytes.js'
import type { WriteQueue } from '../admission/writeQueue.js'
import { bodyHeaders, formatPlainAnswer, JOIN_BYTES } from '../connections/responseParts.js'
import { writeParts } from '../connections/writeParts.js'
import type { Reply } from '../exchange.js'

const CHUNKED_HEADERS = ['Content-Type', 'application/json', 'Transfer-Encoding', 'chunked']

/** What a reply needs of its connection. */
export interface AnsweredConnection {
  readonly socket: Socket
  readonly writeQueue: WriteQueue
  /** Timeout that the client is informed of. */
  readonly idleMs: number
  /** True once the client has ended its side. */
  hasEnded(): boolean
  /** True when no further request on this connection will be answered. */
  isLast(): boolean
  /** The response is written and the next request may start. */
  nextRequest(): void
}

/** The reply to a plain request. */
export class PlainReply implements Reply {
  readonly #connection: AnsweredConnection
  readonly #keepsAlive: boolean
  #isSent = false
  #onTaken: (() => void) | undefined

  /** @param keepsAlive whether the client wants to keep the connection */
  constructor(connection: AnsweredConnection, keepsAlive: boolean) {
    this.#connection = connection
    this.#keepsAlive = keepsAlive
  }

  isGone(): boolean {
    return this.#connection.socket.destroyed
  }

  hasLeft(): boolean {
    return this.#connection.hasEnded() || this.#connection.socket.destroyed
  }

  isSent(): boolean {
    return this.#isSent
  }

  send(status: number, headers: string[], body: readonly Uint8Array[], onTaken?: () => void): void {
    this.#isSent = true
    this.#onTaken = onTaken
    const closes = this.#isLast()
    headers.push(...bodyHeaders(status, body), ...this.#connectionHeaders(closes))
    const chunks = formatPlainAnswer(status, headers, body)
    if (sizeOf(body) <= JOIN_BYTES) this.#connection.writeQueue(() => this.#write(chunks, closes))
    else this.#write(chunks, closes)
  }

  async sendParts(status: number, headers: string[], parts: AsyncIterable<Uint8Array>): Promise<void> {
    const { socket } = this.#connection
    this.#isSent = true
    const closes = this.#isLast()
    const all = [...headers, ...CHUNKED_HEADERS, ...this.#connectionHeaders(closes)]
    const [head] = formatPlainAnswer(status, all, [])
    try {
      socket.write(head, 'latin1')
      await writeParts(socket, parts, (part) => {
        socket.write(`${part.length.toString(16)}\r\n`, 'latin1')
        socket.write(part)
        return socket.write('\r\n', 'latin1')
      })
      this.#write(['0\r\n\r\n'], closes)
    } catch {
      socket.destroy()
    }
  }

  destroy(): void {
    this.#connection.socket.destroy()
  }

  /** Reports once that the kernel has accepted the response, or that the connection is gone. */
  end(): void {
    this.#onTaken?.()
    this.#onTaken = undefined
  }

  #isLast(): boolean {
    return !this.#keepsAlive || this.#connection.isLast()
  }

  #connectionHeaders(closes: boolean): string[] {
    const headers = ['Date', dateHeader(), 'Connection', closes ? 'close' : 'keep-alive']
    if (!closes) headers.push('Keep-Alive', `timeout=${this.#connection.idleMs / 1000}`)
    return headers
  }

  #write(chunks: readonly (string | Uint8Array)[], closes: boolean) {
    const { socket } = this.#connection
    if (socket.destroyed) return this.end()
    if (chunks.length > 1) socket.cork()
    for (const chunk of chunks) socket.write(chunk, 'latin1')
    if (chunks.length > 1) socket.uncork()
    if (closes) socket.destroySoon()
    else if (socket.writableNeedDrain) socket.once('drain', () => this.#connection.nextRequest())
    else this.#connection.nextRequest()
  }
}

let date = { text: '', untilMs: 0 }

/** The `Date` header (RFC 9110, section 6.6.1); changes every second. */
function dateHeader(): string {
  const now = Date.now()
  if (now >= date.untilMs) date = { text: new Date(now).toUTCString(), untilMs: now - (now % 1000) + 1000 }
  return date.text
}
