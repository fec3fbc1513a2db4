import { type Decoder, openDecoder } from '../decoding/decoder.js'
import { formatDecodedLog } from '../decoding/formatDecoded.js'
import { createImplementationReader } from '../decoding/proxies.js'
import { readLogs } from '../export/datasets/logs.js'
import type { ExportSource } from '../export/source.js'
import { equalBytes } from '../lib/bytes.js'
import { formatData, formatQuantity } from '../lib/hex.js'
import { ChangesMissed } from '../store/rows/chainFollower.js'
import type { StoredBlockLink } from '../store/rows/exportRows.js'
import { createRemovedBlocks, type RemovedBlock, type RemovedBlocks } from '../store/rows/removedBlocks.js'
import type { SinkCursor, SinkPlace } from './cursor.js'
import { EventSelection, type SinkFilter } from './filter.js'

/** A block with its events that match, each as JSON. */
export interface SinkBlock {
  readonly link: StoredBlockLink
  readonly events: readonly string[]
}

/** The next thing to deliver. `again`: blocks up to `sent` that are not acknowledged. `removed`: delivered blocks that
 *  are not canonical any more, the highest first. `cursor` is that after the delivery. */
export type SinkChange = { readonly cursor: SinkCursor } & (
  | { readonly kind: 'added' | 'again'; readonly blocks: readonly SinkBlock[] }
  | { readonly kind: 'removed'; readonly blocks: readonly RemovedBlock[] }
)

// A batch grows until it has this many events.
const WANTED_EVENTS = 500
const MAX_BLOCKS = 256

/** Reads what follows a cursor, one snapshot a call. */
export class EventReader {
  readonly #source: ExportSource
  readonly #removedBlocks: RemovedBlocks
  readonly #decoder: () => Decoder
  readonly #filter: SinkFilter
  #selection: { readonly decoder: Decoder; readonly filter: EventSelection } | undefined
  #batchBlocks = 16

  constructor(source: ExportSource, filter: SinkFilter) {
    const { db, chain, state } = source
    this.#source = source
    this.#removedBlocks = createRemovedBlocks(db)
    this.#decoder = openDecoder(db, createImplementationReader(chain, state))
    this.#filter = filter
  }

  /** Checks the filter. @throws UsageError for the name of an unknown event */
  check(): void {
    this.#currentFilter()
  }

  /** Returns the cursor of a sink that begins at the block, or the first available one; by default after the newest. */
  begin(from?: number): SinkCursor {
    return this.#inSnapshot(() => {
      const { chain } = this.#source
      const first = chain.coverage()?.first ?? 0
      const number = from === undefined ? (chain.head() ?? -1) : Math.max(from, first) - 1
      const place = { number, hash: number < 0 ? undefined : chain.blockHash(number) }
      return { sent: place, delivered: place, removal: this.#removedBlocks.lastId() }
    })
  }

  /** Number of the newest block; undefined without blocks. */
  head(): number | undefined {
    return this.#inSnapshot(() => this.#source.chain.head())
  }

  /** Returns what follows the cursor; undefined if nothing does. @throws ChangesMissed if the database does not
   *  have the removed blocks, or the next ones, any more */
  next(cursor: SinkCursor): SinkChange | undefined {
    return this.#inSnapshot(() => this.#next(cursor))
  }

  #next({ sent, delivered, removal }: SinkCursor): SinkChange | undefined {
    const found = this.#findRemoved(sent, removal)
    const { place } = found
    if (delivered.number < place.number) {
      const blocks = this.#read(delivered.number + 1, place.number)
      const last = blocks.at(-1)?.link ?? place
      return { kind: 'again', blocks, cursor: { sent, delivered: placeOf(last), removal } }
    }
    if (found.removed.length > 0) {
      return { kind: 'removed', blocks: found.removed, cursor: { sent: place, delivered: place, removal: found.last } }
    }
    const head = this.#source.chain.head() ?? -1
    if (head <= place.number) return undefined
    const blocks = this.#read(place.number + 1, head)
    const last = blocks.at(-1)
    if (last === undefined) return undefined
    const next = placeOf(last.link)
    return { kind: 'added', blocks, cursor: { sent: next, delivered: next, removal: found.last } }
  }

  /** Returns the removed blocks down to a canonical one. @throws ChangesMissed */
  #findRemoved(sent: SinkPlace, removal: number): { removed: RemovedBlock[]; place: SinkPlace; last: number } {
    const removed: RemovedBlock[] = []
    let place = sent
    const last = this.#removedBlocks.lastId()
    // A copy of another database has other ids: the hash decides.
    for (const block of this.#removedBlocks.after(Math.min(removal, last))) {
      if (place.hash === undefined || block.number !== place.number || !equalBytes(block.hash, place.hash)) continue
      removed.push(block)
      place = { number: block.number - 1, hash: block.parentHash }
    }
    const { chain } = this.#source
    const first = chain.coverage()?.first ?? 0
    if (place.number + 1 < first) throw new ChangesMissed() // blocks in between are not available
    if (place.hash !== undefined && place.number >= first) {
      const canonical = chain.blockHash(place.number)
      if (canonical === undefined || !equalBytes(canonical, place.hash)) throw new ChangesMissed()
    }
    return { removed, place, last }
  }

  /** Returns stored blocks from the first one on, at least one if there is one. */
  #read(from: number, to: number): SinkBlock[] {
    const { rows } = this.#source
    const links = rows.links(from, Math.min(to, from + this.#batchBlocks - 1))
    if (links.length === 0) return []
    const decoder = this.#decoder()
    const filter = this.#currentFilter(decoder)
    const blocks = links.map((link) => ({ link, events: [] as string[] }))
    let count = 0
    for (const { log, block, logIndex, transactionHash } of readLogs(this.#source, links, {
      addresses: this.#filter.addresses,
      topics0: filter.topics0,
    })) {
      const topics = log.topics.filter((topic) => topic !== null)
      const decoded = decoder.decodeLog({ ...log, topics }, block.number)
      if (!filter.matches(log, decoded)) continue
      const event = {
        address: formatData(log.address),
        topics: topics.map(formatData),
        data: formatData(log.data),
        blockNumber: formatQuantity(block.number),
        blockHash: formatData(block.hash),
        blockTimestamp: formatQuantity(block.timestamp),
        transactionHash: formatData(transactionHash),
        transactionIndex: formatQuantity(log.transactionIndex),
        logIndex: formatQuantity(logIndex),
        removed: false,
        decoded: formatDecodedLog(decoded),
      }
      blocks[block.number - links[0].number].events.push(JSON.stringify(event))
      count++
    }
    if (count < WANTED_EVENTS) this.#batchBlocks = Math.min(2 * this.#batchBlocks, MAX_BLOCKS)
    else if (count > 4 * WANTED_EVENTS) this.#batchBlocks = Math.max(1, this.#batchBlocks >> 1)
    return blocks
  }

  /** The filter with the events that are known now: ABIs may be added while the server runs. */
  #currentFilter(decoder = this.#decoder()): EventSelection {
    if (this.#selection?.decoder !== decoder) {
      this.#selection = { decoder, filter: new EventSelection(this.#filter, decoder) }
    }
    return this.#selection.filter
  }

  #inSnapshot<T>(work: () => T): T {
    const { watch } = this.#source
    return watch.withSnapshot(
      () => {
        watch.beforeRead()
        return work()
      },
      { reads: true },
    )
  }
}

function placeOf({ number, hash }: { readonly number: number; readonly hash: Uint8Array | undefined }): SinkPlace {
  return { number, hash }
}
