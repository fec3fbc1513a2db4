import type { SendInParts } from '../rpc/core/executeCall.js'
import { CLOSE } from '../rpc/core/responseBytes.js'
import type { ResultStream } from '../rpc/core/resultStream.js'
import type { Reservation } from './admission/outputBudget.js'
import type { Exchange } from './exchange.js'

/** Sends the response to a call while its result is produced, uncompressed. Keeps a few megabytes in memory, whatever
 *  the response's length. */
export function respondInParts(
  { reply, headers, outputShare, options }: Exchange,
  reserved?: Reservation,
): SendInParts {
  return async (beginning, rest) => {
    const reservation = reserved ?? options.admission.output.reserveNow(outputShare, PARTS_BYTES)
    if (reservation?.resize(PARTS_BYTES) !== true || reply.isGone()) {
      rest.cancel()
      reply.destroy()
    } else await reply.sendParts(200, headers, partsOf(beginning, rest))
    reservation?.release()
  }
}

// Buffered by threads and sockets for one response.
const PARTS_BYTES = 4_000_000

async function* partsOf(beginning: readonly Uint8Array[], rest: ResultStream): AsyncGenerator<Uint8Array> {
  try {
    yield* beginning
    for (let part = await rest.next(); part !== undefined; part = await rest.next()) {
      if (part.length > 0) yield part
    }
    yield CLOSE
  } finally {
    rest.cancel()
  }
}
