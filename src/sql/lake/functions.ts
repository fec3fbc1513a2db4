import { callNode, castNode, type Node, replaceNode, textNode } from './ast.js'
import { arithmetic, isInteger, isNumeric, isText, NotForDuckDb, nameOf, type ValueKind } from './kinds.js'

/* Functions that have the same results in both engines, with the kinds of their arguments. All others are refused where
 * SQLite accepts the statement too. */

type Rule = (kinds: readonly ValueKind[], node: Node) => ValueKind | undefined

const same: Rule = ([kind, ...rest]) => (rest.length === 0 && kind !== 'bool' ? kind : undefined)
const textOf =
  (least: number, most = least): Rule =>
  (kinds) =>
    kinds.length >= least && kinds.length <= most && kinds.every(isText) ? 'text' : undefined
const counting: Rule = () => 'int'

const AGGREGATES: { readonly [name: string]: Rule } = {
  count_star: counting,
  count: ([, surplus]) => (surplus === undefined ? 'int' : undefined),
  sum: ([kind, surplus]) => {
    if (surplus !== undefined) return undefined
    if (kind === 'int' || kind === 'bool') return 'wide'
    return kind === 'real' || kind === 'mixed' ? kind : undefined
  },
  avg: ([kind, surplus]) => (surplus === undefined && isNumeric(kind) && kind !== 'null' ? 'real' : undefined),
  min: same,
  max: same,
}

const SCALARS: { readonly [name: string]: Rule } = {
  abs: ([kind, surplus]) => (surplus === undefined && isNumeric(kind) ? kind : undefined),
  length: ([kind, surplus]) => (surplus === undefined && isText(kind) ? 'int' : undefined),
  lower: textOf(1),
  upper: textOf(1),
  trim: textOf(1, 2),
  ltrim: textOf(1, 2),
  rtrim: textOf(1, 2),
  replace: textOf(3),
  instr: (kinds) => (kinds.length === 2 && kinds.every(isText) ? 'int' : undefined),
  substr: ([kind, ...places]) => (places.length > 0 && isText(kind) && places.every(isInteger) ? 'text' : undefined),
  nullif: ([a, b]) => (isNumeric(a) === isNumeric(b) && a !== 'bool' && b !== 'bool' ? a : undefined),
  round: roundRule,
  like_escape: likeRule('ilike_escape'),
  not_like_escape: likeRule('not_ilike_escape'),
  strftime: timeRule(undefined),
  cairn_date: timeRule('%Y-%m-%d'),
  date: timeRule('%Y-%m-%d'),
  datetime: timeRule('%Y-%m-%d %H:%M:%S'),
}

const WINDOWS: { readonly [name: string]: Rule } = {
  ...AGGREGATES,
  row_number: counting,
  rank: counting,
  dense_rank: counting,
  ntile: counting,
  first_value: same,
  last_value: same,
  lag: ([kind, offset, otherwise]) => (isInteger(offset ?? 'int') && otherwise === undefined ? kind : undefined),
  lead: ([kind, offset, otherwise]) => (isInteger(offset ?? 'int') && otherwise === undefined ? kind : undefined),
}

/** Returns true for the name of an aggregate function. */
export function isAggregateName(name: string): boolean {
  return Object.hasOwn(AGGREGATES, name.toLowerCase())
}

/** Returns the kind of a call with arguments of these kinds, and changes the call where DuckDB names it otherwise.
 *  @throws NotForDuckDb */
export function callKind(node: Node, kinds: readonly ValueKind[]): ValueKind {
  const name = String(node.function_name).toLowerCase()
  if (node.is_operator) return operatorKind(node, name, kinds)
  if (node.schema !== '' && node.schema !== 'main') throw new NotForDuckDb(`${node.schema}.${name} is not known`)
  const known = node.class === 'WINDOW' ? WINDOWS : { ...AGGREGATES, ...SCALARS }
  const rule =
    Object.hasOwn(known, name === 'substring' ? 'substr' : name) && known[name === 'substring' ? 'substr' : name]
  if (!rule) throw new NotForDuckDb(`${name}() is not one of the functions that are the same in both engines`)
  const kind = rule(kinds, node)
  if (kind === undefined) throw new NotForDuckDb(`${name}() of ${kinds.map(nameOf).join(', ')} may differ`)
  return kind
}

function operatorKind(node: Node, name: string, kinds: readonly ValueKind[]): ValueKind {
  const [a, b] = kinds
  if (name === '||') {
    const odd = kinds.find((kind) => !isText(kind) && !isInteger(kind))
    if (odd !== undefined) throw new NotForDuckDb(`|| formats ${nameOf(odd)}, which may differ`)
    return 'text'
  }
  if (name === '~~' || name === '!~~') {
    if (!isText(a) || !isText(b)) throw new NotForDuckDb(`LIKE has an operand that is ${nameOf(isText(a) ? b : a)}`)
    node.function_name = `${name}*` // SQLite's LIKE ignores case
    return 'bool'
  }
  if (['+', '-', '*', '/', '%'].includes(name))
    return b === undefined ? arithmetic(name, 'int', a) : arithmetic(name, a, b)
  throw new NotForDuckDb(`the operator ${name} may differ`)
}

function likeRule(name: string): Rule {
  return (kinds, node) => {
    if (!kinds.every(isText)) return undefined
    Object.assign(node, { function_name: name, schema: '' })
    return 'bool'
  }
}

/** SQLite's result is a real, and of its digits only a constant number is the same. */
function roundRule([kind, digits]: readonly ValueKind[], node: Node): ValueKind | undefined {
  const [value, places] = node.children as Node[]
  if (!isNumeric(kind) || kind === 'null') return undefined
  if (digits !== undefined && !(places.class === 'CONSTANT' && Number(places.value.value) >= 0)) return undefined
  node.children = [castNode({ ...value }, 'DOUBLE'), ...(places === undefined ? [] : [places])]
  return 'real'
}

/** Codes that mean the same in both engines. */
const TIME_FORMAT = /^(?:[^%]|%[YmdHMSj])*$/

/** Accepts Unix seconds with 'unixepoch' and a constant format. */
function timeRule(format: string | undefined): Rule {
  return (kinds, node) => {
    if (kinds[format === undefined ? 1 : 0] !== 'int') return undefined
    const children = node.children as Node[]
    const [seconds, modifier, surplus] = format === undefined ? children.slice(1) : children
    const wanted = format === undefined ? textOfConstant(children[0]) : format
    if (surplus !== undefined || wanted === undefined || !TIME_FORMAT.test(wanted)) return undefined
    if (modifier === undefined || textOfConstant(modifier) !== 'unixepoch') return undefined
    const name = wanted === '%Y-%m-%d' ? 'cairn_day' : 'cairn_time'
    replaceNode(node, callNode(name, name === 'cairn_day' ? [seconds] : [seconds, textNode(wanted)]))
    return 'text'
  }
}

function textOfConstant({ class: kind, value }: Node): string | undefined {
  return kind === 'CONSTANT' && value.type.id === 'VARCHAR' ? String(value.value) : undefined
}
