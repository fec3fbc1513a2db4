import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { ExportLocked } from '../../export/errors.js'
import { messageOf } from '../../lib/errors.js'
import { noProgress } from '../../lib/progress.js'
import { UnfitForLake } from '../../store/sql/lakeViews.js'
import type { LakeReport } from '../protocol.js'
import { extendLake } from './extendLake.js'

/* Entry of the process that extends the lake beside a server. It may be killed at any moment: only complete files
 * count. */

/** Time between looks for final blocks, and after a failure. */
const POLL_MS = 10_000
const RETRY_MS = 60_000

const { datadir, directory } = JSON.parse(process.argv[2]) as { datadir: string; directory: string }
const { signal } = new AbortController()
const report = (message: LakeReport) => void process.send?.(message)

process.on('disconnect', () => process.exit(0))
process.on('SIGINT', () => {}) // a terminal's Ctrl-C is for the server, which ends this process
setPriority(19)

for (;;) {
  let waitMs = POLL_MS
  try {
    const extended = await extendLake(datadir, directory, { signal, observer: { begin: () => noProgress } })
    if (extended) report({ kind: 'extended' })
  } catch (error) {
    // Another server or `cairn sql --lake auto` extends it.
    if (!(error instanceof ExportLocked)) report({ kind: 'failed', message: messageOf(error) })
    if (error instanceof UnfitForLake) process.exit(0) // these blocks stay
    waitMs = RETRY_MS
  }
  await sleep(waitMs)
}
