import { messageOf } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import { type KeyUsage, openUsage, type UsageFigures, type UsageTable } from '../../store/keys/usageTable.js'

/** Counts the resources used by the calls of API keys. */
export interface KeyUsageCounter {
  /** Adds to the figures of a key and method. */
  add(keyId: number, method: string, figures: UsageFigures): void
  /** Writes the remaining figures. */
  close(): void
}

/** Names of unknown methods, and of methods beyond the limit of entries. No method has these names. */
const UNKNOWN = 'unknown'
const OTHER = 'other'

/** Entries in memory between two flushes, 150 bytes each. Beyond that, methods of a key are counted together. */
const MAX_ENTRIES = 20_000

const FLUSH_MS = 60_000
const DAY_MS = 86_400_000

/** Counts in memory and adds to the usage database of `datadir` every minute and on `close`. Keeps figures for `days`
 *  days. A failed flush is logged and retried. Figures belong to the day of the clock `nowMs`. */
export function createKeyUsage(options: {
  datadir: string
  days: number
  methods: { has(name: string): boolean }
  log: Logger
  nowMs?: () => number
}): KeyUsageCounter & { flush(): void } {
  const { datadir, days, methods, log, nowMs = Date.now } = options
  let usage = new Map<number, Map<string, KeyUsage>>()
  let entries = 0
  let table: UsageTable | undefined
  let flushedDay: number | undefined

  const entryOf = (keyId: number, name: string): KeyUsage => {
    let own = usage.get(keyId)
    if (own === undefined) {
      own = new Map()
      usage.set(keyId, own)
    }
    const known = own.get(name)
    if (known !== undefined) return known
    if (name !== UNKNOWN && name !== OTHER && !methods.has(name)) return entryOf(keyId, UNKNOWN)
    if (entries >= MAX_ENTRIES && name !== OTHER) return entryOf(keyId, OTHER)
    entries++
    const made: KeyUsage = { keyId, method: name, calls: 0, errors: 0, bytesIn: 0, bytesOut: 0, ms: 0 }
    own.set(name, made)
    return made
  }
  const flush = () => {
    if (usage.size === 0) return
    const day = Math.floor(nowMs() / DAY_MS)
    try {
      table ??= openUsage(datadir)
      if (day !== flushedDay) table.removeBefore(day - days + 1)
      flushedDay = day
      table.add(
        day,
        [...usage.values()].flatMap((own) => [...own.values()]),
      )
      usage = new Map()
      entries = 0
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the usage of API keys could not be written; it is tried again')
    }
  }
  const timer = setInterval(flush, FLUSH_MS).unref()
  return {
    add(keyId, method, { calls, errors, bytesIn, bytesOut, ms }) {
      const own = entryOf(keyId, method)
      own.calls += calls
      own.errors += errors
      own.bytesIn += bytesIn
      own.bytesOut += bytesOut
      own.ms += ms
    },
    flush,
    close() {
      clearInterval(timer)
      flush()
      table?.close()
    },
  }
}
