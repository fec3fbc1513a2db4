import { equalBytes, keyOfBytes } from '../lib/bytes.js'
import { formatData } from '../lib/hex.js'
import { type AddedAbi, readAddedAbis } from '../store/addedAbis.js'
import type { Database } from '../store/database.js'
import { readSignatures } from '../store/signatures.js'
import { type AbiError, type AbiEvent, type AbiFunction, type AbiItem, parseAbiJson } from './abiItems.js'
import {
  createErrorDecoder,
  createEventDecoder,
  createFunctionDecoder,
  type ErrorDecoder,
  type EventDecoder,
  type FunctionDecoder,
  type LogParts,
} from './eventDecoder.js'
import { type ImplementationReader, noImplementations } from './proxies.js'
import type { DecodedValue } from './readValues.js'
import { createGuesser, type Guess } from './signatures/guesser.js'
import { createSignatureLookup, noSignatures, type SignatureLookup } from './signatures/lookup.js'
import { wellKnownInterfaces } from './wellKnown.js'

/** A known event, from a built-in interface or an added ABI. */
export interface KnownEvent extends EventDecoder {
  /** `erc20_transfer`: lower-case letters, digits and underscores; unique. */
  readonly id: string
  /** Contract whose logs are decoded, 20 bytes; undefined: any. */
  readonly address: Uint8Array | undefined
  readonly isBuiltIn: boolean
}

/** A decoded log. */
export interface DecodedLog {
  readonly event: KnownEvent
  /** Values in the order of `event.columns`. */
  readonly values: readonly DecodedValue[]
}

/** An ABI that a decoder uses. */
export interface KnownAbi {
  /** Undefined for a built-in interface. */
  readonly added: AddedAbi | undefined
  readonly name: string
  /** The contract it is bound to, 20 bytes; undefined: any contract. */
  readonly address: Uint8Array | undefined
  readonly items: readonly AbiItem[]
}

/** Decodes logs, inputs and revert data with the known ABIs. An ABI of the contract's address takes precedence over one
 *  of its implementation, that over one without an address, and that over built-in ones. Among ABIs of one kind, the
 *  first added one that decodes wins. `blockNumber` is the block after which implementations of proxies are read;
 *  without it they are not. */
export interface Decoder {
  /** All known ABIs: added ones, oldest first, then those built in. */
  readonly abis: readonly KnownAbi[]
  /** Returns the implementations of a proxy after a block; none where the state is not available. */
  readonly implementations: ImplementationReader
  /** All known events, those of added ABIs first. */
  readonly events: readonly KnownEvent[]
  /** Decodes a log. Null for unknown events and malformed logs. Never throws. */
  decodeLog(log: LogParts, blockNumber?: number): DecodedLog | null
  /** Decodes the input of a call. `to` is the called contract, 20 bytes. Null for unknown functions and malformed
   *  input. */
  decodeInput(to: Uint8Array, input: Uint8Array, blockNumber?: number): DecodedInput | null
  /** Decodes revert data. `addresses` are the contracts that may have caused it, the likeliest first: contracts pass on
   *  the errors of their callees. ABIs of other addresses are tried last. Null for unknown errors and malformed
   *  data. */
  decodeError(data: Uint8Array, addresses?: readonly Uint8Array[], blockNumber?: number): DecodedError | null
  /** Guesses by signature files the event of a log that `decodeLog` returns null for. Null if there is no guess. */
  guessLog(log: LogParts): Guess<AbiEvent> | null
  /** Guesses the function of an input. Null if an ABI that applies to `to` names the selector. */
  guessInput(to: Uint8Array, input: Uint8Array, blockNumber?: number): Guess<AbiFunction> | null
  /** The signature of the function that a contract has for a selector of 4 bytes, as `transfer(address,uint256)`: by an
   *  ABI, else by signature files, where it is a guess. Null for an unknown one. */
  nameFunction(to: Uint8Array, selector: Uint8Array, blockNumber?: number): string | null
  /** Guesses the error in revert data. Null if an ABI names the selector. */
  guessError(data: Uint8Array): Guess<AbiError> | null
}

/** The decoded input of a call. */
export interface DecodedInput {
  readonly decoder: FunctionDecoder
  readonly values: readonly DecodedValue[]
}

/** Decoded revert data. */
export interface DecodedError {
  readonly decoder: ErrorDecoder
  readonly values: readonly DecodedValue[]
}

/** What a decoder uses beside ABIs. */
interface DecoderParts {
  readonly signatures?: SignatureLookup
  readonly implementations?: ImplementationReader
}

/** Creates a decoder from the added and built-in ABIs. */
export function createDecoder(
  added: readonly AddedAbi[],
  { signatures = noSignatures, implementations = noImplementations }: DecoderParts = {},
): Decoder {
  const abis: KnownAbi[] = []
  const events: KnownEvent[] = []
  const byAddress = new Map<string, Table>()
  const everywhere = createTable()
  const builtIn = createTable()
  const names = createUniqueNames()
  const addItems = (table: Table, items: readonly AbiItem[], source: Omit<EventSource, 'ids'>) => {
    events.push(...fillTable(table, items, { ...source, ids: names.ids }))
  }
  for (const each of added) {
    const { name, address, json } = each
    const key = address && keyOfBytes(address)
    const table = key === undefined ? everywhere : (byAddress.get(key) ?? createTable())
    if (key !== undefined) byAddress.set(key, table)
    const items = parseAbiJson(JSON.parse(json))
    abis.push({ added: each, name, address, items })
    addItems(table, items, { abi: names.abi(name, address), address, isBuiltIn: false })
  }
  for (const { name, items } of wellKnownInterfaces()) {
    abis.push({ added: undefined, name, address: undefined, items })
    addItems(builtIn, items, { abi: names.abi(name), address: undefined, isBuiltIn: true })
  }
  const general = [everywhere, builtIn]
  /** Tables of the contract, then of its implementation. */
  const boundTo = (address: Uint8Array, blockNumber: number | undefined): readonly Table[] => {
    if (byAddress.size === 0) return NO_TABLES
    const behind = blockNumber === undefined ? [] : implementations(address, blockNumber)
    return [address, ...behind].flatMap((each) => byAddress.get(keyOfBytes(each)) ?? [])
  }
  const guesser = createGuesser(signatures)
  return {
    abis,
    implementations,
    events,
    guessLog: guesser.guessLog,
    guessInput(to, input, blockNumber) {
      const key = keyOfBytes(input.subarray(0, 4))
      return [...boundTo(to, blockNumber), ...general].some(({ functions }) => functions.has(key))
        ? null
        : guesser.guessInput(input)
    },
    nameFunction(to, selector, blockNumber) {
      const key = keyOfBytes(selector)
      const named = firstOf([...boundTo(to, blockNumber), ...general], ({ functions }) => functions.get(key) ?? null)
      return named?.[0].function.signature ?? signatures('function', selector)[0] ?? null
    },
    guessError(data) {
      const key = keyOfBytes(data.subarray(0, 4))
      const isNamed = [...general, ...byAddress.values()].some(({ errors }) => errors.has(key))
      return isNamed ? null : guesser.guessError(data)
    },
    decodeLog(log, blockNumber) {
      const bound = boundTo(log.address, blockNumber)
      const tables = bound.length === 0 ? general : [...bound, ...general]
      const key = log.topics.length === 0 ? undefined : keyOfBytes(log.topics[0])
      const named = key === undefined ? null : firstOf(tables, (table) => decodeAny(table.events.get(key), log))
      return named ?? firstOf(bound, (table) => decodeAny(table.anonymous, log))
    },
    decodeError(data, addresses = [], blockNumber) {
      if (data.length < 4) return null
      const key = keyOfBytes(data.subarray(0, 4))
      const own = addresses.flatMap((address) => boundTo(address, blockNumber))
      return firstOf(new Set([...own, ...general, ...byAddress.values()]), ({ errors }) =>
        firstOf(errors.get(key) ?? [], (decoder) => {
          const values = decoder.decode(data)
          return values && { decoder, values }
        }),
      )
    },
    decodeInput(to, input, blockNumber) {
      if (input.length < 4) return null
      const key = keyOfBytes(input.subarray(0, 4))
      return firstOf([...boundTo(to, blockNumber), ...general], ({ functions }) =>
        firstOf(functions.get(key) ?? [], (decoder) => {
          const values = decoder.decode(input)
          return values && { decoder, values }
        }),
      )
    },
  }
}

/** Returns a getter of the decoder for the ABIs and signatures of a database, which rereads them after a change. */
export function openDecoder(db: Database, implementations?: ImplementationReader): () => Decoder {
  const abis = readAddedAbis(db)
  const signatures = readSignatures(db)
  let version: string | undefined
  let decoder: Decoder | undefined
  return () => {
    const now = `${abis.version()}, ${signatures.version()}`
    if (decoder === undefined || now !== version) {
      decoder = createDecoder(abis.list(), { signatures: createSignatureLookup(signatures), implementations })
      version = now
    }
    return decoder
  }
}

/** Decoders by the key of topic0 or selector; several for overloads that differ in indexed parameters. */
interface Table {
  readonly events: Map<string, KnownEvent[]>
  /** Tried last, and only for the ABI of an address: any log of matching length would decode. */
  readonly anonymous: KnownEvent[]
  readonly functions: Map<string, FunctionDecoder[]>
  readonly errors: Map<string, ErrorDecoder[]>
}

const NO_TABLES: readonly Table[] = []

function createTable(): Table {
  return { events: new Map(), anonymous: [], functions: new Map(), errors: new Map() }
}

interface EventSource extends Pick<KnownEvent, 'address' | 'isBuiltIn'> {
  readonly abi: string
  readonly ids: (abi: string, event: string) => string
}

/** Adds the items to the table. Returns the new events. */
function fillTable(
  table: Table,
  items: readonly AbiItem[],
  { abi, ids, address, isBuiltIn }: EventSource,
): KnownEvent[] {
  const events: KnownEvent[] = []
  for (const item of items) {
    if (item.type === 'function') {
      const decoder = createFunctionDecoder(item)
      append(table.functions, keyOfBytes(decoder.selector), decoder)
      continue
    }
    if (item.type === 'error') {
      const decoder = createErrorDecoder(item)
      append(table.errors, keyOfBytes(decoder.selector), decoder)
      continue
    }
    if (events.some((other) => isSameEvent(other, item))) continue
    const event = { ...createEventDecoder(item), id: ids(abi, item.name), address, isBuiltIn }
    events.push(event)
    if (event.topic0 === undefined) table.anonymous.push(event)
    else append(table.events, keyOfBytes(event.topic0), event)
  }
  return events
}

function isSameEvent({ event }: KnownEvent, item: AbiItem): boolean {
  if (item.type !== 'event' || event.signature !== item.signature || event.anonymous !== item.anonymous) return false
  return event.inputs.every(({ indexed }, i) => indexed === item.inputs[i].indexed)
}

function append<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

function decodeAny(events: readonly KnownEvent[] | undefined, { topics, data }: LogParts): DecodedLog | null {
  return firstOf(events ?? [], (event) => {
    const values = event.decode(topics, data)
    return values && { event, values }
  })
}

/** Returns the first result that is not null. */
function firstOf<T, R>(items: Iterable<T>, work: (item: T) => R | null): R | null {
  for (const item of items) {
    const result = work(item)
    if (result !== null) return result
  }
  return null
}

/** Creates names that are unique in a decoder: a second ABI of the same name gets 8 digits of its address as suffix,
 *  anything else a number. */
function createUniqueNames() {
  const taken = new Set<string>()
  const unique = (wanted: string) => {
    let name = wanted
    for (let i = 2; taken.has(name); i++) name = `${wanted}_${i}`
    taken.add(name)
    return name
  }
  return {
    abi(name: string, address?: Uint8Array): string {
      const plain = `${plainName(name)}.` // the dot separates names of ABIs from ids of events
      const wanted = taken.has(plain) && address ? `${plainName(name)}_${formatData(address).slice(2, 10)}.` : plain
      return unique(wanted).replace('.', '')
    },
    ids: (abi: string, event: string) => unique(`${abi}_${plainName(event)}`),
  }
}

function plainName(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, '_').toLowerCase()
}

/** Returns true if the contract at `address` may emit the event. */
export function mayEmit(event: KnownEvent, address: Uint8Array): boolean {
  return event.address === undefined || equalBytes(event.address, address)
}
