import { formatData } from '../../../lib/hex.js'
import type { ChainSpec } from '../forks/rules.js'
import type { Header } from '../types.js'

/** Returns the header of an earlier block of the same chain; undefined where it is not available. */
export type EarlierHeader = (number: number) => Header | undefined

/** How a value follows from the headers of a chain, such as the validators from their votes. */
export interface HeaderFold<T> {
  /** Returns the value after a block from that block alone; undefined where it needs blocks before. */
  begin(header: Header, spec: ChainSpec): T | undefined
  /** Returns the value after a block from the value before it. Does not change `before`. */
  next(before: T, header: Header, spec: ChainSpec): T
}

// Values of the newest blocks, and of those that a reorg may return to.
const KEPT = 64
// Headers that are read at most to find where a value begins, once after the start of a process: more than an epoch of
// 30,000 blocks, the default of the protocols.
const MAX_HEADERS = 100_000

/** Returns a function for the value after a block, whose hash is `hash` (32 bytes). It reads the headers before it as
 *  far back as needed, and keeps the values of the newest blocks of each chain. The function returns undefined where
 *  the headers that it needs are not available, or more than 100,000 blocks away. */
export function foldHeaders<T>(fold: HeaderFold<T>) {
  const chains = new WeakMap<ChainSpec, Map<string, T | undefined>>()
  const keptOf = (spec: ChainSpec) => {
    const kept = chains.get(spec) ?? new Map<string, T | undefined>()
    chains.set(spec, kept)
    return kept
  }
  return (header: Header, hash: Uint8Array, spec: ChainSpec, earlier: EarlierHeader): T | undefined => {
    const kept = keptOf(spec)
    const path: { header: Header; key: string }[] = []
    let value: T | undefined
    for (let at: Header | undefined = header, key = formatData(hash); at; ) {
      if (kept.has(key)) {
        value = kept.get(key)
        break
      }
      path.push({ header: at, key })
      if (at.number === 0 || path.length > MAX_HEADERS || fold.begin(at, spec) !== undefined) break
      key = formatData(at.parentHash)
      at = earlier(at.number - 1)
    }
    for (const { header: each, key } of path.reverse()) {
      value = value === undefined ? fold.begin(each, spec) : fold.next(value, each, spec)
      kept.set(key, value)
    }
    for (const key of kept.keys()) {
      if (kept.size <= KEPT) break
      kept.delete(key)
    }
    return value
  }
}
