import type { Logger } from '../../lib/logger.js'
import type { Metrics } from '../../lib/metrics.js'
import type { MethodTable } from '../../rpc/core/method.js'
import { createAccessLog } from './accessLog.js'
import { createKeyUsage } from './keyUsage.js'
import type { Accounting } from './requestRecord.js'

/** Where requests are recorded. */
export interface AccountingSettings {
  readonly datadir: string
  /** Serve without keys; key usage is then not counted. */
  readonly open: boolean
  /** A file, or `-` for standard output; undefined: no access log. */
  readonly accessLog?: string
  /** Days to keep the usage of keys; 0: usage is not counted. */
  readonly usageDays: number
}

/** Opens the destinations of request records; undefined if there are none. SIGUSR2 reopens the access log. @throws
 *  UsageError */
export function openAccounting(
  { accessLog: path, usageDays: days, datadir, open }: AccountingSettings,
  { methods, metrics, log }: { methods: MethodTable; metrics: Metrics; log: Logger },
): (Accounting & { close(): Promise<void> }) | undefined {
  const countsUsage = days > 0 && !open
  if (path === undefined && !countsUsage) return undefined
  const accessLog = path === undefined ? undefined : createAccessLog(path, metrics)
  const usage = countsUsage ? createKeyUsage({ datadir, days, methods, log }) : undefined
  const reopen = () => accessLog!.reopen()
  if (accessLog !== undefined) process.on('SIGUSR2', reopen)
  return {
    accessLog,
    usage,
    async close() {
      process.off('SIGUSR2', reopen)
      usage?.close()
      await accessLog?.close()
    },
  }
}
