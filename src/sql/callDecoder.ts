import type { AbiFunction } from '../decoding/abiItems.js'
import { type DecodedValue, lowerAddresses } from '../decoding/readValues.js'
import { keyOfBytes } from '../lib/bytes.js'
import type { CallDecoding } from '../store/sql/callViews.js'
import type { LazyChainConnection } from './chainConnection.js'

// In a few megabytes.
const MAX_NAMES = 20_000

/** Creates the decoder of calls in views. Addresses are in lower case, integers are decimal text. */
export function createCallDecoder(connection: LazyChainConnection): Pick<CallDecoding, 'decodeCall' | 'nameMethod'> {
  const names = new Map<string, string | null>()
  return {
    decodeCall: (to, input, blockNumber) => {
      const decoder = connection.get().decoder()
      const decoded = decoder.decodeInput(to, input, blockNumber)
      if (decoded !== null) return { ...nameCall(decoded.decoder.function, decoded.values), isGuess: false }
      const guess = decoder.guessInput(to, input, blockNumber)?.decoded
      return guess === undefined ? null : { ...nameCall(guess.item, guess.values), isGuess: true }
    },
    nameMethod: (selector, to) => {
      const key = keyOfBytes(selector) + keyOfBytes(to)
      let name = names.get(key)
      if (name === undefined) {
        name = connection.get().decoder().nameFunction(to, selector)
        if (names.size === MAX_NAMES) names.clear()
        names.set(key, name)
      }
      return name
    },
  }
}

function nameCall({ name, signature, inputs }: AbiFunction, values: readonly DecodedValue[]) {
  const named = new Map<string, DecodedValue>()
  for (const [i, input] of inputs.entries()) {
    let unique = input.name === '' ? `arg${i}` : input.name
    while (named.has(unique)) unique += '_'
    named.set(unique, lowerAddresses(input.type, values[i]))
  }
  return { method: name, signature, arguments: JSON.stringify(Object.fromEntries(named)) }
}
