import { type AbiItem, hashSignature } from '../../decoding/abiItems.js'
import { formatData } from '../../lib/hex.js'
import { defineMethod, type JsonSchema } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import { address, integerBetween, optional, required, text } from '../core/params.js'
import { orNull } from '../eth/schemas.js'

const MAX_RESULTS = 1000
const DEFAULT_RESULTS = 50

const TEXT: JsonSchema = { type: 'string' }

const PROPERTIES: { readonly [name: string]: JsonSchema } = {
  type: { enum: ['function', 'event', 'error'] },
  name: TEXT,
  signature: TEXT,
  hash: { ...TEXT, description: 'Selector of a function or error, 4 bytes; topic 0 of an event, 32 bytes.' },
  abi: { ...TEXT, description: 'Name of the ABI.' },
  address: { ...orNull(address.schema), description: 'The contract that the ABI is bound to; null for any contract.' },
}

export const findSignatures = defineMethod({
  name: 'cairn_findSignatures',
  summary: 'Functions, events and errors of the known ABIs by name, signature, selector or topic.',
  description:
    'A Cairn extension. The text is the beginning of a name or signature, in any case, or of a selector or topic with at least 8 hex ' +
    'digits behind `0x`. Those of added ABIs come first, then built-in ones; exact names come before longer ones.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [
    required('text', text, 'beginning of a name, signature, selector or topic'),
    optional('limit', integerBetween(1, MAX_RESULTS), 'results at most', DEFAULT_RESULTS),
  ],
  result: {
    name: 'signatures',
    schema: {
      type: 'array',
      items: objectSchema('KnownSignature', PROPERTIES),
    },
  },
  errors: [],
  handler: ({ decoder }, wanted, limit) => {
    const matches = matcherOf(wanted)
    const found = decoder().abis.flatMap(({ name: abi, address: bound, items }) =>
      items.flatMap((item) => {
        const isExact = matches(item)
        if (isExact === undefined) return []
        const { type, name, signature } = item
        const contract = bound === undefined ? null : formatData(bound)
        return [{ isExact, entry: { type, name, signature, hash: hashOf(item), abi, address: contract } }]
      }),
    )
    const ordered = [...found.filter(({ isExact }) => isExact), ...found.filter(({ isExact }) => !isExact)]
    return ordered.slice(0, limit).map(({ entry }) => entry)
  },
})

/** Returns a function that is true for an exact match, false for a beginning, and undefined for no match. */
function matcherOf(wanted: string): (item: AbiItem) => boolean | undefined {
  const trimmed = wanted.trim().toLowerCase()
  if (/^0x[\da-f]{8,64}$/.test(trimmed)) return (item) => (hashOf(item).startsWith(trimmed) ? true : undefined)
  if (trimmed === '') return () => undefined
  return ({ name, signature }) => {
    const lower = signature.toLowerCase()
    if (lower === trimmed || name.toLowerCase() === trimmed) return true
    return lower.startsWith(trimmed) ? false : undefined
  }
}

function hashOf({ type, signature }: AbiItem): string {
  const hash = hashSignature(signature)
  return formatData(type === 'event' ? hash : hash.subarray(0, 4))
}
