import { TRANSFER_BATCH_TOPIC, TRANSFER_SINGLE_TOPIC, TRANSFER_TOPIC } from '../chain/eth/transferTopics.js'
import { readTokenTransfers, type TokenKind, type TokenTransfer } from '../decoding/tokenTransfers.js'
import { LogsUnavailable } from '../index/logs/errors.js'
import type { LogFilter } from '../index/logs/filter.js'
import type { LogIdPage, LogSource } from '../index/logs/query.js'
import { keyOfBytes, padLeft } from '../lib/bytes.js'
import type { Deadline } from '../lib/deadline.js'
import type { CommitWatch } from '../store/commitWatch.js'
import type { Database } from '../store/database.js'
import { createBlockOfLog } from '../store/rows/blockOfLog.js'
import { createExportRows, type ExportRows } from '../store/rows/exportRows.js'
import { createStoredLogs } from '../store/rows/log.js'
import { createLogRanges } from '../store/rows/logRanges.js'
import type { IdRange } from '../store/rows/rowFilter.js'
import type { LogPosition } from '../store/rows/types.js'

/** Selects transfers. */
export interface TransferQuery {
  readonly fromBlock: number // inclusive
  readonly toBlock: number // inclusive
  /** 20 bytes; undefined: any contract. */
  readonly token?: Uint8Array
  /** The sender or the receiver, 20 bytes; undefined: any. */
  readonly account?: Uint8Array
  /** Undefined: all. */
  readonly kinds?: readonly TokenKind[]
}

/** A transfer of a token contract. */
export interface TransferOfToken extends TokenTransfer {
  readonly token: Uint8Array // 20
}

/** A contract that logged transfers. */
export interface LoggedToken {
  readonly token: Uint8Array // 20
  /** That of the first transfer. */
  readonly kind: TokenKind
  /** Block of the first transfer. */
  readonly firstBlock: number
  readonly transferCount: number
}

/** A transfer in the chain. */
export interface PlacedTransfer extends TransferOfToken {
  readonly position: LogPosition
  /** Index in a batch of ERC-1155; 0 for the transfer of any other log. */
  readonly batchIndex: number
}

/** Location of a transfer, independent of the log ids of a database. */
export interface TransferPlace {
  readonly blockNumber: number
  readonly logIndex: number
  readonly batchIndex: number
}

interface PageOptions {
  /** Newest first; default: oldest first. */
  readonly descending?: boolean
  /** The page's first transfer, from the previous page; undefined: the start. */
  readonly from?: TransferPlace
  /** Maximum number of transfers. */
  readonly limit: number
  /** After this deadline the page ends, with at least one step of progress. */
  readonly sliceEnds: Deadline
}

/** Consecutive transfers. */
export interface TransferPage {
  readonly transfers: PlacedTransfer[]
  /** The next page's first transfer; undefined at the end. */
  readonly next?: TransferPlace
}

/** The last batch index: a page that begins at it in descending order has all transfers of the log. */
const LAST_OF_BATCH = 2 ** 32 - 1
/** Logs that one step of the search returns. */
const STEP = 10_000
/** Logs whose rows are read at once; a hostile batch has some megabytes. */
const ROWS = 100
/** Windows of a search for the newest transfers. */
export interface SearchWindows {
  /** Logs of the first window. */
  readonly logs: number
  /** Matches of a window at most; with more of them, a shorter one is searched. */
  readonly matches: number
}

const WINDOWS: SearchWindows = { logs: 65_536, matches: 2_000 }

/** Reads token transfers over one connection. The log search index finds the logs. */
export class TransferReader {
  readonly #watch: CommitWatch
  readonly #logs: Pick<LogSource, 'findIds'>
  readonly #windows: SearchWindows
  readonly #rows: ExportRows
  readonly #ranges: ReturnType<typeof createLogRanges>
  readonly #storedLogs: ReturnType<typeof createStoredLogs>
  readonly #blockOfLog: ReturnType<typeof createBlockOfLog>

  /** `windows`: smaller ones are for tests. */
  constructor(
    db: Database,
    {
      watch,
      logs,
      windows = WINDOWS,
    }: { watch: CommitWatch; logs: Pick<LogSource, 'findIds'>; windows?: SearchWindows },
  ) {
    this.#watch = watch
    this.#windows = windows
    this.#logs = logs
    this.#rows = createExportRows(db)
    this.#ranges = createLogRanges(db, watch)
    this.#storedLogs = createStoredLogs(db)
    this.#blockOfLog = createBlockOfLog(db)
  }

  /** Passes the transfers and the ids of their logs to `visit`, in chain order. @throws LogsUnavailable,
   *  DeadlineExceeded */
  visit(query: TransferQuery, deadline: Deadline, visit: (transfer: TransferOfToken, logId: number) => void): void {
    this.#inSnapshot(() => {
      const range = this.#rangeOf(query)
      const filters = filtersOf(query)
      for (let start = range.from; start < range.to; ) {
        deadline.check()
        const { ids, next = range.to } = this.#find(filters, { from: start, to: range.to }, STEP, deadline)
        for (let at = 0; at < ids.length; at += ROWS) {
          deadline.check()
          for (const log of this.#rows.logsByIds(ids.slice(at, at + ROWS))) {
            for (const transfer of readTokenTransfers(log)) {
              if (isWanted(query, transfer)) visit({ ...transfer, token: log.address }, log.id)
            }
          }
        }
        start = next
      }
    })
  }

  /** Token contracts, in the order of their first transfers. @throws as `visit` */
  tokens(query: TransferQuery, deadline: Deadline): LoggedToken[] {
    return this.#inSnapshot(() => {
      const byToken = new Map<string, { token: Uint8Array; kind: TokenKind; firstLog: number; transferCount: number }>()
      this.visit(query, deadline, ({ token, kind }, firstLog) => {
        const key = keyOfBytes(token)
        const known = byToken.get(key)
        if (known === undefined) byToken.set(key, { token, kind, firstLog, transferCount: 1 })
        else known.transferCount++
      })
      return Array.from(byToken.values(), ({ firstLog, ...each }) => ({
        ...each,
        firstBlock: this.#blockOfLog.numberOf(firstLog)!,
      }))
    })
  }

  /** One page of transfers. A page may be empty although it has a next one. @throws LogsUnavailable */
  page(query: TransferQuery, options: PageOptions): TransferPage {
    return this.#inSnapshot(() => {
      const range = this.#rangeOf(query)
      const { next, transfers } = options.descending
        ? this.#pageBackwards(query, range, options)
        : this.#pageForwards(query, range, options)
      if (next === undefined) return { transfers }
      return { transfers, next: { ...this.#blockOfLog.placeOf(next.id)!, batchIndex: next.batchIndex } }
    })
  }

  #pageForwards(query: TransferQuery, range: IdRange, { from, limit, sliceEnds }: PageOptions): IdPage {
    const filters = filtersOf(query)
    const page = new PageRows(limit, false)
    const begin = from === undefined ? undefined : this.#idOf(from)
    for (let start = begin?.id ?? range.from; start < range.to; ) {
      const step = Math.max(ROWS, limit - page.transfers.length)
      const { ids, next = range.to } = this.#find(filters, { from: start, to: range.to }, step, sliceEnds)
      const rest = this.#add(page, query, ids, begin)
      if (rest !== undefined) return { transfers: page.transfers, next: rest }
      start = next
      if (start < range.to && sliceEnds.remainingMs() <= 0) {
        return { transfers: page.transfers, next: { id: start, batchIndex: 0 } }
      }
    }
    return { transfers: page.transfers }
  }

  /** Searches windows of logs from the newest one back: short ones while they have many matches, longer ones while they
   *  have few. */
  #pageBackwards(query: TransferQuery, range: IdRange, { from, limit, sliceEnds }: PageOptions): IdPage {
    const filters = filtersOf(query)
    const page = new PageRows(limit, true)
    const begin = from === undefined ? undefined : this.#idOf(from)
    const { logs, matches } = this.#windows
    let width = logs
    for (let end = begin === undefined ? range.to : begin.id + 1; end > range.from; ) {
      const start = Math.max(range.from, end - width)
      const { ids, next } = this.#find(filters, { from: start, to: end }, matches, sliceEnds)
      if (next !== undefined) {
        width = Math.max(1, Math.floor((end - start) / 8))
        continue
      }
      const rest = this.#add(page, query, ids.reverse(), begin)
      if (rest !== undefined) return { transfers: page.transfers, next: rest }
      end = start
      if (ids.length < matches / 8) width *= 4
      if (end > range.from && sliceEnds.remainingMs() <= 0) {
        return { transfers: page.transfers, next: { id: end - 1, batchIndex: LAST_OF_BATCH } }
      }
    }
    return { transfers: page.transfers }
  }

  /** Adds the transfers of these logs, in their order. Returns the first one that the page has no space for. */
  #add(page: PageRows, query: TransferQuery, ids: readonly number[], begin: IdPlace | undefined): IdPlace | undefined {
    for (let at = 0; at < ids.length; at += ROWS) {
      const part = ids.slice(at, at + ROWS)
      for (const [i, { log, position }] of this.#storedLogs(part).entries()) {
        const transfers = readTokenTransfers(log)
          .map((transfer, batchIndex) => ({ ...transfer, token: log.address, position, batchIndex }))
          .filter((transfer) => isWanted(query, transfer))
        const rest = page.add(transfers, part[i] === begin?.id ? begin.batchIndex : undefined)
        if (rest !== undefined) return { id: part[i], batchIndex: rest }
      }
    }
    return undefined
  }

  /** Ids that match any of the filters, ascending. */
  #find(filters: readonly LogTopics[], range: IdRange, maxResults: number, sliceEnds: Deadline): LogIdPage {
    let { to } = range
    const found = filters.map((filter) => {
      const { ids, next } = this.#logs.findIds(filter, { range: { from: range.from, to }, maxResults, sliceEnds })
      if (next !== undefined) to = next
      return ids
    })
    const next = to < range.to ? to : undefined
    if (found.length === 1) return { ids: found[0], next }
    const ids = new Set(found.flat().filter((id) => id < to))
    return { ids: [...ids].sort((a, b) => a - b), next }
  }

  /** @throws LogsUnavailable for a place of a database that begins earlier */
  #idOf({ blockNumber, logIndex, batchIndex }: TransferPlace): IdPlace {
    const ids = this.#ranges.idsOf(blockNumber, blockNumber)
    if (ids === undefined) {
      throw new LogsUnavailable({ fromBlock: blockNumber, firstAvailable: this.#ranges.coverage()!.first })
    }
    return { id: ids.from + logIndex, batchIndex }
  }

  /** @throws LogsUnavailable */
  #rangeOf({ fromBlock, toBlock }: TransferQuery): IdRange {
    const coverage = this.#ranges.coverage()
    if (coverage === undefined) return { from: 0, to: 0 }
    const { first, head } = coverage
    if (fromBlock < first) throw new LogsUnavailable({ fromBlock, firstAvailable: first })
    return this.#ranges.idsOf(fromBlock, Math.min(toBlock, head)) ?? { from: 0, to: 0 }
  }

  #inSnapshot<T>(work: () => T): T {
    return this.#watch.withSnapshot(
      () => {
        this.#watch.beforeRead()
        return work()
      },
      { reads: true },
    )
  }
}

type LogTopics = Pick<LogFilter, 'addresses' | 'topics'>

/** A transfer by the id of its log. */
interface IdPlace {
  readonly id: number
  readonly batchIndex: number
}

interface IdPage {
  readonly transfers: PlacedTransfer[]
  readonly next?: IdPlace
}

/** The transfers of a page while it is filled. */
class PageRows {
  readonly transfers: PlacedTransfer[] = []
  readonly #limit: number
  readonly #descending: boolean

  constructor(limit: number, descending: boolean) {
    this.#limit = limit
    this.#descending = descending
  }

  /** Adds the transfers of a log, from that batch index on. Returns the batch index of the first one that does not
   *  fit. */
  add(transfers: readonly PlacedTransfer[], from: number | undefined): number | undefined {
    const ordered = this.#descending ? [...transfers].reverse() : transfers
    for (const transfer of ordered) {
      const { batchIndex } = transfer
      if (from !== undefined && (this.#descending ? batchIndex > from : batchIndex < from)) continue
      if (this.transfers.length === this.#limit) return batchIndex
      this.transfers.push(transfer)
    }
    return undefined
  }
}

/** Filters that match the logs of the query, one per position of the account. Only logs with four topics match if
 *  ERC-20 is not wanted. */
function filtersOf({ token, account, kinds }: TransferQuery): LogTopics[] {
  const has = (kind: TokenKind) => kinds === undefined || kinds.includes(kind)
  const transfers = has('erc20') || has('erc721') ? [TRANSFER_TOPIC] : []
  const multi = has('erc1155') ? [TRANSFER_SINGLE_TOPIC, TRANSFER_BATCH_TOPIC] : []
  const atLeast = has('erc20') ? 3 : 4
  const addresses = token && [token]
  const filterOf = (events: Uint8Array[], position?: number): LogTopics => {
    const topics: (Uint8Array[] | null)[] = Array.from({ length: atLeast }, () => null)
    topics[0] = events
    if (position !== undefined) topics[position] = [padLeft(account!, 32)]
    return { addresses, topics }
  }
  if (transfers.length + multi.length === 0) return []
  if (account === undefined) return [filterOf([...transfers, ...multi])]
  return [
    ...(transfers.length > 0 ? [filterOf(transfers, 1), filterOf(transfers, 2)] : []),
    ...(multi.length > 0 ? [filterOf(multi, 2), filterOf(multi, 3)] : []),
  ]
}

/** The index knows no kinds: ERC-20 and ERC-721 share a first topic. */
function isWanted({ kinds }: TransferQuery, { kind }: TokenTransfer): boolean {
  return kinds === undefined || kinds.includes(kind)
}
