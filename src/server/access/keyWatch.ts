import type { FailureLog } from '../../lib/failureLog.js'
import type { ApiKeyReader } from '../../store/keys/apiKeys.js'

/** How often the database is polled for commits of other processes: 3 µs each. Running work of a revoked key ends
 *  within a second. */
const POLL_MS = 400

/** Notifies of changes of keys, for work and connections that outlive the check of a request. */
export class KeyWatch {
  private readonly keys: ApiKeyReader
  private readonly failures: FailureLog
  private readonly listeners: (() => void)[] = []
  private readonly timer: NodeJS.Timeout
  private seenVersion: number

  /** @throws when the database cannot be read */
  constructor(keys: ApiKeyReader, failures: FailureLog) {
    this.keys = keys
    this.failures = failures
    this.seenVersion = keys.version()
    this.timer = setInterval(() => this.look(), POLL_MS).unref()
  }

  /** Calls `listener` after each commit of another process, which may have changed keys. */
  onChange(listener: () => void): void {
    this.listeners.push(listener)
  }

  close(): void {
    clearInterval(this.timer)
  }

  private look(): void {
    try {
      const version = this.keys.version()
      this.failures.worked()
      if (version === this.seenVersion) return
      for (const listener of this.listeners) listener()
      this.seenVersion = version
    } catch (error) {
      this.failures.failed(error)
    }
  }
}
