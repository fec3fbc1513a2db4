import type { Database } from '../database.js'

/* Exact arithmetic for amounts, which SQLite's numbers have no room for. */

type Amount = string | number | bigint | Uint8Array | null

/** Adds `u256_add(a, b)`, `u256_sub(a, b)`, `u256_compare(a, b)` (-1, 0 or 1) and the aggregate `u256_sum(a)` to a
 *  connection. An operand is decimal text, hex text (`0x…`), bytes or an integer; results are decimal text of any size,
 *  and NULL where an operand is NULL. `u256_sum` skips NULL, is NULL without a value, and works as a window function.
 *  A value that is no integer is an error of the query. */
export function addAmountFunctions(db: Database): void {
  const options = { deterministic: true, safeIntegers: true }
  const binary = (name: string, operate: (a: bigint, b: bigint) => string | bigint) =>
    db.function(name, options, (a: Amount, b: Amount) => {
      const [left, right] = [toInteger(name, a), toInteger(name, b)]
      return left === null || right === null ? null : operate(left, right)
    })
  binary('u256_add', (a, b) => (a + b).toString())
  binary('u256_sub', (a, b) => (a - b).toString())
  binary('u256_compare', (a, b) => (a < b ? -1n : a > b ? 1n : 0n))
  const change = (sum: Sum, value: Amount, sign: bigint): Sum => {
    const integer = toInteger('u256_sum', value)
    return integer === null ? sum : { total: sum.total + sign * integer, count: sum.count + Number(sign) }
  }
  db.aggregate<Sum>('u256_sum', {
    ...options,
    start: { total: 0n, count: 0 },
    step: (sum: Sum, value: unknown) => change(sum, value as Amount, 1n),
    inverse: (sum: Sum, value: unknown) => change(sum, value as Amount, -1n),
    result: ({ total, count }) => (count === 0 ? null : total.toString()),
  })
}

interface Sum {
  readonly total: bigint
  /** Values that are not NULL. */
  readonly count: number
}

// BigInt takes time that grows with the square of the digits.
const MAX_DIGITS = 200
const INTEGER = /^(?:-?\d+|0x[0-9a-f]*)$/i

function toInteger(name: string, value: Amount): bigint | null {
  if (value === null || typeof value === 'bigint') return value
  const text = value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : String(value)
  if (text.length > MAX_DIGITS) {
    throw new Error(`${name}: expected an integer of at most ${MAX_DIGITS} characters, got ${text.length}`)
  }
  if (!INTEGER.test(text)) throw new Error(`${name}: expected an integer, got ${text}`)
  return text === '0x' ? 0n : BigInt(text)
}
