import { StateUnavailable } from '../../evm/errors.js'
import { equalBytes } from '../../lib/bytes.js'
import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import type { ResolvedBlocks } from './context.js'
import { beyondHead, RpcError, SERVER_ERROR } from './errors.js'
import type { BlockId } from './params.js'

/** Error of `eth_call` and state methods for an unknown block. */
export const HEADER_NOT_FOUND = { code: SERVER_ERROR, message: 'header not found' } as const
/** Error of the same methods if the state of a block is not stored. */
export const STATE_UNAVAILABLE = { code: SERVER_ERROR, message: 'historical state N is not available' } as const

/** Error of methods that read a block by number, for one below the first block of the database, or one of the upstream that
 *  is still to be fetched. */
export const BLOCK_UNAVAILABLE = { code: SERVER_ERROR, message: 'block N is not available, blocks A to B are' } as const
/** Error of look-ups by a hash that is not known, while blocks of the upstream are still to be fetched. */
export const HASH_UNAVAILABLE = {
  code: SERVER_ERROR,
  message: 'not found in blocks A to B; blocks up to C are still to be fetched',
} as const

/** True for the message of a block whose state is not stored. */
export function isStateUnavailable(message: string): boolean {
  return /^historical state \d+ is not available$/.test(message)
}

/** The number that stands for a block: `earliest` is 0 even where block 0 is not available; `latest` and `pending` are the head.
 *  Undefined when nothing is held, for a hash that is not known, and for `safe` and `finalized` as long as no block is. A
 *  number need not be held. */
export function resolveNumber(chain: ChainReader, id: BlockId): number | undefined {
  if (typeof id === 'number') return id
  if (id === 'earliest') return 0
  if (id === 'latest' || id === 'pending') return chain.head()
  if (typeof id !== 'string') return chain.blockNumberByHash(id.hash)
  const number = chain.finality()?.[id]
  return number === -1 ? undefined : number
}

/** The hash of a block by number; that of the head takes no read in a snapshot. */
export function canonicalHash(chain: ChainReader, blockNumber: number): Uint8Array | undefined {
  return blockNumber === chain.head() ? chain.headHash() : chain.blockHash(blockNumber)
}

/** True while the last block of a resolved range is canonical, and with it all blocks below. */
export function isCanonical(chain: ChainReader, { toBlock, hash }: ResolvedBlocks): boolean {
  const now = canonicalHash(chain, toBlock)
  return now !== undefined && equalBytes(now, hash)
}

/** The block; undefined if it does not exist yet or its hash is unknown. `pending` is the head.
 *  @throws RpcError `block N is not available` for a number that the chain has but the database does not, and `not found in blocks
 *    A to B` for an unknown hash while blocks are still to be fetched: null would say that there is no such block */
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

/** For a block that is not available: the parent of the first one is known to exist, about any other nothing is known. */
function requireHashAvailable(chain: ChainReader, hash: Uint8Array): void {
  const coverage = chain.coverage()
  const first = coverage && coverage.first > 0 ? chain.blockByNumber(coverage.first) : undefined
  if (first && equalBytes(first.header.parentHash, hash)) requireAvailable(chain, coverage!.first - 1)
  requireNoGap(chain)
}

/** Call it before an answer of null to a look-up by hash. @throws RpcError while blocks of the upstream are still to be
 *  fetched: what is asked for may be in one of them */
export function requireNoGap(chain: ChainReader): void {
  const gap = chain.gap()
  if (!gap) return
  const { first, head } = chain.coverage()!
  const message = `not found in blocks ${first} to ${head}; blocks up to ${gap.to} are still to be fetched`
  throw new RpcError(HASH_UNAVAILABLE.code, message)
}

/** The number of a block whose state is stored. @throws RpcError `header not found` for a block beyond the head, with the
 *  head in its data, or an unknown hash @throws StateUnavailable for a block up to the head without its state. */
export function requireStateBlock(chain: ChainReader, id: BlockId): number {
  const coverage = chain.coverage()
  const isHead = id === 'latest' || id === 'pending'
  const number = isHead ? coverage?.head : resolveNumber(chain, id) // one read for both, on the path of every call
  if (number === undefined || !coverage) throw new RpcError(HEADER_NOT_FOUND.code, HEADER_NOT_FOUND.message)
  if (number > coverage.head) throw beyondHead(HEADER_NOT_FOUND.code, HEADER_NOT_FOUND.message, coverage.head)
  if (coverage.stateFirst === undefined || number < coverage.stateFirst) throw new StateUnavailable(number)
  return number
}
