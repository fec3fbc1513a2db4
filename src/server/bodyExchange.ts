import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller, Refusal } from './access/access.js'
import type { OutputShare } from './admission/outputBudget.js'

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
