import type { Felt } from '../../chain/starknet/felt.js'
import type { L2Event, L2Receipt } from '../../chain/starknet/types.js'
import { bigIntToBytes, bytesToBigInt, keyOfBytes } from '../../lib/bytes.js'
import { type Cursor, readInteger, writeInteger } from '../../lib/varint.js'

/* The events of a block in one value: a dictionary of the distinct felts, and the events as indexes into it. Addresses,
 * selectors and amounts recur within a block: an event of a real block takes 60 bytes instead of 250. All integers are
 * LEB128.
 *
 *   felts: count, then per felt its length and big-endian bytes without leading zeros
 *   events: count, then per event the index of its transaction, its address, the number of keys, keys, the number of
 *     data, data */

/** An event of a block. */
export interface StoredL2Event {
  /** Index among the events of the block. */
  readonly index: number
  readonly transactionIndex: number
  /** Index among the events of its transaction. */
  readonly indexInTransaction: number
  readonly fromAddress: Felt
  readonly keys: Felt[]
  readonly data: Felt[]
}

/** Selects events. An empty list matches anything, also at a position beyond the keys of an event. */
export interface L2EventPattern {
  readonly addresses: readonly Felt[]
  /** By position. */
  readonly keys: readonly (readonly Felt[])[]
}

/** Encodes the events of receipts; undefined where a receipt has no event list. */
export function encodeEvents(receipts: readonly L2Receipt[]): Uint8Array | undefined {
  const dictionary = new Map<Felt, number>()
  const indexOf = (felt: Felt) => {
    const known = dictionary.get(felt)
    if (known !== undefined) return known
    dictionary.set(felt, dictionary.size)
    return dictionary.size - 1
  }
  const body: number[] = []
  let count = 0
  for (const [transactionIndex, { events }] of receipts.entries()) {
    if (events === undefined) return undefined
    for (const { fromAddress, keys, data } of events) {
      count++
      body.push(transactionIndex, indexOf(fromAddress), keys.length)
      for (const key of keys) body.push(indexOf(key))
      body.push(data.length)
      for (const value of data) body.push(indexOf(value))
    }
  }
  const bytes: number[] = []
  writeInteger(bytes, dictionary.size)
  for (const felt of dictionary.keys()) {
    const own = bigIntToBytes(felt)
    writeInteger(bytes, own.length)
    for (const byte of own) bytes.push(byte)
  }
  writeInteger(bytes, count)
  for (const value of body) writeInteger(bytes, value)
  return Uint8Array.from(bytes)
}

/** Returns the events that match, in order. */
export function matchEvents(bytes: Uint8Array, { addresses, keys }: L2EventPattern): StoredL2Event[] {
  const cursor = { bytes, at: 0 }
  const starts = readDictionary(cursor)
  const felt = (index: number) => bytesToBigInt(bytes.subarray(starts[2 * index], starts[2 * index + 1]))
  const wanted = [addresses, ...keys].map((felts) => (felts.length === 0 ? undefined : indexesOf(bytes, starts, felts)))
  if (wanted.some((indexes) => indexes?.size === 0)) return []
  const found: StoredL2Event[] = []
  const count = readInteger(cursor)
  let [lastTransaction, indexInTransaction] = [-1, 0]
  for (let index = 0; index < count; index++) {
    const transactionIndex = readInteger(cursor)
    indexInTransaction = transactionIndex === lastTransaction ? indexInTransaction + 1 : 0
    lastTransaction = transactionIndex
    const address = readInteger(cursor)
    const own = readIntegers(cursor)
    const data = readIntegers(cursor)
    const matches = wanted.every((indexes, i) => indexes === undefined || indexes.has(i === 0 ? address : own[i - 1]))
    if (!matches) continue
    const fromAddress = felt(address)
    found.push({ index, transactionIndex, indexInTransaction, fromAddress, keys: own.map(felt), data: data.map(felt) })
  }
  return found
}

/** Returns the distinct terms of the felts of events that a filter may look for: position 0 for addresses, i + 1 for
 *  `keys[i]`. */
export function termsOf(events: Iterable<Pick<L2Event, 'fromAddress' | 'keys'>>): Set<number> {
  const terms = new Set<number>()
  for (const { fromAddress, keys } of events) {
    terms.add(termOf(0, fromAddress))
    for (let i = 0; i < Math.min(keys.length, INDEXED_KEYS); i++) terms.add(termOf(i + 1, keys[i]))
  }
  return terms
}

/** Keys at later positions are not in the index; real events have at most four. */
export const INDEXED_KEYS = 15

const TERM_BITS = 44n

/** The low 44 bits of the felt and its position: addresses and selectors are hashes, so terms rarely collide, and
 *  events are compared with the whole felt. */
export function termOf(position: number, felt: Felt): number {
  return position * 2 ** Number(TERM_BITS) + Number(BigInt.asUintN(Number(TERM_BITS), felt))
}

/** Start and end of each felt. */
function readDictionary(cursor: Cursor): Uint32Array {
  const size = readInteger(cursor)
  const starts = new Uint32Array(2 * size)
  for (let i = 0; i < size; i++) {
    const length = readInteger(cursor)
    starts[2 * i] = cursor.at
    cursor.at += length
    starts[2 * i + 1] = cursor.at
  }
  return starts
}

/** Dictionary indexes of those felts that it has. */
function indexesOf(bytes: Uint8Array, starts: Uint32Array, felts: readonly Felt[]): Set<number> {
  const sought = new Set(felts.map((felt) => keyOfBytes(bigIntToBytes(felt))))
  const found = new Set<number>()
  for (let i = 0; 2 * i < starts.length; i++) {
    if (sought.has(keyOfBytes(bytes.subarray(starts[2 * i], starts[2 * i + 1])))) found.add(i)
  }
  return found
}

function readIntegers(cursor: Cursor): number[] {
  const values = new Array<number>(readInteger(cursor))
  for (let i = 0; i < values.length; i++) values[i] = readInteger(cursor)
  return values
}

/** Matches every event. */
export const ANY_EVENT: L2EventPattern = { addresses: [], keys: [] }
