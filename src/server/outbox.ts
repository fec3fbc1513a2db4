import type { ServerResponse } from 'node:http'

/** Ends responses, whose heads are set, with bytes or with a text of one character for each byte. */
export type Outbox = (response: ServerResponse, body: string | Uint8Array) => void

/** An outbox that ends them once all requests that have come are taken, one right after another. A write to a client that
 *  sleeps wakes it, which takes as long as a small call does; the writes after it find clients awake. */
export function createOutbox(): Outbox {
  let waiting: [ServerResponse, string | Uint8Array][] = []
  const flush = () => {
    const now = waiting
    waiting = []
    for (const [response, body] of now) response.end(body, 'latin1')
  }
  return (response, body) => {
    if (waiting.length === 0) setImmediate(flush)
    waiting.push([response, body])
  }
}
