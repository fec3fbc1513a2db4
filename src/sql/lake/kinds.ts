import { CairnError } from '../../lib/errors.js'

/** A statement that DuckDB would not answer as SQLite does, or not at all. */
export class NotForDuckDb extends CairnError {}

/** ValueKind of the values of an expression. `wide`: integers of up to 128 bits, the sums of integers. `mixed`:
 *  integers and reals, as from CASE. `decimal`: text of digits. `null`: only NULL. */
export type ValueKind = 'int' | 'wide' | 'real' | 'mixed' | 'bool' | 'text' | 'decimal' | 'null'

/** Returns true for what can be calculated with. */
export function isNumeric(kind: ValueKind): boolean {
  return kind === 'int' || kind === 'wide' || kind === 'real' || kind === 'mixed' || kind === 'null'
}

/** Returns true for integers. */
export function isInteger(kind: ValueKind): boolean {
  return kind === 'int' || kind === 'wide' || kind === 'null'
}

/** Returns true for text. */
export function isText(kind: ValueKind): boolean {
  return kind === 'text' || kind === 'decimal' || kind === 'null'
}

/** Requires kinds whose comparison is the same in both engines: SQLite compares text and numbers by their types, DuckDB
 *  converts. @throws NotForDuckDb */
export function requireComparable(kinds: readonly ValueKind[], where: string): void {
  const isSame = [isNumeric, isText, (kind: ValueKind) => kind === 'bool' || kind === 'null'].some((is) =>
    kinds.every(is),
  )
  if (!isSame) throw new NotForDuckDb(`${where} mixes ${[...new Set(kinds)].map(nameOf).join(' and ')}`)
}

/** Returns the kind of values of any of the kinds. @throws NotForDuckDb for text beside numbers */
export function unify(kinds: readonly ValueKind[], where: string): ValueKind {
  requireComparable(kinds, where)
  const set = new Set(kinds)
  if (set.size > 1) set.delete('null')
  if (set.size === 1) return [...set][0]
  if (set.has('text')) return 'text'
  if (set.has('real') || set.has('mixed')) return 'mixed'
  return 'wide' // int and wide
}

/** Returns the kind of `a OPERATOR b`. @throws NotForDuckDb where the engines differ */
export function arithmetic(operator: string, a: ValueKind, b: ValueKind): ValueKind {
  if (!isNumeric(a) || !isNumeric(b))
    throw new NotForDuckDb(`${operator} has an operand that is ${nameOf(isNumeric(a) ? b : a)}`)
  if (a === 'null' || b === 'null') throw new NotForDuckDb(`${operator} has the operand NULL`)
  if (operator === '%' && !(isInteger(a) && isInteger(b))) throw new NotForDuckDb('% has a real operand')
  if (a === 'real' || b === 'real') return 'real'
  if (a === 'mixed' || b === 'mixed') {
    if (operator === '/') throw new NotForDuckDb('/ has an operand of integers and reals; CAST it')
    return 'mixed'
  }
  // SQLite makes a real of a product beyond 64 bits.
  if (operator === '*' && a === 'wide' && b === 'wide')
    throw new NotForDuckDb('a product of sums may exceed 64 bits; CAST one AS REAL')
  return a === 'wide' || b === 'wide' ? 'wide' : 'int'
}

/** Returns how messages name a kind. */
export function nameOf(kind: ValueKind): string {
  return NAMES[kind]
}

const NAMES: { readonly [K in ValueKind]: string } = {
  int: 'integers',
  wide: 'integers',
  real: 'reals',
  mixed: 'numbers',
  bool: 'truth values',
  text: 'text',
  decimal: 'text',
  null: 'NULL',
}
