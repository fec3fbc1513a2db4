import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decodeAbiParameters,
  encodeAbiParameters,
  encodeErrorResult,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseAbiItem,
  toEventHash,
  toFunctionSelector,
  type AbiEvent as ViemEvent,
} from 'viem'
import { createDecoder } from '../../../src/decoding/decoder.js'
import { describeInput, describeLog, formatDecodedError } from '../../../src/decoding/formatDecoded.js'
import { createGuesser } from '../../../src/decoding/signatures/guesser.js'
import type { SignatureLookup } from '../../../src/decoding/signatures/lookup.js'
import { concatBytes } from '../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import type { AddedAbi } from '../../../src/store/addedAbis.js'
import { seededRandom } from '../../support/random.js'
import { asText, randomParameter, randomValue } from '../../support/randomAbi.js'

const TOKEN = parseHex('0x5fbdb2315678afecb367f032d93f642f64180aa3')

/** A look-up in a list, by viem's hashes. */
function lookupOf(...texts: string[]): SignatureLookup {
  return (_, selector) => texts.filter((text) => toFunctionSelector(text) === formatData(selector))
}

const word = (value: number) => parseHex(value.toString(16).padStart(64, '0'))

test('guesses random functions as viem encodes them, and not if a byte is missing or follows', () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = seededRandom(seed)
    const inputs = Array.from({ length: 1 + random.below(5) }, (_, i) => randomParameter(random, `a${i}`))
    const args = inputs.map((input) => randomValue(random, input))
    const item = { type: 'function', name: 'f', inputs, outputs: [], stateMutability: 'view' } as const
    const input = parseHex(encodeFunctionData({ abi: [item], functionName: 'f', args }))
    const plain = parseHex(encodeAbiParameters(inputs, args))
    const signature = `f(${inputs.map((each) => canonical(each)).join(',')})`
    const guesser = createGuesser(lookupOf(signature, 'g()'))
    const guess = guesser.guessInput(input)
    assert.deepEqual(guess?.candidates, [signature], `seed ${seed}`)
    assert.deepEqual(
      guess?.decoded?.values,
      decodeAbiParameters(inputs.map(nameless), plain).map((value, i) => asText(value, nameless(inputs[i]))),
      `seed ${seed}`,
    )
    for (const other of [concatBytes(input, new Uint8Array(32)), input.subarray(0, input.length - 32)]) {
      const { candidates, decoded } = guesser.guessInput(other)!
      assert.deepEqual([candidates, decoded], [[signature], undefined], `seed ${seed}`)
    }
  }
})

type Parameter = { type: string; name?: string; components?: readonly Parameter[] }

function canonical({ type, components }: Parameter): string {
  if (components === undefined) return type
  return `(${components.map(canonical).join(',')})${type.slice('tuple'.length)}`
}

/** The parameter as a signature has it: tuples become arrays. */
function nameless<T extends Parameter>(parameter: T): T {
  const { components } = parameter
  return { ...parameter, name: '', ...(components && { components: components.map(nameless) }) }
}

test('of several signatures, the one that decodes the input wins; else all are named', () => {
  // Both have the selector 0xa9059cbb, and so has `many_msg_babbage(bytes1)`.
  const [transfer, other, short] = [
    'transfer(address,uint256)',
    'workMyDirefulOwner(uint256,uint256)',
    'many_msg_babbage(bytes1)',
  ]
  for (const text of [other, short]) assert.equal(toFunctionSelector(text), '0xa9059cbb')
  const guesser = createGuesser(lookupOf(transfer, other, short))
  const input = (...words: number[]) => concatBytes(parseHex('0xa9059cbb'), ...words.map(word))
  const both = guesser.guessInput(input(1, 2))
  assert.deepEqual([both?.candidates, both?.decoded], [[transfer, other], undefined])
  // An address has no bits above 160.
  const large = guesser.guessInput(concatBytes(parseHex('0xa9059cbb'), new Uint8Array(32).fill(255), word(2)))
  assert.equal(large?.decoded?.item.signature, other)
  const one = guesser.guessInput(concatBytes(parseHex('0xa9059cbb'), Uint8Array.of(7), new Uint8Array(31)))
  assert.deepEqual([one?.decoded?.item.signature, one?.decoded?.values], [short, ['0x07']])
  assert.deepEqual(guesser.guessInput(input(1, 2, 3))?.candidates, [transfer, other, short])
  assert.equal(guesser.guessInput(parseHex('0x12345678')), null)
  assert.equal(guesser.guessInput(parseHex('0xa9059c')), null)
})

test('guesses which arguments of an event are indexed', () => {
  const guessed = (declaration: string, args: unknown[], signature: string) => {
    const event = parseAbiItem(declaration as never) as ViemEvent
    const indexed = event.inputs.map((input, i) => (input.indexed ? args[i] : undefined))
    const topics = encodeEventTopics({ abi: [event], args: indexed.filter((each) => each !== undefined) } as never)
    const plain = event.inputs.map((input, i) => ({ input, value: args[i] })).filter(({ input }) => !input.indexed)
    const data = encodeAbiParameters(
      plain.map(({ input }) => input),
      plain.map(({ value }) => value),
    )
    const log = { address: TOKEN, topics: topics.map((topic) => parseHex(topic as Hex)), data: parseHex(data) }
    const guess = createGuesser(lookupOf(signature)).guessLog(log)
    assert.deepEqual(guess?.candidates, [signature])
    return guess?.decoded?.item.inputs.map((input) => input.indexed)
  }
  const owner = formatData(TOKEN)
  const paid = 'Paid(address,uint256,string)'
  assert.deepEqual(guessed('event Paid(address indexed a, uint256 b, string c)', [owner, 5n, 'x'], paid), [
    true,
    false,
    false,
  ])
  // The data has a string, which no word of it decodes as if it were the address.
  assert.deepEqual(guessed('event Paid(address indexed a, uint256 indexed b, string c)', [owner, 5n, 'x'], paid), [
    true,
    true,
    false,
  ])
  assert.deepEqual(guessed('event Paid(address a, uint256 b, string c)', [owner, 5n, 'x'], paid), [false, false, false])
  // Of two addresses either may be indexed: the first is chosen.
  const moved = 'Moved(address,address)'
  assert.deepEqual(guessed('event Moved(address a, address indexed b)', [owner, owner], moved), [true, false])
  const flag = 'Flag(bool,uint256)'
  assert.deepEqual(guessed('event Flag(bool a, uint256 indexed b)', [true, 2n ** 200n], flag), [false, true])
})

test('an event is guessed by its whole topic', () => {
  const topic = parseHex(toEventHash('Ping()'))
  const guesser = createGuesser(lookupOf('Ping()'))
  const guess = (topic0: Uint8Array, data: Uint8Array = new Uint8Array(0)) =>
    guesser.guessLog({ address: TOKEN, topics: [topic0], data })
  assert.equal(guess(topic)?.decoded?.item.name, 'Ping')
  assert.deepEqual(guess(topic, word(1)), { candidates: ['Ping()'], decoded: undefined })
  topic[31] ^= 1
  assert.equal(guess(topic), null)
  assert.equal(guesser.guessLog({ address: TOKEN, topics: [], data: topic }), null)
})

test('what an ABI names is not guessed', () => {
  const abi: AddedAbi = {
    id: 1,
    name: 'x',
    address: undefined,
    json: JSON.stringify(parseAbi(['function pause(uint256 until)', 'error Paused(uint256 until)'])),
    addedAt: 0,
  }
  const lookup = lookupOf('pause(uint256)', 'Paused(uint256)')
  const input = parseHex(encodeFunctionData({ abi: parseAbi(['function pause(uint256)']), args: [7n] }))
  const data = parseHex(encodeErrorResult({ abi: parseAbi(['error Paused(uint256)']), args: [7n] }))
  const errorOf = (decoder: ReturnType<typeof createDecoder>, revert: Uint8Array) =>
    formatDecodedError(decoder.decodeError(revert), decoder.guessError(revert))
  const named = createDecoder([abi], { signatures: lookup })
  const guessing = createDecoder([], { signatures: lookup })
  assert.deepEqual(describeInput(named, { to: TOKEN, input }), {
    name: 'pause',
    signature: 'pause(uint256)',
    args: [{ name: 'until', type: 'uint256', value: '7' }],
  })
  assert.deepEqual(describeInput(guessing, { to: TOKEN, input }), {
    name: 'pause',
    signature: 'pause(uint256)',
    args: [{ name: '', type: 'uint256', value: '7' }],
    isGuess: true,
  })
  assert.deepEqual([errorOf(named, data)?.isGuess, errorOf(named, data)?.reason], [undefined, 'Paused(until: 7)'])
  assert.deepEqual([errorOf(guessing, data)?.isGuess, errorOf(guessing, data)?.reason], [true, 'Paused(7) (guess)'])
  // Malformed for the ABI: the signature of the same selector is no better.
  assert.equal(describeInput(named, { to: TOKEN, input: input.subarray(0, 20) }), null)
  assert.deepEqual(describeInput(guessing, { to: TOKEN, input: input.subarray(0, 20) }), {
    name: null,
    signature: null,
    args: [],
    isGuess: true,
    candidates: ['pause(uint256)'],
  })
})

test('an event whose indexed arguments differ from those of the ABI is guessed', () => {
  const topic0 = parseHex(toEventHash('Transfer(address,address,uint256)'))
  const log = { address: TOKEN, topics: [topic0], data: concatBytes(word(1), word(2), word(3)) }
  const decoder = createDecoder([], { signatures: lookupOf('Transfer(address,address,uint256)') })
  assert.equal(decoder.decodeLog(log), null)
  const described = describeLog(decoder, log)
  assert.deepEqual(
    [described?.isGuess, described?.args.map(({ indexed, value }) => [indexed, value])[2]],
    [true, [false, '3']],
  )
})

test('many signatures with many parameters are tried within bounds', () => {
  const types = Array.from({ length: 60 }, () => 'uint256').join(',')
  const text = `Wide(${types})`
  const topics = [parseHex(toEventHash(text)), word(1), word(2), word(3)]
  const guess = createGuesser(lookupOf(text)).guessLog({ address: TOKEN, topics, data: new Uint8Array(57 * 32) })
  assert.deepEqual(guess?.decoded?.item.inputs.map(({ indexed }) => indexed).slice(0, 4), [true, true, true, false])
  assert.equal(createGuesser(lookupOf(text)).guessLog({ address: TOKEN, topics, data: word(1) })?.decoded, undefined)
})
