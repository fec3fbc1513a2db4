import { type Felt, formatFelt } from '../../chain/starknet/felt.js'
import { deadlineAfter } from '../../lib/deadline.js'
import { type L2EventPattern, matchEvents, type StoredL2Event } from '../../store/l2/eventCodec.js'
import { eventsOf } from '../../store/l2/l2EventRows.js'
import type { L2Reader } from '../../store/l2/l2Reader.js'
import { L2PartUnavailable } from '../../store/l2/unavailable.js'
import type { RpcLimits } from '../core/context.js'
import { defineMethod } from '../core/method.js'
import { findL2Block, type L2BlockId } from './blockId.js'
import { readL2Body } from './body.js'
import {
  BLOCK_NOT_FOUND,
  INVALID_CONTINUATION_TOKEN,
  PAGE_TOO_BIG,
  PART_UNAVAILABLE,
  starknetError,
  TOO_MANY_KEYS,
} from './errors.js'
import { type EventFilter, eventFilterParam } from './eventFilter.js'
import { decodeToken, type EventPosition, encodeToken } from './eventToken.js'
import { STARKNET_EVENTS_SCHEMA } from './schemas.js'

const MAX_CHUNK = 1024
const MAX_KEY_POSITIONS = 16
// A page ends at this much JSON or time even if it is not full.
const PAGE_BYTES = 4_000_000
const SLICE_MS = 2_000

export const getEvents = defineMethod({
  name: 'starknet_getEvents',
  summary: 'Layer-2 events that match a filter, page by page.',
  description:
    'The object of specification 0.9, with `transaction_index` and `event_index` of 0.10. `address` may be a list, as since ' +
    `0.10.1. A page has at most \`chunk_size\` events (up to ${MAX_CHUNK}) and may be empty: it also ends after 4 MB or two ` +
    'seconds. More may follow as long as there is a `continuation_token`, which is invalid once a reorg has removed blocks ' +
    'that were searched. Without `from_block` the search begins with block 0, without `to_block` it ends with the newest ' +
    'confirmed one. An error if events of the range were not recorded.',
  cost: 'scan',
  classes: ['logs'],
  params: [eventFilterParam],
  result: { name: 'events', schema: STARKNET_EVENTS_SCHEMA },
  errors: [BLOCK_NOT_FOUND, PAGE_TOO_BIG, INVALID_CONTINUATION_TOKEN, TOO_MANY_KEYS, PART_UNAVAILABLE],
  handler: ({ l2, limits }, filter) => {
    if (filter.chunk_size > MAX_CHUNK) throw starknetError(PAGE_TOO_BIG, l2)
    const pattern = patternOf(filter, limits, l2)
    const start = filter.continuation_token === undefined ? undefined : decodeToken(filter.continuation_token, l2)
    const toBlock = resolve(l2, filter.to_block ?? 'latest')
    const fromBlock = start?.blockNumber ?? resolve(l2, filter.from_block ?? { number: 0 })
    const page = createPage(l2, filter.chunk_size, start)
    const slice = deadlineAfter(Math.min(SLICE_MS, limits.logsTimeoutMs / 2))
    const stoppedAt = l2.events.search({ fromBlock, toBlock }, pattern, {
      visit: ({ number, hash, events }) => page.add(events, { number, hash }),
      isOver: () => slice.remainingMs() < 0,
    })
    if (stoppedAt !== undefined) page.endBefore(stoppedAt, fromBlock)
    else if (isUnconfirmed(filter.to_block)) addPending(page, l2, pattern)
    return page.result()
  },
})

/** @throws RpcError 34 */
function patternOf({ address = [], keys = [] }: EventFilter, { maxFilterParams }: RpcLimits, l2: L2Reader) {
  const count = keys.reduce((sum, values) => sum + values.length, address.length)
  if (keys.length > MAX_KEY_POSITIONS || count > maxFilterParams) throw starknetError(TOO_MANY_KEYS, l2)
  return { addresses: address, keys }
}

const isUnconfirmed = (id: L2BlockId | undefined) => id === 'pending' || id === 'pre_confirmed'

/** The number of a block: an explicit number need not be stored; the unconfirmed block has the number after the head.
 *  @throws RpcError */
function resolve(l2: L2Reader, id: L2BlockId): number {
  if (typeof id === 'object' && 'number' in id) return id.number
  if (isUnconfirmed(id)) return (l2.head()?.number ?? -1) + 1
  const found = findL2Block(l2, id)
  if (found === undefined || !('confirmed' in found) || found.confirmed.status === 'REJECTED') {
    throw starknetError(BLOCK_NOT_FOUND, l2)
  }
  return found.confirmed.number
}

type Page = ReturnType<typeof createPage>

/** Collects the events of a page. */
function createPage(l2: L2Reader, size: number, start: EventPosition | undefined) {
  const events: object[] = []
  let bytes = 0
  let next: EventPosition | undefined
  let seen = start?.seen

  return {
    /** Adds the events of a block, from the start of the page on. Without a hash it is the pending block. False if the
     *  page is full. */
    add: (
      found: readonly StoredL2Event[],
      { number, hash, transactionHashes }: { number: number; hash?: Felt; transactionHashes?: readonly Felt[] },
    ): boolean => {
      if (next !== undefined) return false
      if (hash === undefined) seen ??= l2.head()
      else seen = { number, hash }
      const first = number === start?.blockNumber ? start.eventIndex : 0
      const left = found.filter(({ index }) => index >= first)
      const hashes = transactionHashes ?? (left.length === 0 ? [] : l2.transactionHashes({ hash: hash! }))
      for (const event of left) {
        // Without a confirmed block, no token could name one.
        if (seen !== undefined && (events.length >= size || bytes >= PAGE_BYTES)) {
          next = { blockNumber: number, eventIndex: event.index, seen }
          return false
        }
        events.push({
          ...formatEvent(event),
          transaction_hash: formatFelt(hashes[event.transactionIndex]),
          ...(hash === undefined ? {} : { block_hash: formatFelt(hash) }),
          block_number: number,
        })
        bytes += 300 + 70 * (event.keys.length + event.data.length)
      }
      return true
    },
    /** Ends the page before a block because the time is up. `fromBlock` is the first block of this page. */
    endBefore: (number: number, fromBlock: number) => {
      const last = l2.blockByNumber(Math.max(number - 1, fromBlock))
      next ??= last && { blockNumber: number, eventIndex: 0, seen: seen ?? last }
    },
    result: () => ({ events, ...(next === undefined ? {} : { continuation_token: encodeToken(next) }) }),
  }
}

/** Adds events of the unconfirmed block, if there is one. @throws L2PartUnavailable */
function addPending(page: Page, l2: L2Reader, pattern: L2EventPattern): void {
  const pending = l2.pending()
  if (pending === undefined || pending.transactionHashes.length === 0) return
  const stored = eventsOf(readL2Body(l2, { number: pending.number }).block)
  if (stored === undefined) throw new L2PartUnavailable(pending.number, 'events')
  const events = matchEvents(stored, pattern)
  const number = pending.number ?? (l2.head()?.number ?? -1) + 1
  page.add(events, { number, transactionHashes: pending.transactionHashes })
}

function formatEvent({ fromAddress, keys, data, transactionIndex, indexInTransaction }: StoredL2Event): object {
  return {
    from_address: formatFelt(fromAddress),
    keys: keys.map(formatFelt),
    data: data.map(formatFelt),
    transaction_index: transactionIndex,
    event_index: indexInTransaction,
  }
}
