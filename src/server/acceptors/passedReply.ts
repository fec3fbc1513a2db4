import type { Reply } from '../exchange.js'
import type { AcceptorCommand } from './messages.js'

/** A connection of an acceptor thread with passed requests. */
export interface PassedConnection {
  hasLeft: boolean
  isClosed: boolean
  /** Its last request: it has one at a time. */
  lastId: number
}

/** The reply to a request that an acceptor thread passed. */
export class PassedReply implements Reply {
  readonly #id: number
  readonly #connection: PassedConnection
  readonly #post: (command: AcceptorCommand) => void
  #isSent = false
  /** True once nothing more will be posted. */
  #isWhole = false
  #onTaken: (() => void) | undefined

  constructor(id: number, connection: PassedConnection, post: (command: AcceptorCommand) => void) {
    this.#id = id
    this.#connection = connection
    this.#post = post
  }

  isGone(): boolean {
    return this.#connection.isClosed
  }

  hasLeft(): boolean {
    return this.#connection.hasLeft || this.#connection.isClosed
  }

  isSent(): boolean {
    return this.#isSent
  }

  /** True once the whole response was posted. */
  isWhole(): boolean {
    return this.#isWhole
  }

  send(status: number, headers: string[], body: readonly Uint8Array[], onTaken?: () => void): void {
    this.#isSent = true
    this.#isWhole = true
    if (this.isGone()) return void onTaken?.()
    this.#onTaken = onTaken
    this.#post({ kind: 'response', id: this.#id, status, headers, body })
  }

  async sendParts(status: number, headers: string[], parts: AsyncIterable<Uint8Array>): Promise<void> {
    this.#isSent = true
    const id = this.#id
    this.#post({ kind: 'begin', id, status, headers })
    try {
      for await (const part of parts) {
        if (this.isGone()) break
        const taken = new Promise<void>((resolve) => {
          this.#onTaken = resolve
        })
        this.#post({ kind: 'part', id, part })
        await taken
      }
      this.#isWhole = true
      this.#post({ kind: 'end', id })
    } catch {
      this.destroy()
    }
  }

  destroy(): void {
    this.#isWhole = true
    this.#post({ kind: 'destroy', id: this.#id })
  }

  /** What was sent last was taken by the kernel, or the connection is gone. */
  taken(): void {
    const onTaken = this.#onTaken
    this.#onTaken = undefined
    onTaken?.()
  }
}
