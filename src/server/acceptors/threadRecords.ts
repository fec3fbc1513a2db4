import type { Accounting } from '../accounting/requestRecord.js'
import type { AcceptorReport, UsageRow } from './messages.js'

/** Records of requests in a thread, for the destinations of the main thread. */
export interface ThreadRecords {
  readonly accounting: Accounting | undefined
  /** Removes and returns the usage of keys since the last time. */
  takeUsage(): UsageRow[]
  /** Sends the lines of the access log that wait. */
  flush(): void
}

/** Collects records. Lines of the access log are sent at the end of each event-loop turn. */
export function createThreadRecords(
  { accessLog, usage }: { accessLog: boolean; usage: boolean },
  post: (report: AcceptorReport) => void,
): ThreadRecords {
  let lines: object[] = []
  const rows = new Map<string, UsageRow>()
  const flush = () => {
    if (lines.length > 0) post({ kind: 'lines', lines })
    lines = []
  }
  const accounting: Accounting = {
    accessLog: accessLog
      ? {
          write(fields) {
            if (lines.length === 0) setImmediate(flush)
            lines.push(fields)
          },
          reopen() {},
          close: async () => {},
        }
      : undefined,
    usage: usage
      ? {
          add(keyId, method, figures) {
            const key = `${keyId} ${method}`
            const sum = rows.get(key)?.figures
            rows.set(key, { keyId, method, figures: sum === undefined ? figures : addFigures(sum, figures) })
          },
          close() {},
        }
      : undefined,
  }
  return {
    accounting: accessLog || usage ? accounting : undefined,
    takeUsage() {
      const taken = [...rows.values()]
      rows.clear()
      return taken
    },
    flush,
  }
}

function addFigures(a: UsageRow['figures'], b: UsageRow['figures']): UsageRow['figures'] {
  return {
    calls: a.calls + b.calls,
    errors: a.errors + b.errors,
    bytesIn: a.bytesIn + b.bytesIn,
    bytesOut: a.bytesOut + b.bytesOut,
    ms: a.ms + b.ms,
  }
}
