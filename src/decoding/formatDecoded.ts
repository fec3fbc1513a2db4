import { describePanic } from '../chain/eth/panicCodes.js'
import type { AbiError, AbiEvent, AbiFunction } from './abiItems.js'
import { formatType } from './abiTypes.js'
import type { DecodedError, DecodedInput, DecodedLog, Decoder } from './decoder.js'
import type { LogParts } from './eventDecoder.js'
import { type DecodedValue, lowerAddresses } from './readValues.js'
import type { Guess } from './signatures/guesser.js'

/** What every decoded item has as JSON. */
interface DecodedItemJson<Argument> {
  /** Null, like `signature`, for a guess of several signatures; `args` is empty then. */
  readonly name: string | null
  readonly signature: string | null
  readonly args: readonly Argument[]
  /** True for a guess by a signature file, whose arguments have no names. Absent for an item of an ABI. */
  readonly isGuess?: true
  /** The signatures of a guess, if no single one decodes the data. */
  readonly candidates?: readonly string[]
}

/** A decoded log as JSON. */
export type DecodedLogJson = DecodedItemJson<{ name: string; type: string; indexed: boolean; value: DecodedValue }>

/** A decoded call as JSON. */
export type DecodedCallJson = DecodedItemJson<{ name: string; type: string; value: DecodedValue }>

/** Decoded revert data as JSON. */
export type DecodedErrorJson = DecodedCallJson & {
  /** The error as one line. */
  readonly reason: string
}

/** Decodes or guesses a log of a block, as JSON; null for unknown events and malformed logs. */
export function describeLog(decoder: Decoder, log: LogParts, blockNumber?: number): DecodedLogJson | null {
  return formatDecodedLog(decoder.decodeLog(log, blockNumber)) ?? formatGuess(decoder.guessLog(log), formatEvent)
}

/** Decodes or guesses the input of a call to a contract in a block, as JSON; null for unknown functions and malformed
 *  input. */
export function describeInput(
  decoder: Decoder,
  call: { readonly to: Uint8Array; readonly input: Uint8Array },
  blockNumber?: number,
): DecodedCallJson | null {
  const { to, input } = call
  const decoded = formatDecodedCall(decoder.decodeInput(to, input, blockNumber))
  return decoded ?? formatGuess(decoder.guessInput(to, input, blockNumber), formatItem)
}

/** Formats a decoded log as JSON; null for null. */
export function formatDecodedLog(decoded: DecodedLog | null): DecodedLogJson | null {
  return decoded === null ? null : formatEvent(decoded.event.event, decoded.values)
}

/** Formats a decoded call as JSON; null for null. */
export function formatDecodedCall(decoded: DecodedInput | null): DecodedCallJson | null {
  return decoded === null ? null : formatItem(decoded.decoder.function, decoded.values)
}

/** Formats a decoded error, else the guess, as JSON; null if both are. */
export function formatDecodedError(
  decoded: DecodedError | null,
  guess: Guess<AbiError> | null,
): DecodedErrorJson | null {
  if (decoded !== null) {
    return { ...formatItem(decoded.decoder.error, decoded.values), reason: describeDecodedError(decoded) }
  }
  return guess && { ...formatGuess(guess, formatItem)!, reason: describeGuessedError(guess) }
}

function formatEvent({ name, signature, inputs }: AbiEvent, values: readonly DecodedValue[]) {
  const args = inputs.map((input, i) => {
    return { name: input.name, type: formatType(input.type), indexed: input.indexed, value: values[i] }
  })
  return { name, signature, args }
}

function formatItem({ name, signature, inputs }: AbiFunction | AbiError, values: readonly DecodedValue[]) {
  const args = inputs.map((input, i) => ({ name: input.name, type: formatType(input.type), value: values[i] }))
  return { name, signature, args }
}

function formatGuess<Item extends AbiFunction | AbiError | AbiEvent, Argument>(
  guess: Guess<Item> | null,
  format: (item: Item, values: readonly DecodedValue[]) => DecodedItemJson<Argument>,
): DecodedItemJson<Argument> | null {
  if (guess === null) return null
  const { candidates, decoded } = guess
  if (decoded !== undefined) return { ...format(decoded.item, decoded.values), isGuess: true }
  return { name: null, signature: null, args: [], isGuess: true, candidates }
}

/** How addresses are written in a line: with EIP-55 checksum, or in lower case as everywhere in SQL. */
interface LineOptions {
  readonly lowerCase?: boolean
}

/** Longer reasons are truncated; the arguments have the whole text. */
const MAX_REASON_CHARACTERS = 4096

/** Formats an error as one line: the text of `Error(string)`, the meaning of `Panic(uint256)`, else the name and the
 *  arguments: `NAME(argument: value, …)`. */
export function describeDecodedError({ decoder, values }: DecodedError, options: LineOptions = {}): string {
  return truncate(describeWhole(decoder.error, values, options))
}

/** Formats a guess as one line: `NAME(value, …) (guess)`, or `SIGNATURE or SIGNATURE (guess)`. */
export function describeGuessedError({ candidates, decoded }: Guess<AbiError>, options: LineOptions = {}): string {
  const text = decoded ? describeWhole(decoded.item, decoded.values, options) : candidates.join(' or ')
  return `${truncate(text)} (guess)`
}

function truncate(text: string): string {
  return text.length > MAX_REASON_CHARACTERS ? `${text.slice(0, MAX_REASON_CHARACTERS)}…` : text
}

function describeWhole(
  { name, signature, inputs }: AbiError,
  values: readonly DecodedValue[],
  { lowerCase = false }: LineOptions,
): string {
  if (signature === 'Error(string)') return String(values[0])
  if (signature === 'Panic(uint256)') return describePanic(BigInt(String(values[0])))
  const args = values.map((each, i) => {
    const value = lowerCase ? lowerAddresses(inputs[i].type, each) : each
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return inputs[i].name === '' ? text : `${inputs[i].name}: ${text}`
  })
  return `${name}(${args.join(', ')})`
}
