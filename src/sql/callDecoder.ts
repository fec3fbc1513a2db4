import type { AbiFunction } from '../decoding/abiItems.js'
import { type Decoder, openDecoder } from '../decoding/decoder.js'
import { createImplementationReader } from '../decoding/proxies.js'
import { type DecodedValue, lowerAddresses } from '../decoding/readValues.js'
import type { DecodeCall } from '../store/sql/callViews.js'
import type { LazyStateConnection } from './stateConnection.js'

/** Creates the decoder of `v_calls`: by the ABIs and signatures of the database, those of a proxy's implementation
 *  included. Addresses are in lower case, integers are decimal text. */
export function createCallDecoder(connection: LazyStateConnection): DecodeCall {
  let decoderOf: (() => Decoder) | undefined
  return (to, input, blockNumber) => {
    if (decoderOf === undefined) {
      const { db, chain, state } = connection.get()
      decoderOf = openDecoder(db, createImplementationReader(chain, state))
    }
    const decoder = decoderOf()
    const decoded = decoder.decodeInput(to, input, blockNumber)
    if (decoded !== null) return { ...nameCall(decoded.decoder.function, decoded.values), isGuess: false }
    const guess = decoder.guessInput(to, input, blockNumber)?.decoded
    return guess === undefined ? null : { ...nameCall(guess.item, guess.values), isGuess: true }
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
