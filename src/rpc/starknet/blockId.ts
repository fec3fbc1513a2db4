import { type Felt, parseFelt } from '../../chain/starknet/felt.js'
import type { L2Reader, StoredL2Block, StoredL2Pending } from '../../store/l2/l2Reader.js'
import { InvalidValue } from '../core/errors.js'
import { BEYOND_ALL, decodeMembers, invalidValue, isAbsent, required, type ValueType } from '../core/params.js'
import { BLOCK_NOT_FOUND, starknetError } from './errors.js'
import { FELT_SCHEMA, INTEGER_SCHEMA } from './schemas.js'

/** Tags of the API specification. */
const ZK_TAGS = ['latest', 'pending'] as const
/** Tags of the Starknet specification: `pre_confirmed` since 0.9, `pending` before. */
const STARKNET_TAGS = ['latest', 'pre_confirmed', 'l1_accepted', 'pending'] as const

/** A layer-2 block by its hash, its number or a tag. */
export type L2BlockId = { hash: Felt } | { number: number } | (typeof STARKNET_TAGS)[number]

/** The `block_id` of the API specification: a bare tag, or an object with exactly one of `block_hash`, `block_number`
 *  and `block_tag`. */
export const zkBlockId: ValueType<L2BlockId> = blockIdOf(ZK_TAGS, ['block_hash', 'block_number', 'block_tag'])

/** BLOCK_ID of the Starknet specification: a bare tag, or an object with either `block_hash` or `block_number`. */
export const starknetBlockId: ValueType<L2BlockId> = blockIdOf(STARKNET_TAGS, ['block_hash', 'block_number'])

/** SUBSCRIPTION_BLOCK_ID of the Starknet specification; also decodes the unconfirmed block, which has its own error. */
export const subscriptionBlockId = blockIdOf(['latest', 'pre_confirmed', 'pending'], ['block_hash', 'block_number'])

type Selector = 'block_hash' | 'block_number' | 'block_tag'

function blockIdOf(tags: readonly L2BlockId[], selectors: readonly Selector[]): ValueType<L2BlockId> {
  const schemas = { block_hash: FELT_SCHEMA, block_number: INTEGER_SCHEMA, block_tag: { type: 'string', enum: tags } }
  const objects = selectors.map((name) => ({
    type: 'object',
    properties: { [name]: schemas[name] },
    required: [name],
  }))
  const decodeTag = (value: unknown, path: string): L2BlockId => {
    const tag = tags.find((name) => name === value)
    if (tag === undefined) throw invalidValue(path, `one of ${tags.join(', ')}`, value)
    return tag
  }
  const decode = (value: unknown, path: string): L2BlockId => {
    if (typeof value === 'string') return decodeTag(value, path)
    const members = decodeMembers(value, path)
    const given = selectors.filter((name) => Object.hasOwn(members, name) && !isAbsent(members[name]))
    if (given.length !== 1) {
      const found = given.length === 0 ? 'none of them' : given.join(' and ')
      throw new InvalidValue(`${path}: expected exactly one of ${selectors.join(', ')}, got ${found}`)
    }
    const [name] = given
    const memberPath = `${path}.${name}`
    if (name === 'block_hash') return { hash: decodeFelt(members[name], memberPath) }
    return name === 'block_number'
      ? { number: decodeNumber(members[name], memberPath) }
      : decodeTag(members[name], memberPath)
  }
  return { schema: { title: 'BLOCK_ID', oneOf: [schemas.block_tag, ...objects] }, decode }
}

function decodeFelt(value: unknown, path: string): Felt {
  const felt = typeof value === 'string' ? parseFelt(value) : undefined
  if (felt === undefined) throw invalidValue(path, 'a felt of 1 to 64 hex digits after 0x, such as 0x1b4', value)
  return felt
}

function decodeNumber(value: unknown, path: string): number {
  if (!Number.isInteger(value) || (value as number) < 0) throw invalidValue(path, 'a JSON integer from 0 on', value)
  return Number.isSafeInteger(value) ? (value as number) : BEYOND_ALL
}

/** A hash or an address. */
export const feltParam: ValueType<Felt> = { schema: FELT_SCHEMA, decode: decodeFelt }

/** The `block_id` of most methods. */
export const blockIdParam = required(
  'block_id',
  starknetBlockId,
  'A tag, or an object with one of block_hash and block_number.',
)

/** The block of an id for methods of the specification, which lacks a status for rejected blocks. @throws RpcError */
export function requireL2Block(l2: L2Reader, id: L2BlockId): FoundL2Block {
  const found = findL2Block(l2, id)
  if (found === undefined) throw starknetError(BLOCK_NOT_FOUND, l2)
  if ('confirmed' in found && found.confirmed.status === 'REJECTED') throw starknetError(BLOCK_NOT_FOUND, l2)
  return found
}

/** A block by its id, confirmed or not. */
export type FoundL2Block = { readonly confirmed: StoredL2Block } | { readonly pending: StoredL2Pending }

/** The block of an id, confirmed or not; undefined if absent. */
export function findL2Block(l2: L2Reader, id: L2BlockId): FoundL2Block | undefined {
  if (id === 'pending' || id === 'pre_confirmed') {
    const pending = l2.pending()
    return pending && { pending }
  }
  const confirmed = findConfirmed(l2, id)
  return confirmed && { confirmed }
}

function findConfirmed(l2: L2Reader, id: Exclude<L2BlockId, 'pending' | 'pre_confirmed'>): StoredL2Block | undefined {
  if (id === 'l1_accepted') return l2.blockAcceptedOnL1()
  if (id === 'latest') {
    const head = l2.head()
    return head && l2.blockByHash(head.hash)
  }
  return 'hash' in id ? l2.blockByHash(id.hash) : l2.blockByNumber(id.number)
}
