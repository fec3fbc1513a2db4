import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller, Refusal } from './access/access.js'
import type { OutputShare } from './admission/outputBudget.js'
import { sendJsonError } from './http/jsonError.js'

/** A request with a body that is not JSON-RPC, and how to read it. */
export interface BodyExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly caller: Caller | Refusal
  /** The share of its connection. */
  readonly outputShare: OutputShare
  /** Headers of every response, alternating names and values. */
  readonly headers: readonly string[]
  /** Reads the body, or responds why it cannot be read. */
  readBody(take: (body: Buffer) => void, fail: (status: number, message: string) => void): void
}

/** A request that cannot be answered, with the status of the response. */
export class BadRequest extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Responds with an error, or ends a connection whose response has begun. `more` alternates further names and values of
 *  headers. */
export function sendBodyError(
  { response, headers }: BodyExchange,
  status: number,
  message: string,
  more: readonly string[] = [],
): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  sendJsonError(response, { status, message, headers: [...headers, ...more] })
}
