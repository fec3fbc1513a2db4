import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../lib/errors.js'
import { createProgress } from '../../lib/progress.js'
import { DATABASE_FILE, DatabaseMissing } from '../../store/open.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printOutcome } from '../standardStreams.js'
import { listenForStop } from '../stopSignal.js'

/** `cairn rewind --to N`. SIGINT and SIGTERM end it after the current transaction, with exit codes 130 and 143. The
 *  next run resumes. */
export async function runRewind({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help rewind'`)
  const { datadir, to } = config
  if (to === undefined) throw new UsageError("--to NUMBER is needed: the last block to keep; see 'cairn help rewind'")
  const path = join(datadir, DATABASE_FILE)
  if (!existsSync(path)) throw new DatabaseMissing(path)
  const { openForWriting } = await import('../../store/openForWriting.js')
  const { openWritableChain } = await import('../../sync/chainState.js')
  const { RewindOutOfRange } = await import('../../sync/head/errors.js')
  const { rewindChain } = await import('../../sync/rewindChain.js')
  const stop = listenForStop()
  const db = openForWriting(datadir)
  try {
    const { signal } = stop
    const startProgress = (label: string, unit: string, total: number) => createProgress({ label, unit, total })
    const chain = await openWritableChain(db, undefined, undefined, { startProgress, signal, lazyTrie: true })
    const summary = await rewindChain(chain, to, {
      signal,
      startProgress: (blocks) => createProgress({ label: 'rewind', unit: 'blocks', total: blocks }),
    })
    const { blocks, transactions, logs, head, removedState, interrupted } = summary
    const removed = `${blocks} blocks removed with ${transactions} transactions and ${logs} logs; the head is block ${head}`
    const state = removedState ? '; the sparse state begins again at the head of the upstream' : ''
    const rest = interrupted ? '; interrupted: run the same command again to resume' : ''
    printOutcome(config, `${removed}${state}${rest}`, summary)
    // The next readers start with a small write-ahead log.
    db.pragma('wal_checkpoint(TRUNCATE)')
    return interrupted ? stop.exitCode() : 0
  } catch (error) {
    if (error instanceof RewindOutOfRange) throw new UsageError(`--to ${to}: ${error.message}`, { cause: error })
    throw error
  } finally {
    db.close()
    stop.close()
  }
}
