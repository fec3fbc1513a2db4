import type { IncomingMessage } from 'node:http'
import { createGrowingBytes, type GrowingBytes } from '../connections/growingBytes.js'
import type { ByteBudget } from '../limits/byteBudget.js'
import type { ServerLimits } from '../limits/limits.js'
import { createProgress } from '../limits/progress.js'
import type { ReadBudget } from '../limits/readBudget.js'

/** Why a body was not read to its end: it is too long, it comes too slowly, or there is no memory for it. */
export type BodyFailure = 'large' | 'slow' | 'busy'

/** What is told how the reading of a body ended: one of the two, once; neither when the client went away before. */
export interface BodyTaker {
  take(body: Buffer): void
  fail(reason: BodyFailure): void
  /** Called with each piece. */
  onPiece(): void
}

/** Reads the bodies of requests that Node has parsed. */
export interface BodyReader {
  /** Reads a body of at most `maxBytes`; one that says that it is longer is not begun. */
  read(request: IncomingMessage, maxBytes: number, taker: BodyTaker): void
}

/** What bodies are read with. */
export interface BodyReaderOptions {
  /** Where what is held is counted. */
  readonly bodies: ByteBudget
  readonly reads: ReadBudget
  readonly limits: ServerLimits
  /** Checks regularly; `check` gets the time of `performance.now()`. */
  onSweep(check: (nowMs: number) => void): void
}

/** A reader of the bodies of all connections. */
export function createBodyReader({ bodies, reads, limits, onSweep }: BodyReaderOptions): BodyReader {
  const rule = { stallMs: limits.bodyStallMs, leastBytes: limits.bodyLeastBytes }
  /** Checks of the bodies that are being read. */
  const reading = new Set<(nowMs: number) => void>()
  onSweep((nowMs) => {
    for (const check of reading) check(nowMs)
  })
  return {
    read(request, maxBytes, taker) {
      const length = Number(request.headers['content-length'] ?? maxBytes)
      if (length > maxBytes) return taker.fail('large')
      const holding = bodies.open()
      const progress = createProgress(rule, performance.now())
      let first: Buffer | undefined
      let growing: GrowingBytes | undefined
      const size = () => growing?.sizeBytes() ?? first?.length ?? 0
      const turns = reads.open(request)
      const stop = () => {
        reading.delete(check)
        turns.close()
        holding.release()
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
        if (!holding.resize(growing?.capacityBytes() ?? chunk.length)) return fail('busy')
        // A small body that comes as a whole, as most do, takes no turns.
        if (size() < length) turns.count(chunk.length)
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
