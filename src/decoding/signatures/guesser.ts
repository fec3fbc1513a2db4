import { equalBytes } from '../../lib/bytes.js'
import { createGenerationCache } from '../../lib/generationCache.js'
import { type AbiError, type AbiEvent, type AbiFunction, hashSignature } from '../abiItems.js'
import {
  createErrorDecoder,
  createEventDecoder,
  createFunctionDecoder,
  type EventDecoder,
  type LogParts,
} from '../eventDecoder.js'
import type { DecodedValue } from '../readValues.js'
import type { SignatureLookup } from './lookup.js'
import { type ParsedSignature, parseSignatureText } from './signatureText.js'

/** What a selector or topic may be, by signatures without an ABI. Parameters have no names. */
export interface Guess<Item extends AbiFunction | AbiError | AbiEvent> {
  /** The signatures that decode the data without a rest; if none does, all that are known; at least one. */
  readonly candidates: readonly string[]
  /** Present if exactly one signature decodes the data without a rest. */
  readonly decoded?: { readonly item: Item; readonly values: readonly DecodedValue[] }
}

/** Guesses what no ABI names. Null for selectors and topics without a known signature. Never throws. */
export interface Guesser {
  /** `input` begins with the selector. */
  guessInput(input: Uint8Array): Guess<AbiFunction> | null
  /** `data` begins with the selector. */
  guessError(data: Uint8Array): Guess<AbiError> | null
  /** A signature does not say which arguments are indexed: of the choices that decode the log, the one that indexes the
   *  first arguments wins. */
  guessLog(log: LogParts): Guess<AbiEvent> | null
}

const EXACT = { isExact: true }
/** Choices of indexed arguments that are tried. */
const MAX_CHOICES = 64
const MAX_CANDIDATES = 16

// Compiled events, so that each of some thousand logs of one event costs no compilation.
const CACHE_BYTES = 4_194_304
const BYTES_PER_CHARACTER = 50 // of a signature: its reader and columns

/** Creates a guesser of the signatures that `lookup` returns. */
export function createGuesser(lookup: SignatureLookup): Guesser {
  const compiled = createGenerationCache<string, EventDecoder[]>({
    maxBytes: CACHE_BYTES,
    sizeOf: (key, choices) => key.length + choices.length * key.length * BYTES_PER_CHARACTER,
  })
  const guess = <Item extends AbiFunction | AbiError | AbiEvent>(
    texts: readonly string[],
    decode: (signature: ParsedSignature, text: string) => Guess<Item>['decoded'],
  ): Guess<Item> | null => {
    const signatures = texts.flatMap((text) => {
      const parsed = parseSignatureText(text)
      return parsed === undefined ? [] : [{ text, decoded: decode(parsed, text) }]
    })
    if (signatures.length === 0) return null
    const fitting = signatures.filter(({ decoded }) => decoded !== undefined)
    const named = fitting.length === 0 ? signatures : fitting
    const candidates = named.slice(0, MAX_CANDIDATES).map(({ text }) => text)
    return { candidates, decoded: fitting.length === 1 ? fitting[0].decoded : undefined }
  }
  return {
    guessInput(input) {
      if (input.length < 4) return null
      return guess<AbiFunction>(lookup('function', input.subarray(0, 4)), ({ name, inputs }, signature) => {
        const item: AbiFunction = { type: 'function', name, inputs, signature }
        return decodedOf(item, createFunctionDecoder(item, EXACT).decode(input))
      })
    },
    guessError(data) {
      if (data.length < 4) return null
      return guess<AbiError>(lookup('function', data.subarray(0, 4)), ({ name, inputs }, signature) => {
        const item: AbiError = { type: 'error', name, inputs, signature }
        return decodedOf(item, createErrorDecoder(item, EXACT).decode(data))
      })
    },
    guessLog({ topics, data }) {
      if (topics.length === 0) return null
      const texts = lookup('event', topics[0].subarray(0, 4)).filter((text) =>
        equalBytes(hashSignature(text), topics[0]),
      )
      return guess<AbiEvent>(texts, (signature, text) => {
        const key = `${topics.length} ${text}`
        let choices = compiled.get(key)
        if (choices === undefined) {
          choices = [...eventChoices(signature, text, topics.length - 1)]
          compiled.set(key, choices)
        }
        for (const { event, decode } of choices) {
          const decoded = decodedOf(event, decode(topics, data))
          if (decoded !== undefined) return decoded
        }
        return undefined
      })
    },
  }
}

function decodedOf<Item>(item: Item, values: readonly DecodedValue[] | null) {
  return values === null ? undefined : { item, values }
}

/** Yields decoders of the event with `count` indexed parameters, those that index the first parameters first. */
function* eventChoices({ name, inputs }: ParsedSignature, signature: string, count: number): Generator<EventDecoder> {
  let tried = 0
  for (const indexed of combinations(inputs.length, count)) {
    if (tried++ === MAX_CHOICES) return
    const withIndexed = inputs.map((input, i) => ({ ...input, indexed: indexed.includes(i) }))
    yield createEventDecoder({ type: 'event', name, inputs: withIndexed, anonymous: false, signature }, EXACT)
  }
}

/** Yields the subsets of `count` numbers below `size`, in lexicographic order. */
function* combinations(size: number, count: number, from = 0): Generator<number[]> {
  if (count === 0) yield []
  else {
    for (let first = from; first + count <= size; first++) {
      for (const rest of combinations(size, count - 1, first + 1)) yield [first, ...rest]
    }
  }
}
