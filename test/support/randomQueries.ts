import { LAKE_VIEWS, type LakeView } from '../../src/store/sql/lakeViews.js'
import type { SeededRandom } from './random.js'

/* Random statements over the views. Many mix types in ways that the engines treat differently. */

/** Values of the columns, by `view.column`, as literals of SQL. */
export type Samples = ReadonlyMap<string, readonly string[]>

/** Returns a statement. */
export function randomQuery(random: SeededRandom, samples: Samples): string {
  const view = LAKE_VIEWS[random.below(LAKE_VIEWS.length)]
  const source = new Source(random, view, samples)
  const shape = random.below(10)
  if (shape < 3) return source.rows()
  if (shape < 7) return source.groups()
  if (shape < 8) return source.compound()
  return shape < 9 ? source.joined() : source.windowed()
}

class Source {
  readonly #random: SeededRandom
  readonly #view: LakeView
  readonly #samples: Samples

  constructor(random: SeededRandom, view: LakeView, samples: Samples) {
    this.#random = random
    this.#view = view
    this.#samples = samples
  }

  rows(): string {
    const count = 1 + this.#random.below(4)
    const selected = Array.from({ length: count }, () => this.#expression(2))
    const distinct = this.#random.below(3) === 0 ? 'DISTINCT ' : ''
    const order = Array.from({ length: count }, (_, i) => `${i + 1}${this.#pick(['', ' DESC', ' NULLS LAST'])}`)
    const limit = this.#pick(['', ' LIMIT 10', ' LIMIT 7 OFFSET 3'])
    return `SELECT ${distinct}${selected.join(', ')} FROM ${this.#view.name}${this.#where()} ORDER BY ${order.join(', ')}${limit}`
  }

  groups(): string {
    const keys = Array.from({ length: this.#random.below(3) }, () => this.#expression(1))
    const aggregates = Array.from({ length: 1 + this.#random.below(3) }, () => this.#aggregate())
    const selected = [...keys, ...aggregates]
    const group = keys.length === 0 ? '' : ` GROUP BY ${keys.map((_, i) => i + 1).join(', ')}`
    const having =
      keys.length > 0 && this.#random.below(3) === 0 ? ` HAVING ${this.#aggregate()} > ${this.#random.below(9)}` : ''
    return `SELECT ${selected.join(', ')} FROM ${this.#view.name}${this.#where()}${group}${having} ORDER BY ${selected.map((_, i) => i + 1).join(', ')}`
  }

  compound(): string {
    const word = this.#pick(['UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT'])
    const part = () => `SELECT ${this.#expression(1)} FROM ${this.#view.name}${this.#where()}`
    return `WITH x(a) AS (${part()} ${word} ${part()}) SELECT a, count(*) FROM x GROUP BY a ORDER BY a, 2`
  }

  joined(): string {
    const word = this.#pick(['JOIN', 'LEFT JOIN'])
    const { name, block, columns } = this.#view
    const column = this.#pick(columns).name
    return `SELECT b.timestamp / 60, count(*), count(DISTINCT v."${column}"), min(v."${column}") FROM v_blocks b
      ${word} ${name} v ON v.${block} = b.number WHERE b.number % ${2 + this.#random.below(5)} = 0 GROUP BY 1 ORDER BY 1, 2, 3, 4`
  }

  windowed(): string {
    const { name, block } = this.#view
    const call = this.#pick([
      'row_number()',
      'rank()',
      `count("${this.#column()}")`,
      `max("${this.#column()}")`,
      'sum(n)',
    ])
    return `SELECT ${block}, ${call} OVER (PARTITION BY ${block} % 7 ORDER BY ${block}) FROM
      (SELECT *, ${block} AS n FROM ${name} WHERE ${block} IN (SELECT number FROM v_blocks WHERE gas_used > 0)) ORDER BY 1, 2`
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#random.below(choices.length)]
  }

  #where(): string {
    const first = this.#random.below(4) === 0 ? '' : this.#condition()
    if (first === '') return ''
    const second = this.#random.below(3)
    if (second === 0) return ` WHERE ${first} AND ${this.#condition()}`
    return second === 1 ? ` WHERE NOT (${first} OR ${this.#condition()})` : ` WHERE ${first}`
  }

  #condition(): string {
    const column = this.#column()
    const value = () => this.#pick(this.#samples.get(`${this.#view.name}.${column}`)!)
    const odd = () => (this.#random.below(8) === 0 ? this.#literal() : value())
    switch (this.#random.below(8)) {
      case 0:
        return `"${column}" ${this.#pick(['=', '<>', '<', '>', '<=', '>='])} ${odd()}`
      case 1:
        return `"${column}" BETWEEN ${odd()} AND ${value()}`
      case 2:
        return `"${column}" ${this.#pick(['', 'NOT '])}IN (${odd()}, ${value()}, ${value()})`
      case 3:
        return `"${column}" IS ${this.#pick(['', 'NOT '])}NULL`
      case 4:
        return `"${column}" ${this.#pick(['', 'NOT '])}LIKE '${this.#pick(['0x%', '0X_1%', '%A%', '1%'])}'`
      case 5:
        return `${this.#expression(1)} > ${this.#expression(1)}`
      case 6:
        return `${this.#view.block} ${this.#pick(['<', '>'])} ${this.#random.below(400)}`
      default:
        return `length("${column}") % 3 = ${this.#random.below(3)}`
    }
  }

  #aggregate(): string {
    const inner = this.#expression(1)
    return this.#pick([
      'count(*)',
      `count(${inner})`,
      `count(DISTINCT ${inner})`,
      `sum(${inner})`,
      `avg(${inner})`,
      `min(${inner})`,
      `max(${inner})`,
      `sum(${inner}) / count(*)`,
      `sum(CASE WHEN ${this.#condition()} THEN 1 ELSE 0 END)`,
      `count(*) FILTER (WHERE ${this.#condition()})`,
    ])
  }

  #expression(depth: number): string {
    if (depth === 0) return this.#random.below(4) === 0 ? this.#literal() : `"${this.#column()}"`
    const a = () => this.#expression(depth - 1)
    switch (this.#random.below(16)) {
      case 0:
        return `(${a()} ${this.#pick(['+', '-', '*', '/', '%'])} ${a()})`
      case 1:
        return `(${a()} || ${a()})`
      case 2:
        return `CAST(${a()} AS ${this.#pick(['REAL', 'INTEGER', 'TEXT'])})`
      case 3:
        return `substr(${a()}, ${this.#pick(['1', '3', '-4', '0'])}, ${1 + this.#random.below(8)})`
      case 4:
        return `${this.#pick(['length', 'lower', 'upper', 'abs', 'round'])}(${a()})`
      case 5:
        return `coalesce(${a()}, ${a()})`
      case 6:
        return `CASE WHEN ${this.#condition()} THEN ${a()} ELSE ${a()} END`
      case 7:
        return `nullif(${a()}, ${a()})`
      case 8:
        return `(${a()} ${this.#pick(['=', '<', '>='])} ${a()})`
      case 9:
        return `strftime('%Y-%m-%d %H:%M:%S', ${this.#view.name === 'v_blocks' ? 'timestamp' : a()}, 'unixepoch')`
      case 10:
        return this.#pick(["date(timestamp, 'unixepoch')", "datetime(timestamp, 'unixepoch')"])
      case 11:
        return `${this.#pick(['ltrim', 'rtrim', 'trim'])}(${a()}, '0x')`
      case 12:
        return `(instr(${a()}, 'a') - 1)`
      case 13:
        return `replace(${a()}, '0', 'z')`
      default:
        return a()
    }
  }

  #literal(): string {
    return this.#pick(['0', '7', '1.5', "'0x'", "'12'", 'NULL', '1000000', '-3', "'a'", '0.1', 'TRUE'])
  }

  #column(): string {
    return this.#pick(this.#view.columns).name
  }
}
