import type { AbiParameter } from 'viem'
import type { SeededRandom as Random } from './random.js'

/* Random types of the Solidity ABI and values of them, as viem takes both. */

const ELEMENTARY = [
  'uint256',
  'uint8',
  'uint112',
  'int256',
  'int24',
  'int8',
  'address',
  'bool',
  'bytes',
  'bytes32',
  'bytes4',
  'string',
]

/** A parameter of a random type, at most `depth` levels deep. */
export function randomParameter(random: Random, name: string, depth = 3): AbiParameter {
  const kind = depth === 0 ? 0 : random.below(6)
  if (kind < 4) return { name, type: ELEMENTARY[random.below(ELEMENTARY.length)] }
  if (kind === 4) {
    const item = randomParameter(random, name, depth - 1)
    const length = random.below(2) === 0 ? '' : 1 + random.below(3)
    return { ...item, type: `${item.type}[${length}]` }
  }
  const named = random.below(4) > 0
  const components = Array.from({ length: 1 + random.below(3) }, (_, i) =>
    randomParameter(random, named ? `m${i}` : '', depth - 1),
  )
  return { name, type: 'tuple', components } as AbiParameter
}

/** A value of the type. */
export function randomValue(random: Random, parameter: AbiParameter): unknown {
  const { type } = parameter
  const [, item, length] = /^(.*)\[(\d*)\]$/.exec(type) ?? []
  if (item !== undefined) {
    const count = length === '' ? random.below(4) : Number(length)
    return Array.from({ length: count }, () => randomValue(random, { ...parameter, type: item } as AbiParameter))
  }
  if (type === 'tuple') {
    const { components } = parameter as AbiParameter & { components: readonly AbiParameter[] }
    const values = components.map((component) => randomValue(random, component))
    if (components.some(({ name }) => name === '')) return values
    return Object.fromEntries(values.map((value, i) => [components[i].name, value]))
  }
  return randomElementary(random, type)
}

function randomElementary(random: Random, type: string): unknown {
  const [, word, digits] = /^([a-z]+)(\d*)$/.exec(type)!
  const size = Number(digits)
  if (word === 'uint') return small(bigInteger(random, 1 + random.below(size)), size)
  if (word === 'int') {
    const value = bigInteger(random, 1 + random.below(size - 1))
    const negative = random.below(2) === 0 ? -value : value
    return small(negative, size)
  }
  if (word === 'bool') return random.below(2) === 1
  if (word === 'address') return hexOf(random, 20)
  if (word === 'string') return 'Å Cairn ✓ of some length'.slice(0, random.below(24)) + 'x'.repeat(random.below(40))
  return hexOf(random, digits === '' ? random.below(70) : size)
}

function bigInteger(random: Random, bits: number): bigint {
  return BigInt.asUintN(bits, BigInt(hexOf(random, 32)))
}

/** viem takes numbers for up to 48 bits. */
function small(value: bigint, bits: number): bigint | number {
  return bits <= 48 ? Number(value) : value
}

function hexOf(random: Random, length: number): string {
  return `0x${Array.from({ length }, () => random.below(256).toString(16).padStart(2, '0')).join('')}`
}

/** A value that viem decoded, in the form of Cairn. */
export function asText(value: unknown, parameter: AbiParameter): unknown {
  const { type } = parameter
  const item = /^(.*)\[\d*\]$/.exec(type)?.[1]
  if (item !== undefined)
    return (value as unknown[]).map((one) => asText(one, { ...parameter, type: item } as AbiParameter))
  if (type !== 'tuple') return typeof value === 'bigint' || typeof value === 'number' ? value.toString() : value
  const { components } = parameter as AbiParameter & { components: readonly AbiParameter[] }
  if (Array.isArray(value)) return value.map((one, i) => asText(one, components[i]))
  const members = value as { [name: string]: unknown }
  return Object.fromEntries(components.map((one) => [one.name!, asText(members[one.name!], one)]))
}
