import { equalBytes, padLeft } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { StoredBlock } from '../../store/rows/types.js'
import type { RangeSlotChanges } from '../../store/state/hashedRanges.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE, requireStateBlock } from '../core/blockId.js'
import type { RpcContext } from '../core/context.js'
import { RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { address, BEYOND_ALL, blockId, data, hash32, indexOrDecimal, integerBetween, required } from '../core/params.js'
import { orNull } from '../eth/schemas.js'
import { TRACE_ERRORS } from './traceErrors.js'

const BLOCK_ERROR = { code: SERVER_ERROR, message: 'block not found' } as const
const INDEX_ERROR = { code: SERVER_ERROR, message: 'transaction index N out of range for block …' } as const
const NO_TRANSACTION = { code: SERVER_ERROR, message: 'no transaction in genesis' } as const

/** Slots of a page: 1.5 MB of JSON. */
const MAX_SLOTS = 10_000

const entrySchema = { type: 'object', properties: { key: hash32.schema, value: hash32.schema } }

export const storageRangeAt = defineMethod({
  name: 'debug_storageRangeAt',
  summary: 'Storage slots of a contract before a transaction of a block, ordered by the hashes of their keys.',
  description:
    'By hash: the slot as `key`, and its value. `nextKey` is the hash of the next slot, null at the end. The transactions of the block before ' +
    'the index are executed again; geth has the storage before the block whatever the index, and none of a contract that was deleted since. Every slot of the contract is hashed for each page, up to ' +
    '`--trace-timeout`.',
  cost: 'evm',
  classes: ['traces', 'state'],
  isTrace: true,
  params: [
    required('block', blockId, 'block number, tag, hash, or EIP-1898 object'),
    required('transactionIndex', indexOrDecimal, 'index of the transaction'),
    required('address', address, 'the contract'),
    required('startKey', data, 'the lowest hash of a slot; shorter data has trailing zeros'),
    required('limit', integerBetween(0, Number.MAX_SAFE_INTEGER), `most slots; ${MAX_SLOTS} for more`),
  ],
  result: {
    name: 'storage',
    schema: {
      type: 'object',
      properties: {
        storage: orNull({ type: 'object', additionalProperties: entrySchema }),
        nextKey: orNull(hash32.schema),
      },
      required: ['storage', 'nextKey'],
    },
  },
  errors: [BLOCK_ERROR, INDEX_ERROR, NO_TRANSACTION, BLOCK_UNAVAILABLE, HASH_UNAVAILABLE, ...TRACE_ERRORS],
  handler: async (context, id, index, contract, startKey, limit) => {
    const block = findBlock(context.chain, id)
    if (block === undefined) throw new RpcError(BLOCK_ERROR.code, BLOCK_ERROR.message)
    const parent = requireParent(context, block)
    const changes = await changesBefore(context, { block, index, contract })
    const start = new Uint8Array(32)
    start.set(startKey.subarray(0, 32))
    const range = { start, limit: Math.max(1, Math.min(limit, MAX_SLOTS)), check: () => context.deadline.check() }
    const page = context.ranges.slots(contract, parent, range, changes)
    if (page.entries.length === 0) {
      const first = context.ranges.slots(contract, parent, { ...range, start: new Uint8Array(32), limit: 1 }, changes)
      return { storage: first.entries.length === 0 ? null : {}, nextKey: null } // geth
    }
    if (limit === 0) return { storage: {}, nextKey: formatData(page.entries[0].hash) }
    const entries = page.entries.map(({ hash, slot, value }) => [
      formatData(hash),
      { key: formatData(slot), value: formatData(padLeft(value, 32)) },
    ])
    return { storage: Object.fromEntries(entries), nextKey: page.next === undefined ? null : formatData(page.next) }
  },
})

/** The number of the parent, whose state is stored. */
function requireParent({ chain }: RpcContext, { header }: StoredBlock): number {
  if (header.number === 0) throw new RpcError(NO_TRANSACTION.code, NO_TRANSACTION.message)
  return requireStateBlock(chain, header.number - 1)
}

/** The block's changes to the contract's storage before transaction `index`. */
async function changesBefore(
  context: RpcContext,
  { block, index, contract }: { block: StoredBlock; index: number; contract: Uint8Array },
): Promise<RangeSlotChanges | undefined> {
  // geth: in a block without transactions, index 0 is the parent's state.
  if (index === 0 && block.txCount === 0) return undefined
  if (index >= block.txCount) {
    const name = index === BEYOND_ALL ? '2^53 or above' : index
    const message = `transaction index ${name} out of range for block ${formatData(block.hash)}`
    throw new RpcError(INDEX_ERROR.code, message)
  }
  const traces = await context.loadTraces()
  const { deadline, limits } = context
  let changes: RangeSlotChanges | undefined
  traces.replay(block, { first: index, last: index, deadline, memoryBytes: limits.callMemoryBytes }, ({ journal }) => {
    const touched = journal.takeTouched().find((each) => equalBytes(each.address, contract))
    if (touched !== undefined) changes = { cleared: touched.cleared || touched.account === null, slots: touched.slots }
  })
  return changes
}
