import { hashSignature } from '../decoding/abiItems.js'
import type { DecodedLog, Decoder, KnownEvent } from '../decoding/decoder.js'
import { equalBytes } from '../lib/bytes.js'
import { UsageError } from '../lib/errors.js'
import { parseHex } from '../lib/hex.js'
import { didYouMean } from '../lib/suggestion.js'

/** Which events a sink has. Plain data. Absent members select all. */
export interface SinkFilter {
  /** Contracts, 20 bytes each. */
  readonly addresses?: readonly Uint8Array[]
  /** Topics by position, 32 bytes each; null: any. */
  readonly topics?: readonly (readonly Uint8Array[] | null)[]
  /** Names, ids or signatures of events. */
  readonly events?: readonly string[]
  /** True for all blocks, false for those with events. */
  readonly blocks: boolean
}

const MEMBERS = ['addresses', 'topics', 'events', 'blocks']

/** Returns the filter of a file. `what` begins messages. @throws UsageError */
export function parseSinkFilter(json: unknown, what: string): SinkFilter {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new UsageError(`${what}: expected an object`)
  const { addresses, topics, events, blocks = false } = json as { [member: string]: unknown }
  const unknown = Object.keys(json).find((name) => !MEMBERS.includes(name))
  if (unknown !== undefined) {
    throw new UsageError(
      `${what}: unknown member '${unknown}'${didYouMean(unknown, MEMBERS)}; there are ${MEMBERS.join(', ')}`,
    )
  }
  if (typeof blocks !== 'boolean') throw new UsageError(`${what}: blocks: expected true or false`)
  if (topics !== undefined && (!Array.isArray(topics) || topics.length > 4)) {
    throw new UsageError(`${what}: topics: expected a list of at most 4`)
  }
  return {
    ...(addresses === undefined ? {} : { addresses: parseBytes(addresses, 20, `${what}: addresses`) }),
    ...(topics === undefined
      ? {}
      : { topics: topics.map((each, i) => (each === null ? null : parseBytes(each, 32, `${what}: topics[${i}]`))) }),
    ...(events === undefined ? {} : { events: parseNames(events, `${what}: events`) }),
    blocks,
  }
}

function parseBytes(value: unknown, length: number, what: string): Uint8Array[] {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  if (values.length === 0) throw new UsageError(`${what}: expected at least one`)
  return values.map((each) => {
    if (typeof each !== 'string' || !new RegExp(`^0x[0-9a-fA-F]{${2 * length}}$`).test(each)) {
      throw new UsageError(`${what}: expected 0x and ${2 * length} hex digits, got ${JSON.stringify(each)}`)
    }
    return parseHex(each)
  })
}

function parseNames(value: unknown, what: string): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  if (values.length === 0 || !values.every((each) => typeof each === 'string')) {
    throw new UsageError(`${what}: expected a list of names or signatures`)
  }
  return (values as string[]).map((each) => each.replace(/\s/g, ''))
}

/** A log that may match. */
interface FilteredLog {
  readonly topics: readonly (Uint8Array | null)[]
}

/** A filter with the events that a decoder knows. */
export class EventSelection {
  /** First topics of all logs that match, 32 bytes each; undefined: any. */
  readonly topics0: readonly Uint8Array[] | undefined
  readonly #filter: SinkFilter
  /** Hashes of signatures that the filter names. */
  readonly #signatures: readonly Uint8Array[]
  readonly #known: ReadonlySet<KnownEvent>

  /** @throws UsageError for the name of an unknown event */
  constructor(filter: SinkFilter, decoder: Decoder) {
    const { events, topics } = filter
    this.#filter = filter
    this.#signatures = (events ?? []).filter((name) => name.includes('(')).map(hashSignature)
    this.#known = new Set((events ?? []).flatMap((name) => knownEvents(name, decoder)))
    const ofKnown = [...this.#known].map(({ topic0 }) => topic0)
    const named = ofKnown.every((topic) => topic !== undefined) ? [...this.#signatures, ...ofKnown] : undefined
    this.topics0 = topics?.[0] ?? (events === undefined ? undefined : named)
  }

  /** True for a log from one of the addresses. `decoded` is its event; null if unknown. */
  matches({ topics }: FilteredLog, decoded: DecodedLog | null): boolean {
    const { topics: wanted = [], events } = this.#filter
    const has = (values: readonly Uint8Array[], topic: Uint8Array | null) =>
      topic !== null && values.some((value) => equalBytes(value, topic))
    if (!wanted.every((values, i) => values === null || has(values, topics[i]))) return false
    if (events === undefined) return true
    return has(this.#signatures, topics[0]) || (decoded !== null && this.#known.has(decoded.event))
  }
}

function knownEvents(name: string, { events }: Decoder): KnownEvent[] {
  const found = events.filter(({ id, event }) => [id, event.name, event.signature].includes(name))
  if (found.length > 0 || name.includes('(')) return found
  const known = events.flatMap(({ id, event }) => [id, event.name])
  throw new UsageError(
    `--sink-filter: no known event is named ${JSON.stringify(name)}${didYouMean(name, known)}; see docs/decoding.md`,
  )
}
