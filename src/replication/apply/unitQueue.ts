import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import type { EncodedBlock, PositionedUnit, ReplicationUnit } from '../codec/types.js'
import type { BlockToApply, UnitToApply } from './applier.js'
import { type CheckedSenders, decodeUnverified, type VerifiedBlock, verifyReplicated } from './verifyReplicated.js'

// Max change sets read ahead of the writer, by number and by size of their payloads.
const MAX_UNITS = 64
const MAX_BYTES = 32 * 2 ** 20
// Reading resumes below this share of the limits: reading one by one would wake the verifier thread each time, which
// takes longer than handing it a block.
const READ_ON_SHARE = 0.75
const MANY_SHARE = 0.5
// A replica that was behind still is above this share, so that it does not turn with each transaction.
const STILL_MANY_SHARE = 0.125
// Queued change sets at which the replica is far behind, and only a sample of the senders is recovered.
const FAR_BEHIND_UNITS = 16

/** Result of the verification of a block in another thread. */
export interface Verdict {
  /** False also if the thread ended before it had verified the block. */
  readonly isRight: boolean
  /** Decodes the block, and verifies it unless it was found valid. Call it when the block is to be written: a
   *  decoded block takes ten times the memory. @throws as `verifyReplicated` */
  take(): VerifiedBlock
}

/** Verifies a block in another thread. Default of `senders`: all. */
export type VerifyElsewhere = (block: EncodedBlock, senders?: CheckedSenders) => Promise<Verdict>

/** The change sets of a source, read and verified ahead of the writer. */
export interface UnitQueue {
  /** Removes and returns the next change set; undefined when none is queued. @throws the source's error, after its
   *  last change set */
  shift(): UnitToApply | undefined
  readonly isEmpty: boolean
  /** True when at least half of the read-ahead limit is queued. */
  readonly isLong: boolean
  /** True when at least an eighth of that limit is. */
  readonly isStillLong: boolean
  /** True when every change set of a source that `ends` was removed. */
  readonly isOver: boolean
  /** Resolves when a change set is queued or the source ended. */
  wait(): Promise<void>
  /** Number of the newest block received; undefined before the first. */
  readonly newest: number | undefined
  /** Resolves when the source is closed. The signal passed to `readAhead` must have aborted. */
  closed(): Promise<void>
}

/** Options of `readAhead`. */
interface ReadAheadOptions {
  readonly spec: ChainSpec
  readonly verify?: VerifyElsewhere
  /** True if the source has an end; otherwise its end is a failure. Default: false. */
  readonly ends?: boolean
  readonly signal: AbortSignal
}

/** Reads the change sets until `signal` aborts. Without `verify`, verifies blocks in this thread on demand. */
export function readAhead(
  units: AsyncIterable<PositionedUnit>,
  { spec, verify, ends = false, signal }: ReadAheadOptions,
): UnitQueue {
  const waiting: { item: UnitToApply; bytes: number }[] = []
  let bytes = 0
  let newest: number | undefined
  let end: { error?: unknown } | undefined
  let onArrival = () => {}
  let onRoom = () => {}
  const add = ({ unit, position }: PositionedUnit) => {
    const blocks = unit.kind === 'blocks' ? unit.blocks : []
    const senders = waiting.length < FAR_BEHIND_UNITS ? 'all' : 'sample'
    const checked = blocks.map((block) =>
      verify ? verifiedElsewhere(verify(block, senders), block, spec) : verifiedHere(block, spec),
    )
    const size = blocks.reduce((sum, { payload }) => sum + payload.length, 0)
    const tip = tipOf(unit)
    newest = tip ?? newest
    bytes += size
    waiting.push({ item: { unit, position, blocks: checked }, bytes: size })
    onArrival()
  }
  const reaches = (share: number) => waiting.length >= share * MAX_UNITS || bytes >= share * MAX_BYTES
  const read = async () => {
    for await (const each of units) {
      if (signal.aborted) return
      add(each)
      if (!reaches(1)) continue
      while (reaches(READ_ON_SHARE) && !signal.aborted) {
        await new Promise<void>((resolve) => {
          onRoom = resolve
        })
      }
    }
    if (signal.aborted) return
    if (!ends) throw new Error('the source of blocks ended')
    end = {}
    onArrival()
  }
  const reading = read().catch((error: unknown) => {
    end = { error }
    onArrival()
  })
  const stop = () => {
    onRoom()
    onArrival()
  }
  signal.addEventListener('abort', stop, { once: true })
  return {
    shift: () => {
      const next = waiting.shift()
      if (next === undefined) {
        if (end && 'error' in end) throw end.error
        return undefined
      }
      bytes -= next.bytes
      onRoom()
      return next.item
    },
    get isEmpty() {
      return waiting.length === 0
    },
    get isLong() {
      return reaches(MANY_SHARE)
    },
    get isStillLong() {
      return reaches(STILL_MANY_SHARE)
    },
    get isOver() {
      return waiting.length === 0 && end !== undefined && !('error' in end)
    },
    wait: async () => {
      if (waiting.length > 0 || end || signal.aborted) return
      await new Promise<void>((resolve) => {
        onArrival = resolve
      })
    },
    get newest() {
      return newest
    },
    closed: async () => {
      signal.removeEventListener('abort', stop)
      await reading
    },
  }
}

/** Returns the number of the newest block after a change set; undefined when the change set does not name it. */
function tipOf(unit: ReplicationUnit): number | undefined {
  if (unit.kind === 'epoch') return unit.head.number
  return unit.kind === 'blocks' ? (unit.blocks.at(-1) ?? unit.ancestor)?.number : undefined
}

function verifiedHere(block: EncodedBlock, spec: ChainSpec): BlockToApply {
  return { verified: () => verifyReplicated(block, spec) }
}

/** Wraps a block that another thread verifies. */
export function verifiedElsewhere(verdict: Promise<Verdict>, block: EncodedBlock, spec: ChainSpec): BlockToApply {
  verdict.catch(() => {}) // reported to the callers that await it
  return {
    verified: () => verdict.then(({ take }) => take()),
    decoded: () => decodeUnverified(block, spec),
    approved: () =>
      verdict.then(({ isRight, take }) => {
        if (!isRight) take()
      }),
  }
}
