import { quantile } from '../../bench/lib/client.js'
import { ask } from '../../test/support/rpcClient.js'
import type { SoakRequest } from './chain.js'

/** Outcomes and times of requests. */
export interface SoakLoad {
  /** Requests by outcome: `ok`, or the error's message. */
  readonly counts: { readonly [outcome: string]: number }
  /** Sends a request and notes its outcome. */
  send(url: string, request: SoakRequest): Promise<void>
  /** The time which 99 of 100 answers of the kind since the last call did not exceed, in ms; NaN without answers. */
  takeP99(kind: SoakRequest['kind']): number
}

/** Nothing sent yet. */
export function createLoad(): SoakLoad {
  const counts: { [outcome: string]: number } = {}
  const times = new Map<SoakRequest['kind'], number[]>()
  return {
    counts,
    send: async (url, { kind, method, params }) => {
      const begun = performance.now()
      const outcome = await ask(url, method, params).then(
        ({ error }) => (error === undefined ? 'ok' : error.message.replace(/[0-9a-f]*\d[0-9a-f]*/g, 'N')),
        (error: Error) => error.message,
      )
      counts[outcome] = (counts[outcome] ?? 0) + 1
      const own = times.get(kind)
      const took = performance.now() - begun
      if (own) own.push(took)
      else times.set(kind, [took])
    },
    takeP99: (kind) => {
      const own = times.get(kind)
      times.delete(kind)
      return own === undefined ? Number.NaN : quantile(own, 0.99)
    },
  }
}
