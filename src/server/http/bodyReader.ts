import type { IncomingMessage } from 'node:http'
import type { ByteBudget } from '../admission/byteBudget.js'
import type { ServerLimits } from '../admission/limits.js'
import type { ReadBudget } from '../admission/readBudget.js'
import { createStallDetector } from '../admission/stallDetector.js'
import { createGrowingBytes, type GrowingBytes } from '../connections/growingBytes.js'

/** Why a body was not read completely: too long, too slow, or no memory. */
export type BodyFailure = 'large' | 'slow' | 'busy'

/** Callbacks for the end of a body: one of the two, once; neither when the client disconnected. */
export interface BodyTaker {
  take(body: Buffer): void
  fail(reason: BodyFailure): void
  /** Called for each chunk. */
  onPiece(): void
}

/** Reads the bodies of requests that Node has parsed. */
export interface BodyReader {
  /** Reads a body of at most `maxBytes`. A body with a larger Content-Length is not read. */
  read(request: IncomingMessage, maxBytes: number, taker: BodyTaker): void
}

/** Options of `createBodyReader`. */
export interface BodyReaderOptions {
  /** Budget that unfinished bodies count against. */
  readonly bodies: ByteBudget
  readonly reads: ReadBudget
  readonly limits: ServerLimits
  /** Calls `check` regularly with the time of `performance.now()`. */
  onSweep(check: (nowMs: number) => void): void
}

/** A body reader for all connections of a server. */
export function createBodyReader({ bodies, reads, limits, onSweep }: BodyReaderOptions): BodyReader {
  const rule = { stallMs: limits.bodyStallMs, leastBytes: limits.bodyLeastBytes }
  /** Checks of the bodies in progress. */
  const reading = new Set<(nowMs: number) => void>()
  onSweep((nowMs) => {
    for (const check of reading) check(nowMs)
  })
  return {
    read(request, maxBytes, taker) {
      const length = Number(request.headers['content-length'] ?? maxBytes)
      if (length > maxBytes) return taker.fail('large')
      const byteShare = bodies.open()
      const progress = createStallDetector(rule, performance.now())
      let first: Buffer | undefined
      let growing: GrowingBytes | undefined
      const size = () => growing?.sizeBytes() ?? first?.length ?? 0
      const readShare = reads.open(request)
      const stop = () => {
        reading.delete(check)
        readShare.close()
        byteShare.release()
        request.off('data', onData).off('end', onEnd).off('close', stop)
      }
      const fail = (reason: BodyFailure) => {
        stop()
        request.pause()
        taker.fail(reason)
      }
      const check = (nowMs: number) => {
        if (progress.isStalled(size(), nowMs)) fail('slow')
      }
      const onData = (chunk: Buffer) => {
        if (size() + chunk.length > maxBytes) return fail('large')
        if (first === undefined) first = chunk
        else {
          if (growing === undefined) {
            growing = createGrowingBytes(length)
            growing.append(first)
          }
          growing.append(chunk)
        }
        if (!byteShare.resize(growing?.capacityBytes() ?? chunk.length)) return fail('busy')
        // A small body usually arrives in one chunk; it is not throttled.
        if (size() < length) readShare.count(chunk.length)
        taker.onPiece()
      }
      const onEnd = () => {
        stop()
        taker.take(growing?.bytes() ?? first ?? Buffer.alloc(0))
      }
      reading.add(check)
      request.on('data', onData).on('end', onEnd).on('close', stop)
    },
  }
}
