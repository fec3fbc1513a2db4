import type { ServerResponse } from 'node:http'
import { sizeOf } from '../../rpc/core/responseBytes.js'
import type { WriteQueue } from '../admission/writeQueue.js'
import { bodyHeaders, JOIN_BYTES, joinParts } from '../connections/responseParts.js'
import { writeParts } from '../connections/writeParts.js'
import type { Reply } from '../exchange.js'

/** The reply on a response object of Node. */
export class NodeReply implements Reply {
  readonly #response: ServerResponse
  readonly #server: { readonly writeQueue: WriteQueue; isClosing(): boolean }

  constructor(response: ServerResponse, server: { readonly writeQueue: WriteQueue; isClosing(): boolean }) {
    this.#response = response
    this.#server = server
  }

  isGone(): boolean {
    return this.#response.destroyed
  }

  hasLeft(): boolean {
    return this.#response.destroyed
  }

  isSent(): boolean {
    return this.#response.headersSent
  }

  send(status: number, headers: string[], parts: readonly Uint8Array[], onTaken?: () => void): void {
    const response = this.#response
    if (onTaken !== undefined) response.once('close', onTaken)
    if (this.#server.isClosing()) response.shouldKeepAlive = false
    // One call with all headers is cheaper than one call per header.
    headers.push(...bodyHeaders(status, parts))
    response.writeHead(status, headers)
    const chunks = joinParts(parts)
    if (sizeOf(parts) <= JOIN_BYTES) {
      this.#server.writeQueue(() => void response.end(chunks[0], 'latin1'))
      return
    }
    response.cork()
    for (const chunk of chunks) response.write(chunk)
    response.end()
  }

  async sendParts(status: number, headers: string[], parts: AsyncIterable<Uint8Array>): Promise<void> {
    const response = this.#response
    if (this.#server.isClosing()) response.shouldKeepAlive = false
    response.writeHead(status, [...headers, 'Content-Type', 'application/json'])
    try {
      await writeParts(response, parts, (part) => response.write(part))
      response.end()
    } catch {
      response.destroy()
    }
  }

  destroy(): void {
    this.#response.destroy()
  }
}
