import { type AbiParameter, type AbiType, formatType, parseType } from '../abiTypes.js'
import { InvalidAbi } from '../errors.js'

/** A signature without names of parameters: `transfer(address,uint256)`. */
export interface ParsedSignature {
  readonly name: string
  /** Without names. */
  readonly inputs: readonly AbiParameter[]
}

/** Longer signatures are refused; the longest of public dumps that compilers made have some hundred characters. */
export const MAX_SIGNATURE_CHARACTERS = 1024

const MAX_LEVELS = 16
const MAX_PARAMETERS = 256

/** Name and parameter list of a canonical signature: identifiers and types of ASCII characters, no spaces. */
const SHAPE = /^([A-Za-z_$][\w$]{0,255})\(([\w()[\],]*)\)$/

/** Parses a canonical signature, as it is hashed: `uint256` and not `uint`, tuples as `(…)`. Undefined for any other
 *  text, and for one beyond the limits: 1,024 characters, 256 parameters, 16 levels of arrays and tuples. Takes time
 *  linear in the length. */
export function parseSignatureText(text: string): ParsedSignature | undefined {
  if (text.length > MAX_SIGNATURE_CHARACTERS) return undefined
  const [, name, list] = SHAPE.exec(text) ?? []
  if (name === undefined) return undefined
  const parser = { text: `(${list})`, at: 0 }
  try {
    const components = parseTuple(parser, 0)
    const type: AbiType = { kind: 'tuple', components }
    const isCanonical = parser.at === parser.text.length && formatType(type) === parser.text
    return isCanonical ? { name, inputs: components } : undefined
  } catch (error) {
    if (error instanceof InvalidAbi) return undefined
    throw error
  }
}

interface Parser {
  readonly text: string
  at: number
}

/** Parses `(…)` at the current character. @throws InvalidAbi */
function parseTuple(parser: Parser, depth: number): AbiParameter[] {
  const { text } = parser
  const refuse = (expected: string) => new InvalidAbi({ field: 'signature', value: `character ${parser.at}`, expected })
  if (depth > MAX_LEVELS) throw refuse(`at most ${MAX_LEVELS} levels of tuples`)
  parser.at++
  const components: AbiParameter[] = []
  if (text[parser.at] === ')') {
    parser.at++
    return components
  }
  for (;;) {
    if (components.length === MAX_PARAMETERS) throw refuse(`at most ${MAX_PARAMETERS} parameters`)
    const members = text[parser.at] === '(' ? parseTuple(parser, depth + 1) : undefined
    const word = text.slice(parser.at, endOfWord(text, parser.at))
    parser.at += word.length
    components.push({ name: '', type: parseType(members === undefined ? word : `tuple${word}`, members) })
    const next = text[parser.at++]
    if (next === ')') return components
    if (next !== ',') throw refuse('a comma or a closing parenthesis')
  }
}

function endOfWord(text: string, from: number): number {
  let end = from
  while (end < text.length && text[end] !== ',' && text[end] !== ')' && text[end] !== '(') end++
  return end
}
