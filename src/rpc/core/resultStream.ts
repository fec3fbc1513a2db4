import { CairnError } from '../../lib/errors.js'
import type { RpcErrorBody } from './errors.js'

/** The parts of a result after the first one, for one consumer. */
export interface ResultStream {
  /** Returns the next part; undefined after the last one. Asking for it acknowledges the previous part. @throws
   *  StreamBroken */
  next(): Promise<Uint8Array | undefined>
  /** Discards the rest. */
  cancel(): void
}

/** A result failed after parts of it were sent. */
export class StreamBroken extends CairnError {
  readonly error: RpcErrorBody
  constructor(error: RpcErrorBody) {
    super(`a result broke off: ${error.message}`)
    this.error = error
  }
}

/** A stream and its producer side. */
export interface ResultQueue {
  readonly stream: ResultStream
  push(part: Uint8Array): void
  end(): void
  fail(error: RpcErrorBody): void
}

/** Returns a queue that calls `onTaken` with the size of each consumed part, and `onCancel` when the rest is not
 *  wanted. */
export function createResultQueue(onTaken: (bytes: number) => void, onCancel: () => void): ResultQueue {
  const parts: Uint8Array[] = []
  let outcome: 'open' | 'ended' | RpcErrorBody = 'open'
  let isCancelled = false
  let taking = 0
  let wake: (() => void) | undefined
  const notify = () => {
    wake?.()
    wake = undefined
  }
  const settle = (result: 'ended' | RpcErrorBody) => {
    outcome = result
    notify()
  }
  return {
    stream: {
      async next() {
        if (taking > 0) onTaken(taking)
        taking = 0
        while (parts.length === 0 && outcome === 'open') {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
        const part = parts.shift()
        if (part !== undefined) taking = part.length
        else if (typeof outcome === 'object') throw new StreamBroken(outcome)
        return part
      },
      cancel() {
        if (isCancelled) return
        isCancelled = true
        parts.length = 0
        if (outcome === 'open') onCancel()
      },
    },
    push(part) {
      if (isCancelled) return
      parts.push(part)
      notify()
    },
    end: () => settle('ended'),
    fail: settle,
  }
}

/** Collects the whole result whose first part is `first`. Undefined, with the rest cancelled, if it has more than
 *  `limitBytes`.
 *  @throws StreamBroken */
export async function collectResult(
  first: Uint8Array,
  rest: ResultStream,
  limitBytes: number,
): Promise<Uint8Array | undefined> {
  const parts = [first]
  let size = first.length
  for (let part = await rest.next(); part !== undefined; part = await rest.next()) {
    size += part.length
    if (size > limitBytes) {
      rest.cancel()
      return undefined
    }
    parts.push(part)
  }
  return Buffer.concat(parts, size)
}
