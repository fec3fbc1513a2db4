import { StateUnavailable } from '../../evm/errors.js'
import { equalBytes } from '../../lib/bytes.js'
import { hasStateAfter } from '../../store/rows/coverage.js'
import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import type { ResolvedBlocks } from './context.js'
import { beyondHead, RpcError, SERVER_ERROR } from './errors.js'
import type { BlockId } from './params.js'

/** Error of `eth_call` and state methods for an unknown block. */
export const HEADER_NOT_FOUND = { code: SERVER_ERROR, message: 'header not found' } as const
/** Error of the same methods if the state of a block is not stored. */
export const STATE_UNAVAILABLE = { code: SERVER_ERROR, message: 'historical state N is not available' } as const

/** Error of methods that read a block by number: the block is below the first block of the database, or not yet fetched
 *  from the upstream. */
export const BLOCK_UNAVAILABLE = { code: SERVER_ERROR, message: 'block N is not available, blocks A to B are' } as const
/** Error of look-ups by an unknown hash while blocks of the upstream are still to be fetched. */
export const HASH_UNAVAILABLE = {
  code: SERVER_ERROR,
  message: 'not found in blocks A to B; blocks up to C are still to be fetched',
} as const

/** True for the message of a block whose state is not stored. */
export function isStateUnavailable(message: string): boolean {
  return /^historical state \d+ is not available$/.test(message)
}

/** Resolves a block to its number: `earliest` is 0 even if block 0 is not available; `latest` and `pending` are the
 *  head. Undefined if no block is stored, for an unknown hash, and for `safe` and `finalized` while no block has the
 *  status. Numeric ids are returned unchecked. */
export function resolveNumber(chain: ChainReader, id: BlockId): number | undefined {
  if (typeof id === 'number') return id
  if (id === 'earliest') return 0
  if (id === 'latest' || id === 'pending') return chain.head()
  if (typeof id !== 'string') return chain.blockNumberByHash(id.hash)
  const number = chain.finality()?.[id]
  return number === -1 ? undefined : number
}

/** Returns the hash of a block by number; within a snapshot, the head's hash costs no read. */
export function canonicalHash(chain: ChainReader, blockNumber: number): Uint8Array | undefined {
  return blockNumber === chain.head() ? chain.headHash() : chain.blockHash(blockNumber)
}

/** True while the last block of a resolved range is canonical, and with it all blocks below. */
export function isCanonical(chain: ChainReader, { toBlock, hash }: ResolvedBlocks): boolean {
  const now = canonicalHash(chain, toBlock)
  return now !== undefined && equalBytes(now, hash)
}

/** The block; undefined if it does not exist yet or its hash is unknown. `pending` is the head.
 *  @throws RpcError `block N is not available` for a number that the chain has but the database does not, and
 *    `not found in blocks A to B` for an unknown hash while blocks are still to be fetched: null would say that there
 *    is no such block */
export function findBlock(chain: ChainReader, id: BlockId): StoredBlock | undefined {
  const number = resolveNumber(chain, id)
  const block = number === undefined ? undefined : chain.blockByNumber(number)
  if (block !== undefined) return block
  if (number !== undefined) requireAvailable(chain, number)
  else if (typeof id === 'object') requireHashAvailable(chain, id.hash)
  return undefined
}

function requireAvailable(chain: ChainReader, number: number): void {
  const coverage = chain.coverage()
  if (!coverage) return
  const { first, head } = coverage
  if (number >= first && number > (chain.gap()?.to ?? head)) return
  throw new RpcError(SERVER_ERROR, `block ${number} is not available, blocks ${first} to ${head} are`)
}

/** For a block that is not available: the parent of the first block is known to exist; about any other nothing is
 *  known. */
function requireHashAvailable(chain: ChainReader, hash: Uint8Array): void {
  const coverage = chain.coverage()
  const first = coverage && coverage.first > 0 ? chain.blockByNumber(coverage.first) : undefined
  if (first && equalBytes(first.header.parentHash, hash)) requireAvailable(chain, coverage!.first - 1)
  requireNoGap(chain)
}

/** Call this before returning null from a look-up by hash. @throws RpcError while blocks of the upstream are still to
 *  be fetched: one of them may contain it */
export function requireNoGap(chain: ChainReader): void {
  const gap = chain.gap()
  if (!gap) return
  const { first, head } = chain.coverage()!
  const message = `not found in blocks ${first} to ${head}; blocks up to ${gap.to} are still to be fetched`
  throw new RpcError(HASH_UNAVAILABLE.code, message)
}

/** The number of a block whose state is stored. @throws RpcError `header not found` for an unknown hash or a block
 *  beyond the head, with the head in its data @throws StateUnavailable for a block up to the head without its state */
export function requireStateBlock(chain: ChainReader, id: BlockId): number {
  const coverage = chain.coverage()
  const isHead = id === 'latest' || id === 'pending'
  const number = isHead ? coverage?.head : resolveNumber(chain, id) // one read for both, on the path of every call
  if (number === undefined || !coverage) throw new RpcError(HEADER_NOT_FOUND.code, HEADER_NOT_FOUND.message)
  if (number > coverage.head) throw beyondHead(HEADER_NOT_FOUND.code, HEADER_NOT_FOUND.message, coverage.head)
  if (!hasStateAfter(coverage, number)) throw new StateUnavailable(number)
  return number
}
