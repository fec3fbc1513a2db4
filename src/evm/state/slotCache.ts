import { equalBytes } from '../../lib/bytes.js'
import { NEVER, type SlotChange, type SlotReader, type Storage } from '../../store/state/slotReader.js'
import { copyWord, enlarged, LIMBS, type Words } from '../interpreter/words/words.js'
import { WordTable } from '../interpreter/words/wordTable.js'

/** An account's storage in one incarnation, by its id in the cache. */
export interface CachedStorage extends Storage {
  readonly name: number
}

// Ids for storages of later incarnations: some hundred kilobytes. Beyond it they are not cached.
const MAX_RENEWED = 4096
const UNKEPT = 0
// Names are integers of 32 bits; below those of renewed storages are those of accounts of a state dump.
const LAST_DUMPED = 2 ** 31 - MAX_RENEWED - 1

/** Limits of a cache. */
export interface SlotBounds {
  /** Memory limit; a minimum of some kilobytes is always used. */
  maxBytes: number
  /** Changed slots that are looked up when blocks arrive. With more, the cache is cleared. */
  maxChanges: number
}

/** Storage values in typed arrays, outside the V8 heap, each with the block range it is valid for: from the block that
 *  set it to the block that changes it. So an entry serves calls at all blocks in its range and survives new blocks.
 *
 *  All entries belong to one chain, identified by the hash of its last known block, the horizon. New blocks end the
 *  ranges of the slots they change; if the horizon was replaced by a reorg, the cache is cleared. */
export class SlotCache {
  private readonly reader: SlotReader
  private readonly most: number
  private readonly maxChanges: number
  // Slots used since the young half was last filled are kept longer than the rest, as in `GenerationCache`.
  private young = new Generation(256)
  private old = new Generation(256)
  private readonly renewed = new Map<string, number>()
  private horizon = -1
  private horizonHash: Uint8Array | undefined

  /** Creates an empty cache. */
  constructor(reader: SlotReader, { maxBytes, maxChanges }: SlotBounds) {
    this.reader = reader
    this.maxChanges = maxChanges
    this.most = 256
    while (this.most * 4 * ENTRY_BYTES <= maxBytes) this.most *= 2
  }

  /** Prepares reads at that block, by number and hash, in the currently open snapshot. */
  moveTo(blockNumber: number, hash: Uint8Array, hashOf: (blockNumber: number) => Uint8Array | undefined): void {
    const { horizon, horizonHash } = this
    const known = blockNumber === horizon ? hash : horizon < 0 ? undefined : hashOf(horizon)
    const goesOn = known !== undefined && horizonHash !== undefined && equalBytes(known, horizonHash)
    if (goesOn && blockNumber <= horizon) return
    if (!goesOn || !this.endChanged(blockNumber)) this.clear()
    this.horizon = blockNumber
    this.horizonHash = hash
  }

  /** The storage of an account, for `read`. */
  storageOf({ addressId, incarnation }: Storage): CachedStorage {
    return { addressId, incarnation, name: this.nameOf(addressId, incarnation) }
  }

  /** Copies the value of the slot that the word at `a` names, at a block passed to `moveTo`, to `to` of `into`. */
  read(storage: CachedStorage, blockNumber: number, s: Words, a: number, into: Words, to: number): void {
    const { young, old } = this
    const { name } = storage
    const id = young.keys.find(name, s, a)
    if (id >= 0) {
      if (young.from[id] <= blockNumber && blockNumber < young.until[id]) {
        copyWord(young.values, id * LIMBS, into, to)
        return
      }
    } else {
      const before = old.keys.find(name, s, a)
      if (before >= 0 && old.from[before] <= blockNumber && blockNumber < old.until[before]) {
        copyWord(old.values, before * LIMBS, into, to)
        this.keep(name, s, a, old.from[before], old.until[before], into, to)
        return
      }
    }
    this.load(storage, blockNumber, id, s, a)
    copyWord(this.reader.value, 0, into, to)
  }

  /** Memory used, in bytes. */
  bytes(): number {
    return this.young.bytes() + this.old.bytes()
  }

  /** Reads a value from the database and stores it in the cache. */
  private load(storage: CachedStorage, blockNumber: number, id: number, s: Words, a: number): void {
    const { reader, horizon } = this
    reader.read(storage, s, a, { blockNumber, next: blockNumber < horizon })
    if (storage.name === UNKEPT) return
    // Changes above the horizon are read when the horizon moves.
    const until = reader.until > horizon ? NEVER : reader.until
    if (id < 0) this.keep(storage.name, s, a, reader.from, until, reader.value, 0)
    else this.young.set(id, reader.from, until, reader.value, 0)
  }

  private keep(name: number, s: Words, a: number, from: number, until: number, value: Words, at: number): void {
    if (this.young.keys.count >= this.most) {
      this.old = this.young
      this.young = new Generation(256)
    }
    this.young.set(this.young.add(name, s, a), from, until, value, at)
  }

  /** Ends the validity of slots changed above the horizon. False if that would take longer than clearing the cache. */
  private endChanged(upTo: number): boolean {
    const { young, old, reader, horizon } = this
    const end = ({ addressId, incarnation, blockNumber }: SlotChange) => {
      const name = this.nameOf(addressId, incarnation)
      young.end(name, reader.slot, blockNumber)
      old.end(name, reader.slot, blockNumber)
    }
    const limit = Math.min(this.maxChanges, young.keys.count + old.keys.count)
    return reader.changes({ above: horizon, upTo, limit }, end)
  }

  private nameOf(addressId: number, incarnation: number): number {
    if (addressId < 0) return -addressId > LAST_DUMPED ? UNKEPT : addressId - MAX_RENEWED
    if (incarnation === 0) return addressId
    const key = `${addressId} ${incarnation}`
    const name = this.renewed.get(key)
    if (name !== undefined) return name
    if (this.renewed.size >= MAX_RENEWED) return UNKEPT
    this.renewed.set(key, -1 - this.renewed.size)
    return -this.renewed.size
  }

  private clear(): void {
    this.young = new Generation(256)
    this.old = new Generation(256)
  }
}

// A slot, its storage and two buckets; its value, and two block numbers.
const ENTRY_BYTES = 44 + 40

/** Slots by id, in insertion order. */
class Generation {
  readonly keys: WordTable
  values: Words
  from: Int32Array
  until: Int32Array

  constructor(capacity: number) {
    this.keys = new WordTable(capacity)
    this.values = new Int32Array(capacity * LIMBS)
    this.from = new Int32Array(capacity)
    this.until = new Int32Array(capacity)
  }

  add(name: number, s: Words, a: number): number {
    const id = this.keys.insert(name, s, a)
    if (id < this.from.length) return id
    const capacity = this.from.length * 2
    this.values = enlarged(this.values, capacity * LIMBS)
    this.from = enlarged(this.from, capacity)
    this.until = enlarged(this.until, capacity)
    return id
  }

  set(id: number, from: number, until: number, value: Words, at: number): void {
    this.from[id] = from
    this.until[id] = until
    copyWord(value, at, this.values, id * LIMBS)
  }

  /** Ends the validity of the slot before that block. */
  end(name: number, slot: Words, blockNumber: number): void {
    const id = this.keys.find(name, slot, 0)
    if (id >= 0 && this.until[id] > blockNumber) this.until[id] = blockNumber
  }

  bytes(): number {
    return this.keys.bytes() + this.values.byteLength + this.from.byteLength + this.until.byteLength
  }
}
