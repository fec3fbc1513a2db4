import { UsageError } from '../../lib/errors.js'
import { createLogger } from '../../lib/logger.js'
import { createProgress } from '../../lib/progress.js'
import { keepFollowReport } from '../followReport.js'
import { isFollowing, readFollowSettings } from '../followSettings.js'
import { readLogging } from '../options/output.js'
import type { ParsedArgs } from '../parseArgs.js'
import { listenForStop } from '../stopSignal.js'
import { writeNotice } from '../terminal.js'

/** `cairn sync`: follows until SIGINT or SIGTERM, then returns 0. @throws any other error that ends it */
export async function runSync({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help sync'`)
  if (!isFollowing(config)) {
    throw new UsageError("--upstream URL, --l2-upstream URL or --l2-feeder URL is needed; see 'cairn help sync'")
  }
  const settings = await readFollowSettings(config)
  const { openFollowers } = await import('../../sync/follow/openFollowers.js')
  const { Checkpointer } = await import('../../workers/checkpointer.js')
  const { SenderRecovery } = await import('../../sources/senders/senderRecovery.js')
  const { createL2Verifier } = await import('../../sync/thread/l2Verifier.js')
  const { showFollowProgress } = await import('../followProgress.js')
  const log = createLogger(readLogging(config))
  const stop = listenForStop(() => writeNotice('stopping after the block under way; a second signal ends it at once'))
  const checkpoints = new Checkpointer(config.datadir)
  const verifier = createL2Verifier()
  const senderRecovery = new SenderRecovery({ isEnabled: settings.senderThread, log })
  const startProgress = (label: string, unit: string, total: number) => createProgress({ label, unit, total })
  try {
    const threads = { checkpoints, senderRecovery, l2Verify: verifier.verify }
    const parts = { log, signal: stop.signal, ...threads, startProgress }
    const follower = await openFollowers(settings, parts)
    const progress = showFollowProgress(follower.status, log)
    const report = keepFollowReport(config.datadir, follower.status)
    try {
      await follower.run()
    } finally {
      report.close()
      progress.end()
      follower.close()
    }
    return 0
  } finally {
    stop.close()
    await verifier.close()
    await senderRecovery.close()
    await checkpoints.close()
  }
}
