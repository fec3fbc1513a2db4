import type { Socket } from 'node:net'
import type { ClientId } from '../../rpc/core/dispatch.js'
import type { QueuedWork } from '../admission/requestQueue.js'
import type { Reply } from '../exchange.js'
import type { PlainHead } from './plainHead.js'
import { type AnsweredConnection, PlainReply } from './plainReply.js'
import type { UnreadBytes } from './unreadBytes.js'

/** Answers plain requests. */
export interface PlainHandler<Admitted> {
  /** Undefined when Node must handle the request. */
  admit(head: PlainHead, remoteAddress: string | undefined): Admitted | undefined
  /** The client of an admitted request. */
  clientOf(admitted: Admitted, socket: Socket): ClientId
  /** Answers an admitted request; `body` is its whole text. */
  answer(request: { head: PlainHead; admitted: Admitted; body: string; socket: Socket }, reply: Reply): void
}

/** A complete request, from its turn in the request queue on. Its bytes stay in `unread` until then. */
export class PlainRequest<Admitted> implements QueuedWork {
  readonly head: PlainHead
  readonly admitted: Admitted
  readonly socket: Socket
  body = ''
  readonly reply: PlainReply
  readonly #handler: PlainHandler<Admitted>
  readonly #unread: UnreadBytes
  readonly #bodyStart: number

  constructor(
    connection: AnsweredConnection & { readonly handler: PlainHandler<Admitted>; readonly unread: UnreadBytes },
    request: { head: PlainHead; admitted: Admitted; bodyStart: number },
  ) {
    this.head = request.head
    this.admitted = request.admitted
    this.socket = connection.socket
    this.reply = new PlainReply(connection, request.head.keepsAlive)
    this.#handler = connection.handler
    this.#unread = connection.unread
    this.#bodyStart = request.bodyStart
  }

  begin(): void {
    if (this.socket.destroyed) return
    const bodyEnd = this.#bodyStart + this.head.bodyBytes
    this.body = this.#unread.bytes().toString('utf8', this.#bodyStart, bodyEnd)
    this.#unread.consumeTo(bodyEnd)
    this.#handler.answer(this, this.reply)
  }
}
