import { InvalidL2Block } from '../../chain/starknet/errors.js'
import { formatFelt } from '../../chain/starknet/felt.js'
import type { L2NetworkName } from '../../chain/starknet/networks.js'
import { isPendingStatus } from '../../chain/starknet/types.js'
import type { L2Verdict, L2VerifyFunction } from '../../chain/starknet/verify.js'
import type { Logger } from '../../lib/logger.js'
import { yieldToEventLoop } from '../../lib/pause.js'
import type { Progress } from '../../lib/progress.js'
import type { L2Recording, L2Source } from '../../sources/files/starknetFile.js'
import type { L2Outcome, L2Writer } from '../../store/l2/l2Writer.js'
import { isFuller } from '../l2Fullness.js'

/** Totals of the import of one source. */
export interface L2ImportSummary {
  outcomes: Record<L2Outcome, number>
  /** Blocks stored whose hash was recomputed. */
  verified: number
  /** Blocks stored whose hash could not be recomputed: data is missing from the recording, or their hashes are not
   *  verifiable. */
  unverifiable: number
  /** True when `signal` ended it early. */
  interrupted: boolean
}

export interface L2ImportOptions {
  /** Undefined: no verification of hashes. */
  verify?: L2VerifyFunction
  /** The network of the blocks. Undefined: that of the database, or unknown. */
  network?: L2NetworkName
  log: Logger
  progress: Progress
  signal?: AbortSignal
}

// Blocks per transaction, which are lost and imported again when the process is killed.
const BATCH_BLOCKS = 100
// Concurrent verifications: enough to keep a few threads busy.
const LOOKAHEAD = 16

/** Imports the recordings of a source in order. A stored block is skipped, promoted when layer 1 has accepted it since,
 *  or replaced by a fuller recording. @throws InvalidL2Block for a refused block; L2NetworkMismatch; errors of the
 *  source. Blocks before it stay stored, nothing of the block itself. */
export async function importL2(source: L2Source, writer: L2Writer, options: L2ImportOptions): Promise<L2ImportSummary> {
  if (options.network !== undefined) writer.setNetwork(options.network)
  const batch = createBatch(writer, options)
  const ahead: { recording: L2Recording; verdict: Promise<L2Verdict> }[] = []
  const stopped = whenAborted(options.signal)
  const settleOldest = async () => {
    const { recording, verdict } = ahead.shift()!
    // Hashing a large old block takes seconds; a stop does not wait for it.
    const settled = await Promise.race([verdict, stopped])
    if (settled === undefined) ahead.length = 0
    else await batch.add(recording, settled)
  }
  const recordings = source.recordings()
  let interrupted = false
  let failure: { error: unknown } | undefined
  while (!interrupted) {
    const next = await recordings.next().catch((error: unknown) => {
      failure = { error } // thrown after everything before it was stored
    })
    if (!next || next.done) break
    const verdict = judge(next.value, writer, options)
    verdict.catch(() => {}) // awaited later, or dropped after an earlier failure
    ahead.push({ recording: next.value, verdict })
    if (ahead.length >= LOOKAHEAD) await settleOldest()
    interrupted ||= options.signal?.aborted ?? false
  }
  await recordings.return()
  while (ahead.length > 0) await settleOldest()
  await batch.flush()
  if (failure !== undefined) throw failure.error
  return { ...batch.summary, interrupted }
}

/** Resolves when the signal comes; never without one. */
function whenAborted(signal: AbortSignal | undefined): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve(undefined)
    else signal?.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}

/** Returns the verdict on a recording. Stored blocks and blocks without a hash are not verified. */
async function judge(recording: L2Recording, writer: L2Writer, { verify }: L2ImportOptions): Promise<L2Verdict> {
  const { block } = recording
  if (verify === undefined || isPendingStatus(block.status)) return { kind: 'unchecked' }
  if (writer.storedRecording(block) !== undefined && !takesPlace(recording, writer)) return { kind: 'unchecked' }
  return verify(block, writer.network())
}

/** True when the recording is fuller than that of the stored block. */
function takesPlace({ block, raw }: L2Recording, writer: L2Writer): boolean {
  const held = writer.storedRecording(block)
  return held !== undefined && isFuller(block, raw, held.raw)
}

/** Collects recordings with their verdicts into transactions. */
function createBatch(writer: L2Writer, { log, progress }: L2ImportOptions) {
  const outcomes = { stored: 0, skipped: 0, replaced: 0, promoted: 0, pending: 0, 'rejected-upstream': 0 }
  const summary = { outcomes, verified: 0, unverifiable: 0 }
  let waiting: [L2Recording, L2Verdict][] = []
  let done = 0

  /** Stores recordings up to the first refused one and returns its error. */
  const takeAll = (): InvalidL2Block | undefined => {
    for (const [recording, verdict] of waiting) {
      try {
        const { block, raw } = recording
        const outcome = takesPlace(recording, writer)
          ? writer.replaceBlock(block, verdict, raw)
          : writer.importBlock(block, verdict, raw)
        outcomes[outcome]++
        if (outcome === 'stored' || outcome === 'replaced') reportVerdict(recording, verdict)
      } catch (error) {
        if (error instanceof InvalidL2Block) return error
        throw error
      }
    }
    return undefined
  }
  const reportVerdict = ({ block, where }: L2Recording, verdict: L2Verdict) => {
    if (verdict.kind === 'match') summary.verified++
    if (verdict.kind !== 'incomplete' && verdict.kind !== 'unverifiable') return
    summary.unverifiable++
    const fields = { where, block: block.number, hash: block.hash && formatFelt(block.hash), reason: verdict.reason }
    log.debug(fields, 'block hash not recomputed')
  }
  const flush = async () => {
    if (waiting.length === 0) return
    const refusal = writer.transaction(takeAll)
    done += waiting.length
    waiting = []
    if (refusal !== undefined) throw refusal
    progress.update(done)
    await yieldToEventLoop() // signals are not delivered between promises alone
  }
  const add = async (recording: L2Recording, verdict: L2Verdict) => {
    waiting.push([recording, verdict])
    if (waiting.length >= BATCH_BLOCKS || verdict.kind === 'mismatch') await flush()
  }
  return { add, flush, summary }
}
