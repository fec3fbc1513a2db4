import { formatData } from '../../lib/hex.js'
import type { StoredBlock } from '../../store/rows/types.js'
import {
  BLOCK_UNAVAILABLE,
  findBlock,
  HASH_UNAVAILABLE,
  requireStateBlock,
  STATE_UNAVAILABLE,
} from '../core/blockId.js'
import type { RpcContext } from '../core/context.js'
import { LIMIT_EXCEEDED, RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod, type ErrorDoc } from '../core/method.js'
import { address, type BlockId, hash32, indexOrDecimal, optional, required } from '../core/params.js'

/** Maximum changes of accounts and slots to compare, each kept in memory meanwhile: about 200 MB. */
const MAX_CHANGES = 500_000

const TOO_MANY = {
  code: LIMIT_EXCEEDED,
  message: `the blocks changed accounts and slots more than ${MAX_CHANGES} times; ask for fewer blocks`,
} as const
const ORDER = {
  code: SERVER_ERROR,
  message: 'start block height (N) must be less than end block height (N)',
} as const
const ERRORS: readonly ErrorDoc[] = [
  { code: SERVER_ERROR, message: 'start block … not found' },
  { code: SERVER_ERROR, message: 'end block … not found' },
  { code: SERVER_ERROR, message: 'block … has no parent' },
  ORDER,
  { ...TOO_MANY, when: 'the blocks changed more' },
  BLOCK_UNAVAILABLE,
  STATE_UNAVAILABLE,
]

const result = { name: 'addresses', schema: { type: 'array', items: address.schema } }
const description =
  'Those whose nonce, balance, code or storage after the end block differs from that after the start block, and that exist then, ordered ' +
  'by the hashes of their addresses. Without an end, those that the start block modified.'

export const getModifiedAccountsByNumber = defineMethod({
  name: 'debug_getModifiedAccountsByNumber',
  summary: 'Accounts that differ between the states after two blocks.',
  description,
  cost: 'evm',
  classes: ['state'],
  params: [
    required('start', indexOrDecimal, 'block number, a JSON number as in geth or a quantity'),
    optional('end', indexOrDecimal, 'block number above the start'),
  ],
  result,
  errors: ERRORS,
  handler: (context, start, end) => {
    const first = requireBlock(context, start, `start block ${start.toString(16)}`)
    return modifiedAccounts(
      context,
      first,
      end === undefined ? undefined : requireBlock(context, end, `end block ${end}`),
    )
  },
})

export const getModifiedAccountsByHash = defineMethod({
  name: 'debug_getModifiedAccountsByHash',
  summary: 'Accounts that differ between the states after two blocks, by their hashes.',
  description,
  cost: 'evm',
  classes: ['state'],
  params: [required('startHash', hash32, 'block hash'), optional('endHash', hash32, 'hash of a later block')],
  result,
  errors: [...ERRORS, HASH_UNAVAILABLE],
  handler: (context, start, end) => {
    const find = (hash: Uint8Array, name: string) =>
      requireBlock(context, { hash, requireCanonical: true }, `${name} block ${formatData(hash).slice(2)}`)
    return modifiedAccounts(context, find(start, 'start'), end && find(end, 'end'))
  },
})

function requireBlock({ chain }: RpcContext, id: BlockId, name: string): StoredBlock {
  const block = findBlock(chain, id)
  if (block === undefined) throw new RpcError(SERVER_ERROR, `${name} not found`)
  return block
}

function modifiedAccounts({ chain, ranges, deadline }: RpcContext, start: StoredBlock, end?: StoredBlock): string[] {
  const to = (end ?? start).header.number
  const from = end === undefined ? to - 1 : start.header.number
  if (from < 0) throw new RpcError(SERVER_ERROR, `block ${to} has no parent`)
  if (from >= to) {
    throw new RpcError(ORDER.code, `start block height (${from}) must be less than end block height (${to})`)
  }
  requireStateBlock(chain, from)
  let changes = 0
  const addresses = ranges.modified({ from, to }, () => {
    if (++changes > MAX_CHANGES) throw new RpcError(TOO_MANY.code, TOO_MANY.message)
    deadline.check()
  })
  return addresses.map(formatData)
}
