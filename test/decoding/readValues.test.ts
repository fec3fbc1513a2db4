import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AbiParameter, decodeAbiParameters, encodeAbiParameters } from 'viem'
import { type AbiFunction, parseAbiJson } from '../../src/decoding/abiItems.js'
import { compileReader, type DecodedValue } from '../../src/decoding/readValues.js'
import { parseHex } from '../../src/lib/hex.js'
import { seededRandom } from '../support/random.js'
import { asText, randomParameter, randomValue } from '../support/randomAbi.js'

/** The reader of a JSON ABI's parameters. */
function readerOf(inputs: readonly AbiParameter[]) {
  const [item] = parseAbiJson([{ type: 'function', name: 'f', inputs }]) as AbiFunction[]
  return compileReader(item.inputs)
}

function viemValues(inputs: readonly AbiParameter[], bytes: Uint8Array): unknown[] {
  const values = decodeAbiParameters(inputs, bytes) as readonly unknown[]
  return values.map((value, i) => asText(value, inputs[i]))
}

/** viem drops zero bytes before a string. */
function withoutZeroBytes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll('\\u0000', ''))
}

function randomCase(seed: number) {
  const random = seededRandom(seed)
  const inputs = Array.from({ length: 1 + random.below(4) }, (_, i) => randomParameter(random, `a${i}`))
  const values = inputs.map((input) => randomValue(random, input))
  return { random, inputs, bytes: parseHex(encodeAbiParameters(inputs, values)) }
}

test('decodes values of random types as viem does', () => {
  for (let seed = 0; seed < 400; seed++) {
    const { inputs, bytes } = randomCase(seed)
    const own = readerOf(inputs)(bytes, 0)
    assert.deepEqual(own, viemValues(inputs, bytes), `seed ${seed}: ${JSON.stringify(inputs)}`)
  }
})

test('decodes damaged data as viem does, or to null', () => {
  let [decoded, refused] = [0, 0]
  for (let seed = 0; seed < 1500; seed++) {
    const { random, inputs, bytes } = randomCase(seed)
    const damaged = bytes.slice(0, random.below(3) === 0 ? random.below(bytes.length) : bytes.length)
    for (let i = random.below(4); i > 0 && damaged.length > 0; i--) {
      damaged[random.below(damaged.length)] = random.below(256)
    }
    const own = readerOf(inputs)(damaged, 0)
    if (own === null) refused++
    else {
      decoded++
      assert.deepEqual(withoutZeroBytes(own), withoutZeroBytes(viemValues(inputs, damaged)), `seed ${seed}`)
    }
  }
  assert.ok(decoded > 100 && refused > 100, `${decoded} decoded, ${refused} refused`)
})

const word = (value: bigint | number) => value.toString(16).padStart(64, '0')
const read = (type: string, ...words: string[]): DecodedValue[] | null =>
  readerOf([{ name: 'a', type }])(parseHex(words.join('')), 0)

test('refuses values that are no strict encoding', () => {
  const refused: [type: string, ...words: string[]][] = [
    ['uint8', word(256)],
    ['int8', word(128)],
    ['int8', `${'f'.repeat(62)}7f`],
    ['bool', word(2)],
    ['address', word(1n << 160n)],
    ['bytes4', word(1)],
    ['uint256', word(1).slice(2)],
    ['string', word(32)],
    ['string', word(32), word(1)],
    ['bytes', word(1n << 64n), word(0)],
    ['bytes', word((1n << 255n) + 32n), word(0)],
    ['uint256[]', word(32), word(2), word(1)],
    ['uint256[]', word(32), word(1n << 32n), word(1)],
    ['uint256[2]', word(1)],
  ]
  for (const [type, ...words] of refused) assert.equal(read(type, ...words), null, `${type} ${words.join(' ')}`)
  assert.deepEqual(read('int8', `${'f'.repeat(62)}80`), ['-128'])
  assert.deepEqual(read('bytes', word(32), word(1), 'ab'), ['0xab'], 'without padding')
  assert.deepEqual(read('uint256', word(7), word(8)), ['7'], 'more than the values')
})

test('reads every byte at most four times, whatever the offsets say', () => {
  const items = 64
  const sharing = (bytes: number) => [
    ...[word(32), word(items), ...Array(items).fill(word(32 * items))],
    ...[word(bytes), 'ff'.repeat(bytes)],
  ]
  assert.deepEqual(read('bytes[]', ...sharing(32)), [Array(items).fill(`0x${'ff'.repeat(32)}`)])
  assert.equal(read('bytes[]', ...sharing(4096)), null)
  const offsets = [word(32), ...Array(200).fill(word(32))] // each offset is also the length of an array of offsets
  assert.equal(read(`uint256${'[]'.repeat(8)}`, ...offsets), null)
})
