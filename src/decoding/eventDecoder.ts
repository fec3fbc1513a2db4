import { type AbiError, type AbiEvent, type AbiFunction, type EventParameter, hashSignature } from './abiItems.js'
import { type AbiType, formatType } from './abiTypes.js'
import { compileReader, type DecodedValue, type ValuesReader } from './readValues.js'

/** The parts of a log that are decoded. Topics have 32 bytes, `data` is complete. */
export interface LogParts {
  readonly address: Uint8Array // 20
  readonly topics: readonly Uint8Array[]
  readonly data: Uint8Array
}

/** Kind of an argument in a table: `uint` and `int` decimal text, `address` with checksum, `bytes` hex DATA, `string`
 *  text, and `json` for arrays and tuples. */
type ColumnKind = 'uint' | 'int' | 'address' | 'bool' | 'bytes' | 'string' | 'json'

/** The column of an event's argument. */
export interface EventColumn {
  /** The argument's name, or `arg0` for an unnamed first one; unique in the event, ignoring case, and different from
   *  `EVENT_COLUMNS`. */
  readonly name: string
  readonly kind: ColumnKind
  /** Bits of integers. */
  readonly bits?: number
  /** The type of the ABI. An indexed string, bytes, array or tuple is of kind `bytes`: the log has only its 32-byte
   *  hash. */
  readonly type: string
  readonly indexed: boolean
}

/** Columns of every table of events, before those of the arguments. */
const EVENT_COLUMNS = ['block_number', 'transaction_hash', 'log_index', 'address'] as const

/** An event compiled for decoding. */
export interface EventDecoder {
  readonly event: AbiEvent
  /** Undefined if the event is anonymous. 32 bytes. */
  readonly topic0: Uint8Array | undefined
  /** Topics of its logs, topic0 included. */
  readonly topicCount: number
  readonly columns: readonly EventColumn[]
  /** Returns the arguments in the order of the event. Null if topics and data do not encode this event; never
   *  throws. */
  decode(topics: readonly Uint8Array[], data: Uint8Array): DecodedValue[] | null
}

/** A function compiled for decoding. */
export interface FunctionDecoder {
  readonly function: AbiFunction
  readonly selector: Uint8Array // 4
  /** Returns the arguments. Null if the input does not encode a call of this function; never throws. */
  decode(input: Uint8Array): DecodedValue[] | null
}

/** A custom error compiled for decoding. */
export interface ErrorDecoder {
  readonly error: AbiError
  readonly selector: Uint8Array // 4
  /** Returns the arguments. Null if the revert data do not encode this error; never throws. */
  decode(data: Uint8Array): DecodedValue[] | null
}

/** Larger data is not decoded: its values as text would be several times its size. */
const MAX_DECODED_BYTES = 1_048_576

/** `isExact`: bytes after the last value are malformed. */
interface DecoderOptions {
  readonly isExact?: boolean
}

/** Creates a decoder of an event's logs. */
export function createEventDecoder(event: AbiEvent, options: DecoderOptions = {}): EventDecoder {
  const { inputs, anonymous } = event
  const topic0 = anonymous ? undefined : hashSignature(event.signature)
  const firstTopic = anonymous ? 0 : 1
  const readData = compileReader(
    inputs.filter(({ indexed }) => !indexed),
    options,
  )
  const topicReaders = inputs.filter(({ indexed }) => indexed).map(({ type }) => compileTopicReader(type))
  const topicCount = firstTopic + topicReaders.length
  return {
    event,
    topic0,
    topicCount,
    columns: nameColumns(inputs),
    decode(topics, data) {
      if (topics.length !== topicCount || data.length > MAX_DECODED_BYTES) return null
      const values = readData(data, 0)
      if (values === null || topicReaders.length === 0) return values
      const indexedValues: DecodedValue[] = []
      for (const [i, read] of topicReaders.entries()) {
        const value = read(topics[firstTopic + i], 0)
        if (value === null) return null
        indexedValues.push(value[0])
      }
      let [nextIndexed, nextValue] = [0, 0]
      return inputs.map(({ indexed }) => (indexed ? indexedValues[nextIndexed++] : values[nextValue++]))
    },
  }
}

/** Creates a decoder of a function's input. */
export function createFunctionDecoder(abiFunction: AbiFunction, options: DecoderOptions = {}): FunctionDecoder {
  const read = compileReader(abiFunction.inputs, options)
  const selector = hashSignature(abiFunction.signature).subarray(0, 4)
  return {
    function: abiFunction,
    selector,
    decode: (input) => (input.length > MAX_DECODED_BYTES ? null : read(input.subarray(4), 0)),
  }
}

/** Creates a decoder of an error's revert data. */
export function createErrorDecoder(error: AbiError, options: DecoderOptions = {}): ErrorDecoder {
  const read = compileReader(error.inputs, options)
  const selector = hashSignature(error.signature).subarray(0, 4)
  return { error, selector, decode: (data) => (data.length > MAX_DECODED_BYTES ? null : read(data, 4)) }
}

const HASH: AbiType = { kind: 'fixedBytes', size: 32 }

function compileTopicReader(type: AbiType): ValuesReader {
  return compileReader([{ name: '', type: isHashed(type) ? HASH : type }])
}

/** Returns true if a topic has only the hash of such a value. */
function isHashed({ kind }: AbiType): boolean {
  return kind === 'string' || kind === 'bytes' || kind === 'array' || kind === 'tuple'
}

function nameColumns(inputs: readonly EventParameter[]): EventColumn[] {
  const taken = new Set<string>(EVENT_COLUMNS)
  return inputs.map(({ name, type, indexed }, i) => {
    let unique = name === '' ? `arg${i}` : name
    while (taken.has(unique.toLowerCase())) unique += '_'
    taken.add(unique.toLowerCase())
    return { name: unique, ...kindOf(indexed && isHashed(type) ? HASH : type), type: formatType(type), indexed }
  })
}

function kindOf(type: AbiType): Pick<EventColumn, 'kind' | 'bits'> {
  switch (type.kind) {
    case 'uint':
    case 'int':
      return { kind: type.kind, bits: type.bits }
    case 'fixedBytes':
      return { kind: 'bytes' }
    case 'array':
    case 'tuple':
      return { kind: 'json' }
    default:
      return { kind: type.kind }
  }
}
