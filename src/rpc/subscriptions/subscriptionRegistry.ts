import { formatLog } from '../../index/logs/logJson.js'
import { formatData } from '../../lib/hex.js'
import type { ChainMark } from '../../store/rows/chainFollower.js'
import type { StoredBlock, StoredLog } from '../../store/rows/types.js'
import type { LogCriteria, ReceiptCriteria, Topic } from '../core/session.js'
import { formatHead } from '../eth/format/block.js'
import { hexOf, type LogValues } from './logCriteria.js'
import { createLogMatcher, type LogMatcher } from './logMatcher.js'

/** A new block for its listeners: each of its texts is written once for all. */
export class NewHead {
  readonly block: StoredBlock
  private text: Buffer | undefined

  constructor(block: StoredBlock) {
    this.block = block
  }

  /** The header object as JSON. */
  json(): Buffer {
    this.text ??= Buffer.from(JSON.stringify(formatHead(this.block)))
    return this.text
  }

  /** The hash as DATA. */
  hash(): string {
    return formatData(this.block.hash)
  }
}

/** A log of an added or removed block for its listeners: its text is written once for all. */
export class NewLog implements LogValues {
  readonly address: string
  readonly topics: readonly string[]
  private readonly stored: StoredLog
  private readonly removed: boolean
  private text: Buffer | undefined

  constructor(stored: StoredLog, { removed }: { removed: boolean }) {
    this.address = hexOf(stored.log.address)
    this.topics = stored.log.topics.map(hexOf)
    this.stored = stored
    this.removed = removed
  }

  /** The log object as JSON. */
  json(): Buffer {
    const { log, position } = this.stored
    this.text ??= Buffer.from(JSON.stringify({ ...formatLog(log, position), removed: this.removed }), 'latin1')
    return this.text
  }
}

/** A subscription or a filter. */
export interface Listener {
  readonly topic: Topic
  /** The listener receives the changes committed from here on. */
  mark: ChainMark
  takeHead(head: NewHead): void
  takeLog(log: NewLog): void
  /** Receives the receipts of a new block as a JSON array. */
  takeReceipts?(json: Buffer): void
}

/** A listener to receipts. */
interface ReceiptListener extends Listener {
  readonly topic: { readonly kind: 'transactionReceipts'; readonly criteria: ReceiptCriteria }
}

/** A listener to logs. */
interface LogListener extends Listener {
  readonly topic: { readonly kind: 'logs'; readonly criteria: LogCriteria }
}

/** All listeners, by topic. */
export interface SubscriptionRegistry {
  readonly heads: ReadonlySet<Listener>
  readonly logs: LogMatcher<LogListener>
  readonly receipts: ReadonlySet<ReceiptListener>
  add(listener: Listener): void
  remove(listener: Listener): void
  size(): number
}

/** An empty registry. */
export function createSubscriptionRegistry(): SubscriptionRegistry {
  const heads = new Set<Listener>()
  const logs = createLogMatcher<LogListener>()
  const receipts = new Set<ReceiptListener>()
  return {
    heads,
    logs,
    receipts,
    add(listener) {
      if (isLogListener(listener)) logs.add(listener)
      else if (isReceiptListener(listener)) receipts.add(listener)
      else if (listener.topic.kind === 'newHeads') heads.add(listener)
    },
    remove(listener) {
      if (isLogListener(listener)) logs.remove(listener)
      else if (isReceiptListener(listener)) receipts.delete(listener)
      else heads.delete(listener)
    },
    size: () => heads.size + logs.size() + receipts.size,
  }
}

function isLogListener(listener: Listener): listener is LogListener {
  return listener.topic.kind === 'logs'
}

function isReceiptListener(listener: Listener): listener is ReceiptListener {
  return listener.topic.kind === 'transactionReceipts'
}
