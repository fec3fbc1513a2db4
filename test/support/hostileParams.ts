import type { JsonSchema } from '../../src/rpc/core/method.js'
import type { SeededRandom } from './random.js'

/** Values that decoders have stumbled over, in all servers. */
const HOSTILE: readonly unknown[] = [
  ...[null, true, false, 0, -0, 1, -1, 0.5, 1e308, -1e308, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 - 1, 2 ** 64, -(2 ** 63)],
  ...[
    '',
    ' ',
    '0x',
    '0X0',
    '0x0',
    '0x00',
    '0x-1',
    '0xg',
    '-0x1',
    '1',
    '01',
    '1e3',
    '٣',
    '\u0000',
    '\ud800',
    '\uffff',
    '💥',
  ],
  ...[
    'latest',
    'Latest',
    'pending',
    'earliest',
    'safe',
    'finalized',
    'NaN',
    'Infinity',
    'null',
    '__proto__',
    'constructor',
  ],
  ...['0x1fffffffffffff', '0x20000000000000', '0xffffffffffffffff', '0x10000000000000000', `0x${'f'.repeat(64)}`],
  ...[`0x1${'0'.repeat(64)}`, `0x${'ab'.repeat(50_000)}`, 'x'.repeat(100_000), '9'.repeat(400)],
  ...[
    [],
    [[]],
    [null],
    {},
    { '': '' },
    { constructor: 1 },
    { toString: 1, valueOf: null },
    { length: -1 },
    JSON.parse('{"then":"x"}'),
  ],
  ...[JSON.parse('{"__proto__":{"to":"0x1"}}'), Array.from({ length: 3_000 }, () => '0x0'), nest(200)],
]

function nest(depth: number): unknown {
  let value: unknown = '0x1'
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { a: value }
  return value
}

/** Random parameters by their schemas: valid ones of a chain, which `known` has, and hostile ones in every place. */
export class HostileParams {
  private readonly random: SeededRandom
  private readonly known: readonly unknown[]

  constructor(random: SeededRandom, known: readonly unknown[]) {
    this.random = random
    this.known = known
  }

  /** Parameters for a method, by position or by name, at times too few or too many. */
  of(params: readonly { name: string; required: boolean; schema: JsonSchema }[]): unknown {
    if (this.oneIn(40)) return this.pick(HOSTILE)
    const count = this.oneIn(8) ? this.random.below(params.length + 3) : params.length
    const values = Array.from({ length: count }, (_, i) => this.value(params[i]?.schema ?? {}, 0))
    if (!this.oneIn(6)) return values
    return Object.fromEntries(values.map((value, i) => [params[i]?.name ?? `more${i}`, value]))
  }

  private value(schema: JsonSchema, depth: number): unknown {
    if (this.oneIn(8) || depth > 6) return this.pick(HOSTILE)
    if (this.oneIn(10)) return this.pick(this.known)
    const { oneOf, anyOf, type, enum: words, properties, items, additionalProperties } = schema as Members
    const choices = oneOf ?? anyOf
    if (choices !== undefined) return this.value(this.pick(choices), depth + 1)
    if (words !== undefined) return this.pick(words)
    if (type === 'boolean') return this.oneIn(2)
    if (type === 'integer' || type === 'number') return this.pick([0, 1, 3, 50, 257, 2 ** 32])
    if (type === 'array') return Array.from({ length: this.random.below(4) }, () => this.value(items ?? {}, depth + 1))
    if (type === 'object') return this.object(properties ?? {}, additionalProperties, depth)
    return type === 'string' ? this.text(schema) : this.pick(this.known)
  }

  private object(properties: { [name: string]: JsonSchema }, others: unknown, depth: number): object {
    const members = Object.entries(properties).filter(() => this.oneIn(3))
    const made = members.map(([name, each]) => [name, this.value(each, depth + 1)] as const)
    if (typeof others === 'object' && others !== null) {
      made.push([String(this.pick(this.known)), this.value(others as JsonSchema, depth + 1)])
    }
    return Object.fromEntries(made)
  }

  /** Text of the schema's length, or a known value that has it. */
  private text({ pattern = '' }: { pattern?: string }): unknown {
    const length = Number(/\{(\d+)\}/.exec(pattern)?.[1] ?? 0)
    const fitting = this.known.filter((each) => typeof each === 'string' && each.length === length + 2)
    if (length > 0 && fitting.length > 0 && !this.oneIn(8)) return this.pick(fitting)
    if (length > 0) return `0x${Buffer.from(this.random.bytes(length / 2)).toString('hex')}`
    return this.oneIn(2) ? `0x${this.random.below(60).toString(16)}` : this.pick(this.known)
  }

  private pick<T>(values: readonly T[]): T {
    return values[this.random.below(values.length)]
  }

  private oneIn(n: number): boolean {
    return this.random.below(n) === 0
  }
}

interface Members {
  oneOf?: JsonSchema[]
  anyOf?: JsonSchema[]
  type?: unknown
  enum?: unknown[]
  properties?: { [name: string]: JsonSchema }
  items?: JsonSchema
  additionalProperties?: unknown
}
