import type { Costs } from './costs.js'
import type { Counts, Network } from './networks.js'
import { between, product, quotient, type Range, sum, times } from './range.js'

/** What a database has of the state: `--state none`; `--state sparse` begun at the head, with nothing known; sparse
 *  state begun with the whole state from a dump; `--state execute`. */
export const STATES = ['none', 'sparse', 'dump', 'execute'] as const
export type State = (typeof STATES)[number]

/** What to expect of a database of a network that is followed. */
export interface Forecast {
  readonly network: string
  readonly state: State
  /** Day of the counts, as YYYY-MM-DD; null for a chain of the command line. */
  readonly date: string | null
  /** Bytes on disk at that day: of all blocks, or where it begins at the head, of what it begins with. */
  readonly diskBytes: Range
  readonly diskBytesPerDay: Range
  readonly diskBytesInYear: Range
  /** Bytes passed to write calls by a server that follows the head. */
  readonly writtenBytesPerDay: Range
  /** Memory of the server without mapped pages of files. */
  readonly memoryBytes: Range
  /** Days until the database has the head; words where that cannot be, or takes no time. */
  readonly daysToHead: Range | string
}

export const CANNOT_EXECUTE = 'cannot: execution from genesis'
export const BEGINS_AT_HEAD = 'none: begins at the head'

const DAY_SECONDS = 86_400
const YEAR_DAYS = 365
/** The least share of lately changed accounts and slots that earlier transactions changed: those of the first years
 *  were transfers. */
const EARLIER_CHANGES = between(0.5, 1)

/** What a network has in a day. */
interface Day {
  readonly blocks: Range
  readonly transactions: Range
  readonly logs: Range
  readonly changedAccounts: Range
  readonly changedSlots: Range
  /** New in the state. */
  readonly accounts: Range
  readonly slots: Range
  readonly codeBytes: Range
}

/** Forecasts a database of the network from what its parts cost. */
export function forecast(network: Network, state: State, costs: Costs): Forecast {
  const { name, date, isExecutable, counts } = network
  const day = countDay(network)
  const diskBytes = forecastDisk(counts, state, costs)
  const diskBytesPerDay = sum(sumChainBytes(day, costs), sumStateBytes(day, state, costs))
  return {
    ...{ network: name, state, date, diskBytes, diskBytesPerDay },
    diskBytesInYear: sum(diskBytes, times(diskBytesPerDay, YEAR_DAYS)),
    writtenBytesPerDay: sumWrittenBytes(day, state, costs),
    memoryBytes: sum(costs[MEMORY[state]]),
    daysToHead: forecastDays(counts, { state, isExecutable }, costs),
  }
}

const MEMORY = { none: 'noneMemory', sparse: 'stateMemory', dump: 'stateMemory', execute: 'stateMemory' } as const

function countDay({ counts, growth }: Network): Day {
  const { transactionsPerDay: transactions } = counts
  return {
    blocks: quotient(between(DAY_SECONDS), counts.blockSeconds),
    transactions,
    logs: product(transactions, counts.logsPerTransaction),
    changedAccounts: product(transactions, counts.changedAccounts),
    changedSlots: product(transactions, counts.changedSlots),
    accounts: times(transactions, growth.accounts),
    slots: times(transactions, growth.slots),
    codeBytes: times(transactions, growth.codeBytes),
  }
}

/** Returns the bytes that a server writes in a day. What one with sparse state writes for a block is in that of its
 *  changes. */
function sumWrittenBytes(
  { blocks, transactions, changedAccounts, changedSlots }: Day,
  state: State,
  costs: Costs,
): Range {
  const changes = sum(changedAccounts, changedSlots)
  if (state === 'none') {
    return sum(product(blocks, costs.noneWrittenPerBlock), product(transactions, costs.noneWrittenPerTransaction))
  }
  if (state !== 'execute') return product(changes, costs.sparseWrittenPerChange)
  return sum(product(blocks, costs.executeWrittenPerBlock), product(changes, costs.executeWrittenPerChange))
}

function forecastDisk(counts: Counts, state: State, costs: Costs): Range {
  if (state === 'sparse') return sum(costs.trieLayerBytes)
  const stateItems = sum(counts.accounts, counts.slots)
  if (state === 'dump') return sum(product(stateItems, costs.dumpBytes), counts.codeBytes, costs.trieLayerBytes)
  const chain = sumChainBytes(counts, costs)
  if (state === 'none') return chain
  const changed = (perTransaction: Range) => product(counts.transactions, perTransaction, EARLIER_CHANGES)
  const changes = { changedAccounts: changed(counts.changedAccounts), changedSlots: changed(counts.changedSlots) }
  return sum(chain, sumStateBytes({ ...counts, ...changes }, state, costs), costs.trieLayerBytes)
}

/** Returns the bytes of blocks, transactions, logs, their indexes and addresses. */
function sumChainBytes(
  { blocks, transactions, logs, accounts }: Pick<Day, 'blocks' | 'transactions' | 'logs' | 'accounts'>,
  costs: Costs,
): Range {
  return sum(
    product(blocks, costs.blockBytes),
    product(transactions, sum(costs.transactionBytes, costs.transactionIndexBytes, costs.addressIndexBytes)),
    product(logs, sum(costs.logBytes, costs.logIndexBytes)),
    product(accounts, costs.addressBytes),
  )
}

/** Returns the bytes of the state history, the trie and code. */
function sumStateBytes(
  { changedAccounts, changedSlots, accounts, slots, codeBytes }: Omit<Day, 'blocks' | 'transactions' | 'logs'>,
  state: State,
  costs: Costs,
): Range {
  if (state === 'none') return between(0)
  const changes = sum(changedAccounts, changedSlots)
  const rows = sum(
    product(changedAccounts, costs.accountChangeBytes),
    product(changedSlots, costs.slotChangeBytes),
    product(changes, costs.changedKeyBytes),
    codeBytes,
  )
  return sum(
    rows,
    state === 'sparse' ? product(changes, costs.sparseKeyBytes) : product(sum(accounts, slots), costs.trieBytes),
  )
}

function forecastDays(
  { transactions, accounts, slots }: Counts,
  { state, isExecutable }: { state: State; isExecutable: boolean },
  costs: Costs,
): Range | string {
  const days = (items: Range, perSecond: Range) => times(quotient(items, perSecond), 1 / DAY_SECONDS)
  if (state === 'none') return days(transactions, costs.noneTransactionsPerSecond)
  if (state === 'sparse') return BEGINS_AT_HEAD
  if (state === 'dump') return days(sum(accounts, slots), costs.dumpItemsPerSecond)
  return isExecutable ? days(transactions, costs.executeTransactionsPerSecond) : CANNOT_EXECUTE
}
